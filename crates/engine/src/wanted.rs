//! What the documents ask of a machine: the documents themselves, in their order.
use crate::{Mode, Provenance, makes_node};
use documents::{AnyDocument, Decoded};

const NO_NODE: &str = "this machine does not become a node: no document is an InitConfig or a JoinConfig; add one, or use `--mode prepare` or `--mode post`";

/// What the documents ask of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The documents after expansion, in the order in which they are processed.
    pub documents: Vec<Decoded>,
    /// Where they came from, in their order.
    pub sources: Vec<Provenance>,
}

impl Wanted {
    /// What the configuration as a whole probably does not mean in this mode.
    pub fn warnings(&self, mode: Mode) -> Vec<String> {
        // One of another group may be a plugin's, which may make one.
        let may_make_node =
            |document: &Decoded| makes_node(document) || matches!(document.body, AnyDocument::Foreign(_));
        let is_node_missing = mode == Mode::Provision && !self.documents.iter().any(may_make_node);
        is_node_missing.then(|| NO_NODE.to_owned()).into_iter().collect()
    }

    /// Takes decoded documents as they are; nothing is sorted.
    pub fn of(documents: Vec<Decoded>) -> Self {
        let mut sources: Vec<Provenance> = Vec::new();
        for document in &documents {
            let name = &document.origin.source;
            match sources.iter_mut().find(|known| known.name == *name) {
                Some(known) => known.documents += 1,
                None => sources.push(Provenance { name: name.clone(), documents: 1 }),
            }
        }
        Self { documents, sources }
    }
}
