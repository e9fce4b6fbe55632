//! The order of a run: the documents as they stand, and the few turns that the engine adds.
use crate::{
    Look, Mode, PlanError, Planned, TurnId, Wanted,
    phases::{self, Role, control_plane, discovery, node_services, preflight, prune, uploaded_certificates},
};
use documents::Decoded;
use outcome::AddedTurn;

/// Something that the engine does by itself.
pub struct Addition {
    /// Its name in plans, reports and docs.
    pub turn: AddedTurn,
    /// What it does, in one line for the docs.
    pub summary: &'static str,
    /// Where it stands.
    pub place: Place,
    /// Whether it has a turn with this document that makes the machine a node.
    pub(crate) applies: fn(Option<&Decoded>) -> bool,
    pub(crate) plan: fn(&Subject<'_>, &Look<'_>) -> Result<Planned, PlanError>,
}

/// Where an addition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Directly before the document that makes the machine a node.
    BeforeNode,
    /// Directly after it.
    AfterNode,
    /// At the end of mode post.
    EndOfPost,
}

/// Everything that the engine adds, in order. The report at the end is the caller's, from the outcome.
pub const ADDED: &[Addition] = &[
    node_services::ADDITION,
    preflight::ADDITION,
    discovery::ADDITION,
    control_plane::ADDITION,
    uploaded_certificates::ADDITION,
    prune::ADDITION,
];

/// What an addition is asked about.
pub(crate) struct Subject<'a> {
    /// The document that makes the machine a node.
    pub(crate) node: Option<&'a Decoded>,
    /// Whether what no document names any more is removed.
    pub(crate) prune: Prune,
}

/// Whether what earlier documents wrote, and this configuration no longer names, is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// It is only listed.
    #[default]
    List,
    /// The previous content is restored, or the file deleted.
    Restore,
}

/// One turn of a run.
pub struct Turn<'a> {
    /// Its name.
    pub id: TurnId,
    what: What<'a>,
}

enum What<'a> {
    Document(&'a Decoded),
    Added(&'static Addition, Subject<'a>),
}

impl Turn<'_> {
    /// What is still missing on this machine.
    pub(crate) fn plan(&self, look: &Look<'_>) -> Result<Planned, PlanError> {
        match &self.what {
            What::Document(document) => phases::plan(document, look),
            What::Added(addition, subject) => (addition.plan)(subject, look),
        }
    }

    /// Its document, if it has one.
    pub(crate) const fn document(&self) -> Option<&Decoded> {
        match &self.what {
            What::Document(document) => Some(document),
            What::Added(..) => None,
        }
    }
}

impl std::fmt::Debug for Turn<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.id.fmt(f)
    }
}

impl std::fmt::Debug for Addition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.turn.name())
    }
}

/// The turns of a mode: prepare stops before the document that makes a node, provision runs all, post runs every kind
/// that keeps something as it is.
pub fn turns(mode: Mode, wanted: &Wanted, prune: Prune) -> Vec<Turn<'_>> {
    let node = wanted.documents.iter().position(phases::makes_node);
    let added = |place: Place| {
        let subject = move || Subject { node: node.map(|at| &wanted.documents[at]), prune };
        let turn = move |addition: &'static Addition| Turn {
            id: TurnId::from(addition.turn),
            what: What::Added(addition, subject()),
        };
        let document = node.map(|at| &wanted.documents[at]);
        ADDED.iter().filter(move |addition| addition.place == place && (addition.applies)(document)).map(turn)
    };
    let mut turns = Vec::new();
    for (index, document) in wanted.documents.iter().enumerate() {
        let (is_node, turn) = (Some(index) == node, Turn { id: id(index, document), what: What::Document(document) });
        match mode {
            Mode::Prepare if is_node => break,
            Mode::Provision if is_node => {
                turns.extend(added(Place::BeforeNode));
                turns.push(turn);
                turns.extend(added(Place::AfterNode));
            }
            Mode::Post if phases::role(document) != Role::Keeps => {}
            Mode::Prepare | Mode::Provision | Mode::Post => turns.push(turn),
        }
    }
    if mode == Mode::Post {
        turns.extend(added(Place::EndOfPost));
    }
    turns
}

fn id(index: usize, document: &Decoded) -> TurnId {
    TurnId::Document { number: index + 1, kind: document.kind.to_string(), name: document.name.clone() }
}
