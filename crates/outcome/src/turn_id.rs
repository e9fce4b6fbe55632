//! Where something of a run happened: in the turn of a document, in one that the engine adds, or outside of all turns.
use std::fmt;

/// The name of a turn: in plans, in outcomes, and in "known after".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnId {
    /// A document's turn.
    Document {
        /// Its place in the stream after expansion, counted from 1.
        number: usize,
        /// Its kind.
        kind: String,
        /// Its name, if it has one.
        name: Option<String>,
    },
    /// A turn that the engine adds.
    Added(AddedTurn),
    /// No turn.
    Stage(Stage),
}

/// A turn that the engine adds to those of the documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AddedTurn {
    /// Services that a node needs.
    Services,
    /// Whether the machine is fit to become a node.
    Preflight,
    /// Finds and verifies the cluster.
    Discovery,
    /// What a further control plane node needs.
    ControlPlane,
    /// Uploads the certificates copy again.
    Certificates,
    /// What no document names any more.
    Prune,
}

/// Where a run stands outside of its turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It reads its configuration, and fetches what that points to.
    Configuration,
    /// Before its first turn: it stores its configuration and records that it started.
    Start,
    /// After its last: it records how it ended.
    End,
}

impl TurnId {
    /// The document's place in the stream, if it is a document's turn.
    pub const fn number(&self) -> Option<usize> {
        match self {
            Self::Document { number, .. } => Some(*number),
            Self::Added(_) | Self::Stage(_) => None,
        }
    }

    /// As another turn refers to it: `document 2 (KernelModulesConfig network)`.
    pub fn reference(&self) -> String {
        match self {
            Self::Document { number, .. } => format!("document {number} ({self})"),
            Self::Added(_) | Self::Stage(_) => self.to_string(),
        }
    }
}

impl From<AddedTurn> for TurnId {
    fn from(turn: AddedTurn) -> Self {
        Self::Added(turn)
    }
}

impl From<Stage> for TurnId {
    fn from(stage: Stage) -> Self {
        Self::Stage(stage)
    }
}

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document { kind, name: Some(name), .. } => write!(f, "{kind} {name}"),
            Self::Document { kind, name: None, .. } => f.write_str(kind),
            Self::Added(turn) => f.write_str(turn.name()),
            Self::Stage(stage) => f.write_str(stage.name()),
        }
    }
}

impl AddedTurn {
    /// Every one.
    const ALL: [Self; 6] =
        [Self::Services, Self::Preflight, Self::Discovery, Self::ControlPlane, Self::Certificates, Self::Prune];

    /// The name in plans, outcomes and docs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Services => "services",
            Self::Preflight => "preflight",
            Self::Discovery => "discovery",
            Self::ControlPlane => "control plane",
            Self::Certificates => "certificates",
            Self::Prune => "prune",
        }
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|turn| turn.name() == name)
    }
}

impl Stage {
    /// Every one.
    const ALL: [Self; 3] = [Self::Configuration, Self::Start, Self::End];

    /// The name in outcomes and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Start => "start",
            Self::End => "end",
        }
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_of_earlier_versions_have_these_names() {
        let added = ["services", "preflight", "discovery", "control plane", "certificates", "prune"];
        assert_eq!(AddedTurn::ALL.map(AddedTurn::name), added);
        assert_eq!(added.map(AddedTurn::named), AddedTurn::ALL.map(Some));
        let stages = ["configuration", "start", "end"];
        assert_eq!(Stage::ALL.map(Stage::name), stages);
        assert_eq!(stages.map(Stage::named), Stage::ALL.map(Some));
        assert_eq!((AddedTurn::named("start"), Stage::named("prune")), (None, None));
    }

    #[test]
    fn a_document_is_named_by_kind_and_name_and_referred_to_by_its_place() {
        let named = |name: Option<&str>| TurnId::Document {
            number: 2,
            kind: "FilesConfig".to_owned(),
            name: name.map(str::to_owned),
        };
        assert_eq!(
            (named(Some("a")).to_string(), named(None).to_string()),
            ("FilesConfig a".into(), "FilesConfig".into())
        );
        assert_eq!(
            (named(Some("a")).reference(), named(None).number()),
            ("document 2 (FilesConfig a)".into(), Some(2))
        );
    }

    #[test]
    fn what_is_no_document_is_named_by_its_id() {
        for (id, name) in [(TurnId::from(AddedTurn::ControlPlane), "control plane"), (Stage::End.into(), "end")] {
            assert_eq!((id.to_string(), id.reference(), id.number()), (name.to_owned(), name.to_owned(), None));
        }
    }
}
