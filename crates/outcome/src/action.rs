//! What a step does: the first words of a step in plans and outcomes.
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a step does to its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Something new is made.
    Create,
    /// Something gets other contents or another state.
    Change,
    /// Something is deleted.
    Delete,
    /// Something that was there before is put back.
    Restore,
    /// A kernel module is loaded.
    Load,
    /// A store of CA certificates is read again.
    Refresh,
    /// A program is installed.
    Install,
    /// Container images are imported.
    Import,
    /// Something is run for its effect.
    Run,
    /// A change that did not finish is undone.
    #[serde(rename = "roll back")]
    RollBack,
    /// Something that is done is recorded.
    Note,
    /// A service is waited for.
    Wait,
    /// A service is restarted.
    Restart,
    /// A unit is enabled.
    Enable,
    /// A unit is disabled.
    Disable,
    /// A unit is masked.
    Mask,
    /// A unit is unmasked.
    Unmask,
    /// A unit is started.
    Start,
    /// A unit is stopped.
    Stop,
}

impl Action {
    /// Every one.
    const ALL: [Self; 19] = [
        Self::Create,
        Self::Change,
        Self::Delete,
        Self::Restore,
        Self::Load,
        Self::Refresh,
        Self::Install,
        Self::Import,
        Self::Run,
        Self::RollBack,
        Self::Note,
        Self::Wait,
        Self::Restart,
        Self::Enable,
        Self::Disable,
        Self::Mask,
        Self::Unmask,
        Self::Start,
        Self::Stop,
    ];

    /// Its words in plans and outcomes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Change => "change",
            Self::Delete => "delete",
            Self::Restore => "restore",
            Self::Load => "load",
            Self::Refresh => "refresh",
            Self::Install => "install",
            Self::Import => "import",
            Self::Run => "run",
            Self::RollBack => "roll back",
            Self::Note => "note",
            Self::Wait => "wait",
            Self::Restart => "restart",
            Self::Enable => "enable",
            Self::Disable => "disable",
            Self::Mask => "mask",
            Self::Unmask => "unmask",
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }

    /// The action of a step, and its target; `None` for a step of a newer version.
    pub(crate) fn split(step: &str) -> Option<(Self, &str)> {
        Self::ALL.into_iter().find_map(|action| Some((action, step.strip_prefix(action.name())?.strip_prefix(' ')?)))
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_read_back_from_a_step_and_from_json() {
        for action in Action::ALL {
            assert_eq!(Action::split(&format!("{action} a b")), Some((action, "a b")), "{action}");
            assert_eq!(serde_json::to_value(action).unwrap(), action.name());
            assert_eq!(serde_json::from_value::<Action>(action.name().into()).unwrap(), action);
        }
    }

    #[test]
    fn words_that_only_begin_like_an_action_are_none() {
        for step in ["", "run", "runs a", "roll a", "explode a"] {
            assert_eq!(Action::split(step), None, "{step}");
        }
    }
}
