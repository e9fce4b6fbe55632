//! Rules over all documents together: what one says, no other may contradict.
use crate::{
    AnyDocument, Decoded, path,
    v1alpha1::{Command, File, Parameter, Proxy},
};
use std::collections::HashMap;

/// A document that contradicts an earlier one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Which document, by its index.
    pub(crate) document: usize,
    pub(crate) path: String,
    pub(crate) message: String,
}

/// Every conflict, each at the later of its two places.
pub(crate) fn find(documents: &[&Decoded]) -> Vec<Conflict> {
    let mut seen = Seen { documents, ..Seen::default() };
    for (index, document) in documents.iter().enumerate() {
        seen.document = index;
        seen.name(document);
        match &document.body {
            AnyDocument::Files(files) => files.iter().enumerate().for_each(|(item, file)| seen.file(item, file)),
            AnyDocument::Sysctl(parameters) => parameters.iter().for_each(|parameter| seen.parameter(parameter)),
            AnyDocument::Commands(commands) => {
                commands.iter().enumerate().for_each(|(item, command)| seen.command(item, command))
            }
            AnyDocument::Proxy(proxy) => seen.proxy(proxy),
            AnyDocument::TrustBundle(bundle) => seen.output("trust bundle", &bundle.name),
            AnyDocument::Init(_) => seen.init(),
            AnyDocument::KernelModules(_)
            | AnyDocument::Remote(_)
            | AnyDocument::Encrypted(_)
            | AnyDocument::Scope(_) => {}
        }
    }
    seen.conflicts
}

/// What earlier documents have claimed, and which.
#[derive(Default)]
struct Seen<'a> {
    documents: &'a [&'a Decoded],
    document: usize,
    names: HashMap<(&'static str, &'a str), usize>,
    outputs: HashMap<(&'static str, &'a str), usize>,
    files: HashMap<&'a str, Vec<(Option<&'a str>, usize)>>,
    parameters: HashMap<&'a str, (&'a str, usize)>,
    commands: HashMap<&'a str, usize>,
    services: HashMap<&'a str, usize>,
    init: Option<usize>,
    conflicts: Vec<Conflict>,
}

impl<'a> Seen<'a> {
    fn name(&mut self, document: &'a Decoded) {
        let Some(name) = &document.name else { return };
        if let Some(earlier) = self.names.insert((document.kind, name), self.document) {
            self.conflict("metadata.name", &format!("is also the name of {}", self.at(earlier)));
        }
    }

    /// Two documents of a kind may not make the same file: without a name, both have the same.
    fn output(&mut self, what: &'static str, name: &'a str) {
        let earlier = self.outputs.insert((what, name), self.document);
        let named_alike = |earlier: usize| self.documents[earlier].name == self.documents[self.document].name;
        if let Some(earlier) = earlier
            && !(named_alike(earlier) && self.documents[earlier].name.is_some())
        {
            let message = format!("would make the same {what} as {}: give each a name of its own", self.at(earlier));
            self.conflict("metadata.name", &message);
        }
    }

    fn file(&mut self, item: usize, file: &'a File) {
        let block = file.block.as_deref();
        let claims = self.files.entry(&file.path).or_default();
        let other =
            claims.iter().find(|(claimed, _)| claimed.is_none() || block.is_none() || *claimed == block).copied();
        claims.push((block, self.document));
        let Some((claimed, earlier)) = other else { return };
        let here = path::item("spec.files", item);
        if claimed.is_some() && block.is_some() {
            self.conflict(
                &path::member(&here, "block"),
                &format!("this block of the file is also set by {}", self.at(earlier)),
            );
        } else {
            self.conflict(&path::member(&here, "path"), &format!("this file is also set by {}", self.at(earlier)));
        }
    }

    fn parameter(&mut self, parameter: &'a Parameter) {
        let claim = (parameter.value.as_str(), self.document);
        if let Some((value, earlier)) = self.parameters.insert(&parameter.path, claim)
            && value != parameter.value
        {
            let here = path::member("spec.parameters", &parameter.key);
            self.conflict(&here, &format!("is set to another value by {}", self.at(earlier)));
        }
    }

    fn command(&mut self, item: usize, command: &'a Command) {
        if let Some(earlier) = self.commands.insert(&command.name, self.document) {
            let here = path::member(&path::item("spec.commands", item), "name");
            self.conflict(&here, &format!("is also the name of a command in {}", self.at(earlier)));
        }
    }

    fn proxy(&mut self, proxy: &'a Proxy) {
        self.output("environment file", &proxy.name);
        for (item, service) in proxy.services.iter().enumerate() {
            if let Some(earlier) = self.services.insert(service, self.document) {
                let here = path::item("spec.services", item);
                self.conflict(&here, &format!("already has a proxy from {}", self.at(earlier)));
            }
        }
    }

    /// A machine begins one cluster.
    fn init(&mut self) {
        if let Some(earlier) = self.init.replace(self.document) {
            self.conflict("spec", &format!("this machine already begins the cluster of {}", self.at(earlier)));
        }
    }

    fn conflict(&mut self, path: &str, message: &str) {
        self.conflicts.push(Conflict { document: self.document, path: path.to_owned(), message: message.to_owned() });
    }

    /// Where the earlier claim stands, as people would say it.
    fn at(&self, earlier: usize) -> String {
        let (origin, here) = (&self.documents[earlier].origin, &self.documents[self.document].origin);
        match (earlier == self.document, origin.source == here.source) {
            (true, _) => "this document".to_owned(),
            (false, true) => format!("document {}", origin.number),
            (false, false) => format!("document {} of {}", origin.number, origin.source),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{document, found};

    fn both(kind: &str, first: &str, second: &str) -> Vec<String> {
        found(&[document(kind, first), document(kind, second)].concat())
    }

    #[test]
    fn a_file_has_one_owner_unless_blocks_share_it() {
        let file = |block: &str| format!("spec: {{files: [{{path: /etc/a, content: x{block}}}]}}");
        let with = |block: &str| file(&format!(", block: {block}"));
        assert_eq!(
            both("FilesConfig", &file(""), &file("")),
            ["spec.files[0].path: this file is also set by document 1"]
        );
        assert_eq!(
            both("FilesConfig", &file(""), &with("b")),
            ["spec.files[0].path: this file is also set by document 1"]
        );
        let same = ["spec.files[0].block: this block of the file is also set by document 1"];
        assert_eq!(both("FilesConfig", &with("b"), &with("b")), same);
        assert!(both("FilesConfig", &with("a"), &with("b")).is_empty());
    }

    #[test]
    fn a_parameter_has_one_value_however_its_name_is_written() {
        let set = |name: &str, value: u8| format!("spec: {{parameters: {{{name}: {value}}}}}");
        let message = ["spec.parameters[a/b]: is set to another value by document 1"];
        assert_eq!(both("SysctlConfig", &set("a.b", 1), &set("a/b", 2)), message);
        assert!(both("SysctlConfig", &set("a.b", 1), &set("a/b", 1)).is_empty());
        let within = document("SysctlConfig", "spec: {parameters: {a.b: 1, a/b: 2}}");
        assert_eq!(found(&within), ["spec.parameters[a/b]: is set to another value by this document"]);
    }

    #[test]
    fn names_of_a_kind_and_of_commands_are_unique() {
        let modules = "metadata: {name: a}\nspec: {modules: [x]}";
        assert_eq!(both("KernelModulesConfig", modules, modules), ["metadata.name: is also the name of document 1"]);
        let command = "spec: {commands: [{name: a, argv: [ls]}]}";
        let message = ["spec.commands[0].name: is also the name of a command in document 1"];
        assert_eq!(both("CommandsConfig", command, command), message);
    }

    #[test]
    fn proxies_share_neither_file_nor_service() {
        let proxy = |service: &str| format!("spec: {{httpProxy: 'http://p', services: [{service}]}}");
        let file = "metadata.name: would make the same environment file as document 1: give each a name of its own";
        assert_eq!(both("ProxyConfig", &proxy("a"), &proxy("b")), [file]);
        let named = format!("metadata: {{name: x}}\n{}", proxy("a"));
        assert_eq!(both("ProxyConfig", &proxy("a"), &named), ["spec.services[0]: already has a proxy from document 1"]);
    }
}
