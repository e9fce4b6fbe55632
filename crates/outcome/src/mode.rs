//! When in a machine's life machineadm runs.
use serde::{Deserialize, Serialize};

/// The specification's three modalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Make the machine fit for Kubernetes: an image that is built, or a first boot before the cluster is known.
    Prepare,
    /// Make it a node: all that prepare does, and what comes after.
    Provision,
    /// Keep what was prepared as it is; runs nothing for its effect.
    Post,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Prepare, Self::Provision, Self::Post];

    /// The word for the command line and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Provision => "provision",
            Self::Post => "post",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn outcomes_and_the_command_line_have_the_same_words() {
        assert_eq!(Mode::ALL.map(Mode::name), ["prepare", "provision", "post"]);
        for mode in Mode::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.name());
        }
    }
}
