//! One document: what it is, whether it may be there, and what it says.
use super::{
    ComponentConfig, Location, Place, Reader,
    component::{Component, component},
    other_format,
};
use crate::{
    decode::{Decoded, WrongValue, decode},
    hub::Documents,
    kind::Kind,
    problem::Severity,
    spoke::Spoke,
    v1, v1beta1, v1beta2, v1beta3, v1beta4,
    version::{ApiVersion, GROUP},
};
use objects::{
    component_fields::{self, Reason},
    yaml::{self, Tree},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The group of machineadm's own documents, which people give to the wrong command.
const MACHINEADM_GROUP: &str = "machineadm.cluster.x-k8s.io";

/// What every document has besides the fields of its kind.
const TYPE_META: &[&str] = &["apiVersion", "kind"];
impl Reader {
    pub(super) fn document(&mut self, place: Place<'_>, text: &str) {
        let tree = match yaml::parse(text) {
            Ok(tree) => tree,
            Err(error) => {
                let place = Place { line: place.line + error.line.saturating_sub(1), ..place };
                self.error(place, "", error.message);
                return;
            }
        };
        let name = |name| tree.value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (api, kind) = (name("apiVersion"), name("kind"));
        if api.is_empty() || kind.is_empty() {
            self.no_document_of_kubernetes(place, text, &tree.value);
            return;
        }
        let place = Place { kind: Some(&kind), ..place };
        // The oldest group has no name: `v1`.
        let (group, version) = api.split_once('/').unwrap_or(("", &api));
        if self.seen.contains(&kind) {
            self.error(place, "", format!("duplicate {kind}; kubeadm accepts each kind once, in any version"));
            return;
        }
        self.seen.push(kind.clone());
        if group == GROUP {
            self.kubeadm_document(place, version, &kind, &tree);
        } else if let Some(component) = component(group, &kind) {
            self.component_document(place, component, &tree);
            self.read.component_configs.push(ComponentConfig { kind: kind.clone(), text: text.to_owned() });
        } else if group == MACHINEADM_GROUP {
            let problem = self.error(place, "", format!("{kind} is a document of machineadm, not of kubeadm"));
            problem.remedy = Some("check it with `machineadm validate`".to_owned());
        } else {
            let message = format!("{api} {kind} is not a document for kubeadm, which ignores it");
            let problem = self.lenient(place, "", message);
            problem.remedy = Some("move it to a file of its own".to_owned());
        }
    }

    /// Without apiVersion and kind: nothing, something unfinished, or the file of another program.
    fn no_document_of_kubernetes(&mut self, place: Place<'_>, text: &str, value: &Value) {
        let format = other_format::other_format(text, value);
        let missing = || "the document has no apiVersion and kind".to_owned();
        let message = format.map_or_else(missing, other_format::message);
        let remedy = match format {
            Some(format) => other_format::remedy(format),
            None if value.is_null() => "remove the empty document, or its `---`",
            None => "add them, for example `apiVersion: kubeadm.k8s.io/v1beta4` and `kind: ClusterConfiguration`",
        };
        self.error(place, "", message).remedy = Some(remedy.to_owned());
    }

    fn component_document(&mut self, place: Place<'_>, component: &Component, tree: &Tree) {
        for path in &tree.repeated {
            self.lenient(
                place,
                &format!("{}.{path}", component.kind),
                "duplicate key; kubeadm uses the last one".to_owned(),
            );
        }
        let Value::Object(members) = &tree.value else { return };
        for problem in component_fields::check(component.fields, members, self.rules.minor) {
            let (path, message) = (component.path(&problem), problem.reason.to_string());
            let reported = match problem.reason {
                Reason::Mistyped { .. } => self.error(place, &path, message),
                Reason::NotKnownYet { .. } => self.problem(Severity::Warning, place, &path, message),
                Reason::Unknown { .. } | Reason::TooEarly { .. } | Reason::Removed { .. } => {
                    self.lenient(place, &path, message)
                }
            };
            reported.remedy = problem.reason.hint();
        }
    }

    fn kubeadm_document(&mut self, place: Place<'_>, version: &str, kind: &str, tree: &Tree) {
        let known = ApiVersion::named(version).zip(Kind::named(kind)).filter(|(api, kind)| kind.is_in(*api));
        let Some((api, kind)) = known else {
            let problem = self.error(place, "", format!("unknown kind {kind} in {GROUP}/{version}"));
            problem.remedy = Some("use v1beta1, v1beta2, v1beta3 or v1beta4, and a kind that it has".to_owned());
            return;
        };
        if let Some(minor) = self.rules.minor.filter(|minor| !api.is_read_by(*minor)) {
            let problem = self.error(place, "", format!("the kubeadm of Kubernetes 1.{minor} does not read {api}"));
            problem.remedy = Some(format!("machineadm config convert --kubernetes-version 1.{minor}"));
            return;
        }
        for path in &tree.repeated {
            self.lenient(place, &format!("{kind}.{path}"), "duplicate key; kubeadm uses the last one".to_owned());
        }
        match decode_into(&mut self.read.documents, api, kind, &tree.value) {
            Ok(unknown) => {
                self.read.versions.insert(kind, api);
                let Place { file, line, document, .. } = place;
                let document = document.unwrap_or(1);
                self.read.locations.insert(kind, Location { file: file.to_owned(), line, document });
                for path in unknown {
                    self.lenient(place, &format!("{kind}.{path}"), format!("{api} has no such field"));
                }
            }
            Err(WrongValue { path, message }) => {
                let path = if path.is_empty() { kind.name().to_owned() } else { format!("{kind}.{path}") };
                self.error(place, &path, message);
            }
        }
    }
}

/// Decodes a document into the hub, and tells which of its fields are unknown.
pub(crate) fn decode_into(
    documents: &mut Documents,
    api: ApiVersion,
    kind: Kind,
    tree: &Value,
) -> Result<Vec<String>, WrongValue> {
    use ApiVersion::{V1, V1Beta1, V1Beta2, V1Beta3, V1Beta4};
    match (kind, api) {
        (Kind::InitConfiguration, V1Beta1) => take::<_, v1beta1::InitConfiguration>(tree, &mut documents.init),
        (Kind::InitConfiguration, V1Beta2) => take::<_, v1beta2::InitConfiguration>(tree, &mut documents.init),
        (Kind::InitConfiguration, V1Beta3) => take::<_, v1beta3::InitConfiguration>(tree, &mut documents.init),
        (Kind::InitConfiguration, V1Beta4) => {
            take::<_, v1beta4::InitConfiguration<v1beta4::Arg>>(tree, &mut documents.init)
        }
        (Kind::InitConfiguration, V1) => take::<_, v1::InitConfiguration>(tree, &mut documents.init),
        (Kind::ClusterConfiguration, V1Beta1) => take::<_, v1beta1::ClusterConfiguration>(tree, &mut documents.cluster),
        (Kind::ClusterConfiguration, V1Beta2) => take::<_, v1beta2::ClusterConfiguration>(tree, &mut documents.cluster),
        (Kind::ClusterConfiguration, V1Beta3) => take::<_, v1beta3::ClusterConfiguration>(tree, &mut documents.cluster),
        (Kind::ClusterConfiguration, V1Beta4) => {
            take::<_, v1beta4::ClusterConfiguration<v1beta4::Arg>>(tree, &mut documents.cluster)
        }
        (Kind::ClusterConfiguration, V1) => take::<_, v1::ClusterConfiguration>(tree, &mut documents.cluster),
        (Kind::JoinConfiguration, V1Beta1) => take::<_, v1beta1::JoinConfiguration>(tree, &mut documents.join),
        (Kind::JoinConfiguration, V1Beta2) => take::<_, v1beta2::JoinConfiguration>(tree, &mut documents.join),
        (Kind::JoinConfiguration, V1Beta3) => take::<_, v1beta3::JoinConfiguration>(tree, &mut documents.join),
        (Kind::JoinConfiguration, V1Beta4) => {
            take::<_, v1beta4::JoinConfiguration<v1beta4::Arg>>(tree, &mut documents.join)
        }
        (Kind::JoinConfiguration, V1) => take::<_, v1::JoinConfiguration>(tree, &mut documents.join),
        (Kind::ResetConfiguration, V1) => take::<_, v1::ResetConfiguration>(tree, &mut documents.reset),
        (Kind::ResetConfiguration, _) => take::<_, v1beta4::ResetConfiguration>(tree, &mut documents.reset),
        (Kind::UpgradeConfiguration, V1) => take::<_, v1::UpgradeConfiguration>(tree, &mut documents.upgrade),
        (Kind::UpgradeConfiguration, _) => take::<_, v1beta4::UpgradeConfiguration>(tree, &mut documents.upgrade),
        (Kind::ClusterStatus, V1Beta1) => take::<_, v1beta1::ClusterStatus>(tree, &mut documents.cluster_status),
        (Kind::ClusterStatus, _) => take::<_, v1beta2::ClusterStatus>(tree, &mut documents.cluster_status),
    }
}

fn take<H, S: Spoke<H> + DeserializeOwned>(tree: &Value, into: &mut Option<H>) -> Result<Vec<String>, WrongValue> {
    let Decoded { value, unknown } = decode::<S>(tree, TYPE_META)?;
    *into = Some(value.to_hub());
    Ok(unknown)
}

#[cfg(test)]
mod tests {
    use crate::{Rules, Source, Strictness, read};

    #[test]
    fn a_document_of_another_group_is_told_from_an_empty_one() {
        let problem = |text: &str| {
            let rules = Rules { strictness: Strictness::Strict, minor: None };
            read(&[Source { name: "a", text }], rules).problems.remove(0).message
        };
        for (text, api) in [
            ("apiVersion: v1\nkind: Config\n", "v1 Config"),
            ("apiVersion: apps/v1\nkind: Deployment\n", "apps/v1 Deployment"),
        ] {
            assert_eq!(problem(text), format!("{api} is not a document for kubeadm, which ignores it"));
        }
        let own = problem("apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\n");
        assert_eq!(own, "FilesConfig is a document of machineadm, not of kubeadm");
        for text in ["a: 1\n", "apiVersion: v1\n", "kind: Config\n"] {
            assert!(problem(text).starts_with("the document has no apiVersion and kind"), "{text}");
        }
    }

    #[test]
    fn a_file_of_another_program_is_recognised_and_not_called_an_empty_document() {
        let problem = |text: &str| {
            let rules = Rules { strictness: Strictness::Strict, minor: None };
            let problem = read(&[Source { name: "a", text }], rules).problems.remove(0);
            (problem.message, problem.remedy.unwrap_or_default())
        };
        for (text, name, remedy) in [
            ("#cloud-config\nruncmd: [ls]\n", "a cloud-init configuration (#cloud-config)", "write_files"),
            (r#"{"ignition": {"version": "3.4.0"}}"#, "an Ignition configuration", "that it writes"),
            ("variant: fcos\nversion: 1.5.0\n", "an Ignition configuration", "that it writes"),
            ("version: v1alpha1\nmachine: {type: worker}\n", "a Talos machine configuration", "Talos Linux"),
        ] {
            let (message, advice) = problem(text);
            assert_eq!(message, format!("this is {name}, not a document for kubeadm"), "{text}");
            assert!(advice.contains(remedy), "{text}: {advice}");
        }
        assert!(problem("---\n---\na: 1\n").1.contains("remove the empty document"));
        assert!(problem("clusterName: a\n").1.starts_with("add them"));
    }
}
