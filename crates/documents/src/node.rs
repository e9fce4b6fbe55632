//! Whether a configuration makes its machine a node.
use crate::{AnyDocument, Claimed, Decoded, Note, Read, Severity};

/// What to say of a configuration that makes no machine a node, and what to do about it.
pub const NO_NODE: (&str, &str) =
    ("no document makes this machine a node", "add an InitConfig, or use `--mode prepare` or `--mode post`");

/// Whether none of these documents makes the machine a node, as far as they can be read here: one that is remote,
/// encrypted or of another group may.
pub fn makes_no_node(documents: &[Decoded]) -> bool {
    let may_make_node = |document: &Decoded| match &document.body {
        AnyDocument::Remote(_) | AnyDocument::Encrypted(_) | AnyDocument::Foreign(_) => true,
        _ => document.claims().iter().any(|claim| claim.what == Claimed::Node),
    };
    !documents.iter().any(may_make_node)
}

impl Read {
    /// Adds a warning to the report of a configuration without errors that makes no machine a node.
    pub fn warn_without_node(&mut self) {
        let Some(first) = self.documents.first().filter(|_| makes_no_node(&self.documents)) else { return };
        if self.report.has_errors() {
            return;
        }
        let (message, hint) = NO_NODE;
        self.report.push(Note {
            severity: Severity::Warning,
            source: first.origin.source.clone(),
            line: 1,
            column: 1,
            document: None,
            kind: None,
            name: None,
            path: String::new(),
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{document, read_text};

    fn warnings(text: &str) -> usize {
        let mut read = read_text(text);
        let before = read.report.total;
        read.warn_without_node();
        read.report.total - before
    }

    #[test]
    fn a_configuration_without_init_or_join_is_warned_of_unless_it_may_have_one() {
        let modules = document("KernelModulesConfig", "spec: {modules: [a]}");
        let init = document("InitConfig", "spec: {kubernetesVersion: v1.36.4}");
        let remote = document("RemoteConfig", "spec: {provider: file, uri: 'file:///x'}");
        assert_eq!(warnings(&modules), 1);
        for other in [&init, &remote, "---\napiVersion: example.com/v1\nkind: JoinConfig\n"] {
            assert_eq!(warnings(&[modules.as_str(), other].concat()), 0, "{other}");
        }
        assert_eq!(warnings(&document("KernelModulesConfig", "spec: {modules: []}")), 0, "errors come first");
    }
}
