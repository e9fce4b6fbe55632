//! Conflicts: what one document claims, no other may contradict.
use crate::{
    Claim, Claimed, Decoded, Severity,
    compare::{Finding, Listed, earlier_of},
    path,
    path_claim::{Entry, PathClaim},
    v1alpha1::{KEYS_BLOCK, UnitSettings, is_below, without_aliases},
};
use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

/// Every conflict, each at the later of its two places.
pub(crate) fn find(documents: &[Listed<'_>]) -> Vec<Finding> {
    let mut seen = Seen { documents, ..Seen::default() };
    for (index, listed) in documents.iter().enumerate() {
        seen.document = index;
        seen.name(listed.document);
        listed.claims.iter().for_each(|claim| seen.claim(claim));
    }
    seen.conflicts
}

/// What earlier documents have claimed, and which.
#[derive(Default)]
struct Seen<'a> {
    documents: &'a [Listed<'a>],
    document: usize,
    names: HashMap<(&'a str, &'a str, &'a str), usize>,
    outputs: HashMap<(&'static str, Option<&'a str>), usize>,
    paths: BTreeMap<Cow<'a, str>, Vec<PathClaim<'a>>>,
    parameters: HashMap<&'a str, (&'a str, usize)>,
    commands: HashMap<&'a str, usize>,
    services: HashMap<&'a str, usize>,
    units: HashMap<&'a str, Vec<(UnitSettings, usize)>>,
    accounts: HashMap<(&'static str, &'a str), usize>,
    numbers: HashMap<(&'static str, u32), usize>,
    node: Option<usize>,
    reports: Option<usize>,
    container_runtime: Option<usize>,
    conflicts: Vec<Finding>,
}

impl<'a> Seen<'a> {
    fn name(&mut self, document: &'a Decoded) {
        let Some(name) = &document.name else { return };
        let key = (document.body.api_version(), document.kind.as_str(), name.as_str());
        if let Some(earlier) = self.names.insert(key, self.document) {
            self.conflict("metadata.name", format!("is also the name of {}", self.at(earlier)));
        }
    }

    fn claim(&mut self, claim: &'a Claim<'a>) {
        let Claim { what, path: here } = claim;
        match what {
            Claimed::File { path, block } => self.entry(here, path, Entry::File(*block)),
            Claimed::Entry { path, sort } => self.entry(here, path, Entry::Other(*sort)),
            Claimed::Parameter { path, value } => {
                if let Some((earlier_value, earlier)) = self.parameters.insert(path, (value, self.document))
                    && earlier_value != *value
                {
                    self.conflict(here, format!("is set to another value by {}", self.at(earlier)));
                }
            }
            Claimed::Program { path } => self.program(here, path),
            Claimed::StaticPod(path) => self.program(here, path),
            Claimed::Command(name) => {
                if let Some(earlier) = self.commands.insert(name, self.document) {
                    self.conflict(here, format!("is also the name of a command in {}", self.at(earlier)));
                }
            }
            Claimed::ServiceProxy { service, path } => {
                if let Some(earlier) = self.services.insert(service, self.document) {
                    self.conflict(here, format!("already has a proxy from {}", self.at(earlier)));
                } else if let Some((relation, earlier)) = self.nested(path, Entry::File(None)) {
                    self.conflict(here, format!("its drop-in {relation} {}", self.at(earlier)));
                }
                self.take_path(path, Entry::File(None));
            }
            Claimed::Unit { name, wanted } => self.unit(here, name, *wanted),
            Claimed::Account { sort, name, number } => self.account(here, (sort, name), *number),
            Claimed::AuthorizedKeys { path } => self.authorized_keys(here, path),
            Claimed::KernelModule(_)
            | Claimed::FilesBelow(_)
            | Claimed::Preparation(_)
            | Claimed::ControlPlanePath(_) => {}
            // `control_plane_conflicts` compares these.
            Claimed::Worker
            | Claimed::Kubernetes(_)
            | Claimed::RequiredKubernetes(_)
            | Claimed::ControlPlaneFiles
            | Claimed::RootlessControlPlane
            | Claimed::ApiServerArgument(_)
            | Claimed::NoApiServerArgument(_)
            | Claimed::ApiServerVolume { .. } => {}
            Claimed::Output { what, name, .. } => self.output(here, (what, *name)),
            Claimed::Node => {
                if let Some(earlier) = self.node.replace(self.document) {
                    self.conflict(here, format!("this machine already becomes a node through {}", self.at(earlier)));
                }
            }
            Claimed::ContainerRuntime => {
                if let Some(earlier) = self.container_runtime.replace(self.document) {
                    let message = format!("containerd is already configured by {}", self.at(earlier));
                    self.conflict(here, format!("{message}: a machine has at most one ContainerdConfig"));
                }
            }
            Claimed::Reports => {
                if let Some(earlier) = self.reports.replace(self.document) {
                    let at = self.at(earlier);
                    self.conflict(
                        here,
                        format!("reports are already sent by {at}: a machine has at most one ReportConfig"),
                    );
                }
            }
        }
    }

    fn unit(&mut self, here: &str, name: &'a str, wanted: UnitSettings) {
        let claims = self.units.entry(name).or_default();
        let other = claims.iter().find(|(other, _)| other.contradicts(wanted)).map(|(_, document)| *document);
        claims.push((wanted, self.document));
        if let Some(earlier) = other {
            self.conflict(here, format!("{} contradicts what this entry sets for the unit", self.at(earlier)));
        }
    }

    fn program(&mut self, here: &str, path: &'a str) {
        if let Some((relation, earlier)) = self.nested(path, Entry::File(None)) {
            self.conflict(here, format!("{path} {relation} {}", self.at(earlier)));
        } else if let Some(other) = self.take_path(path, Entry::File(None)) {
            self.conflict(here, format!("{path} is also set by {}", self.at(other.document)));
        }
    }

    fn authorized_keys(&mut self, here: &str, path: &'a str) {
        let entry = Entry::File(Some(KEYS_BLOCK));
        if let Some((relation, earlier)) = self.nested(path, entry) {
            self.conflict(here, format!("the file with the keys {relation} {}", self.at(earlier)));
        } else if let Some(other) = self.take_path(path, entry) {
            self.conflict(here, format!("the file with the keys is also set by {}", self.at(other.document)));
        }
    }

    fn account(&mut self, here: &str, (sort, name): (&'static str, &'a str), number: Option<u32>) {
        if let Some(earlier) = self.accounts.insert((sort, name), self.document) {
            let message = format!("this {sort} is also set by {}", self.at(earlier));
            return self.conflict(&path::member(here, "name"), message);
        }
        let Some(earlier) = number.and_then(|number| self.numbers.insert((sort, number), self.document)) else {
            return;
        };
        let field = if sort == "user" { "uid" } else { "gid" };
        let message = format!("this number is also that of a {sort} in {}", self.at(earlier));
        self.conflict(&path::member(here, field), message);
    }

    /// Two documents of a kind may not make the same file: without a name, both have the same.
    fn output(&mut self, here: &str, output: (&'static str, Option<&'a str>)) {
        let Some(earlier) = self.outputs.insert(output, self.document) else { return };
        let names = [earlier, self.document].map(|document| self.documents[document].document.name.as_deref());
        // Two equal names are a conflict already.
        if names[0].is_none() || names[0] != names[1] {
            let message = format!("creates the same {} as {}: give each a name of its own", output.0, self.at(earlier));
            self.conflict(here, message);
        }
    }

    /// A path has one owner; the blocks of a file that others own have one each.
    fn entry(&mut self, here: &str, path: &'a str, entry: Entry<'a>) {
        if let Some((relation, earlier)) = self.nested(path, entry) {
            let message = format!("{relation} {}", self.at(earlier));
            self.conflict(&path::member(here, "path"), message);
        }
        let Some(other) = self.take_path(path, entry) else { return };
        let (what, field) = match (other.entry, entry) {
            (Entry::File(Some(_)), Entry::File(Some(_))) => ("this block of the file", "block"),
            (Entry::File(_), Entry::File(_)) => ("this file", "path"),
            (Entry::Other(_), _) | (_, Entry::Other(_)) => ("this path", "path"),
        };
        let message = format!("{what} is also set by {}", self.at(other.document));
        self.conflict(&path::member(here, field), message);
    }

    /// Notes who claims a path, and gives the earlier claim that does not go with this one.
    fn take_path(&mut self, path: &'a str, entry: Entry<'a>) -> Option<PathClaim<'a>> {
        let claims = self.paths.entry(without_aliases(path)).or_default();
        let other = claims.iter().find(|claim| !claim.entry.goes_with(entry)).copied();
        claims.push(PathClaim { entry, document: self.document });
        other
    }

    /// How a path is above or below one of an earlier claim: what has paths below it is a directory.
    fn nested(&self, path: &str, entry: Entry<'_>) -> Option<(&'static str, usize)> {
        let path = &*without_aliases(path);
        let above = path.match_indices('/').skip(1).find_map(|(end, _)| {
            let mut claims = self.paths.get(&path[..end])?.iter();
            claims.find_map(|claim| Some((claim.entry.no_directory()?, claim.document)))
        });
        above.or_else(|| entry.no_directory().and_then(|_| self.below(path)))
    }

    /// The earlier claim of a path below this one, for which it has to be a directory.
    fn below(&self, path: &str) -> Option<(&'static str, usize)> {
        let (below, claims) = self.paths.range(Cow::Owned(format!("{path}/"))..).next()?;
        let relation = "has to be a directory for a path that is set by";
        claims.first().filter(|_| is_below(below, path)).map(|claim| (relation, claim.document))
    }

    fn conflict(&mut self, path: &str, message: String) {
        let (document, severity) = (self.document, Severity::Error);
        self.conflicts.push(Finding { document, severity, path: path.to_owned(), message, hint: None });
    }

    /// Where the earlier claim stands.
    fn at(&self, earlier: usize) -> String {
        earlier_of(self.documents, earlier, self.document)
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
    fn a_file_and_a_path_below_it_are_a_conflict() {
        let files = |paths: &[&str]| {
            let files: Vec<_> = paths.iter().map(|path| format!("{{path: {path}, content: x}}")).collect();
            format!("spec: {{files: [{}]}}", files.join(", "))
        };
        let within = document("FilesConfig", &files(&["/etc/a", "/etc/a/b/c", "/etc/a.d/b", "/etc/ab"]));
        assert_eq!(found(&within), ["spec.files[1].path: is below a file that is set by this document"]);
        let below = both("FilesConfig", &files(&["/etc/a/b/c"]), &files(&["/etc/a"]));
        assert_eq!(below, ["spec.files[0].path: has to be a directory for a path that is set by document 1"]);
        let drop_in = "/etc/systemd/system/kubelet.service.d";
        let service = document("ProxyConfig", "spec: {httpProxy: 'http://p', services: [kubelet]}");
        let above = found(&[document("FilesConfig", &files(&[drop_in])), service].concat());
        assert_eq!(above, ["spec.services[0]: its drop-in is below a file that is set by document 1"]);
    }

    #[test]
    fn paths_below_a_directory_entry_are_fine_and_below_any_other_are_not() {
        let upper = |entry: &str| format!("spec: {{files: [{{path: /etc/a, {entry}}}]}}");
        let lower = "spec: {files: [{path: /etc/a/b, content: x}]}";
        let directory = upper("type: directory");
        assert!(both("FilesConfig", &directory, lower).is_empty());
        assert!(both("FilesConfig", lower, &directory).is_empty());
        for (entry, below) in [
            ("type: link, target: x", "is below a link that is set by"),
            ("type: absent", "is below a path that is deleted by"),
        ] {
            let message = format!("spec.files[0].path: {below} document 1");
            assert_eq!(both("FilesConfig", &upper(entry), lower), [message]);
            let message = "spec.files[0].path: has to be a directory for a path that is set by document 1";
            assert_eq!(both("FilesConfig", lower, &upper(entry)), [message]);
        }
    }

    #[test]
    fn a_path_is_of_one_type_in_all_documents() {
        let entry = |entry: &str| format!("spec: {{files: [{{path: /etc/a, {entry}}}]}}");
        let entries =
            ["content: x", "content: x, block: b", "type: directory", "type: link, target: x", "type: absent"];
        for (first, second) in [(0, 2), (1, 3), (2, 2), (3, 4), (4, 0)] {
            let message = "spec.files[0].path: this path is also set by document 1";
            assert_eq!(both("FilesConfig", &entry(entries[first]), &entry(entries[second])), [message]);
        }
    }

    #[test]
    fn one_file_under_two_names_of_its_directory_is_a_conflict() {
        let file = |path: &str| format!("spec: {{files: [{{path: {path}, content: x}}]}}");
        let message = "spec.files[0].path: this file is also set by document 1";
        assert_eq!(both("FilesConfig", &file("/run/a"), &file("/var/run/a")), [message]);
    }

    #[test]
    fn a_parameter_has_one_value_however_its_name_is_written() {
        let set = |name: &str, value: u8| {
            format!("metadata: {{name: {}}}\nspec: {{parameters: {{{name}: {value}}}}}", name.replace('/', "-"))
        };
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
        let file = "metadata.name: creates the same environment file as document 1: give each a name of its own";
        assert_eq!(both("ProxyConfig", &proxy("a"), &proxy("b")), [file]);
        let named = format!("metadata: {{name: x}}\n{}", proxy("a"));
        assert_eq!(both("ProxyConfig", &proxy("a"), &named), ["spec.services[0]: already has a proxy from document 1"]);
    }

    #[test]
    fn outputs_are_named_after_their_documents() {
        let bundle = crate::KINDS.iter().find(|known| known.kind == "TrustBundleConfig").unwrap().example;
        let named = |name: &str| bundle.replace("  name: example-root\n", name);
        let both = |first: &str, second: &str| found(&[named(first), named(second)].join("---\n"));
        let own = "  name: machineadm\n";
        let same = "metadata.name: creates the same trust bundle as document 1: give each a name of its own";
        assert_eq!(both("  {}\n", "  {}\n"), [same]);
        assert_eq!(both("  {}\n", own), [same], "a document without a name has ours");
        assert_eq!(both(own, own), ["metadata.name: is also the name of document 1"], "one problem, not two");
        assert!(both(own, "  name: other\n").is_empty());
    }

    #[test]
    fn each_document_of_parameters_and_modules_has_a_file_of_its_own() {
        for (kind, what, spec) in [
            ("SysctlConfig", "sysctl file", "spec: {parameters: {a.b: 1}}"),
            ("KernelModulesConfig", "modules file", "spec: {modules: [a]}"),
        ] {
            let message = format!("metadata.name: creates the same {what} as document 1: give each a name of its own");
            assert_eq!(both(kind, spec, spec), [message]);
            let named = |name: &str| format!("metadata: {{name: {name}}}\n{spec}");
            assert!(both(kind, spec, &named("a")).is_empty(), "the same parameter or module twice is allowed");
            assert!(both(kind, &named("b"), &named("a")).is_empty());
        }
    }

    #[test]
    fn a_machine_becomes_a_node_once() {
        let init = "spec: {kubernetesVersion: v1.36.4}";
        let message = "spec: this machine already becomes a node through document 1";
        assert_eq!(both("InitConfig", init, init), [message]);
    }
}
