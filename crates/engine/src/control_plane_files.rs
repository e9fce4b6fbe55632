//! What a ControlPlaneConfig makes of the API server: files on the machine, and arguments and volumes in the cluster's
//! configuration, from which kubeadm renders the manifest of every control plane node.
use crate::{Wanted, phases::cluster_settings::mount};
use documents::{
    AnyDocument,
    v1alpha1::{
        self, CONTROL_PLANE_FILES_DIRECTORY, CONTROL_PLANE_VOLUME_PREFIX, ControlPlane, ControlPlaneFile, Volume,
    },
};
use host::contract::CONTROL_PLANE_DIR;
use kubeadm::hub::{Arg, ClusterConfiguration, HostPathMount};
use std::collections::BTreeSet;

/// The argument that kubeadm sets, and the one that replaces it.
const AUTHORIZATION_MODE: &str = "authorization-mode";
const AUTHORIZATION_CONFIG: &str = "authorization-config";
/// The argument that names the EncryptionConfiguration.
const ENCRYPTION: &str = "encryption-provider-config";
/// Arguments whose values are no files, each with the argument of the file that a ControlPlaneConfig makes with it.
const COMPANIONS: [(&str, &str); 8] = [
    ("audit-log-maxage", "audit-policy-file"),
    ("audit-log-maxbackup", "audit-policy-file"),
    ("audit-log-maxsize", "audit-policy-file"),
    ("audit-log-path", "audit-policy-file"),
    ("authentication-token-webhook-cache-ttl", "authentication-token-webhook-config-file"),
    ("authentication-token-webhook-version", "authentication-token-webhook-config-file"),
    ("disable-admission-plugins", "admission-control-config-file"),
    ("enable-admission-plugins", "admission-control-config-file"),
];
/// Those of them that are often set without the file: they are an operator's own as long as the file is there.
const PLUGIN_LISTS: [&str; 2] = ["disable-admission-plugins", "enable-admission-plugins"];

/// What a ControlPlaneConfig makes of the API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControlPlaneFiles {
    /// The directory of the files.
    pub(crate) directory: &'static str,
    /// Its files.
    pub(crate) files: Vec<ControlPlaneFile>,
    /// Arguments by their names without dashes, with their values.
    pub(crate) arguments: Vec<(String, String)>,
    /// Volumes. The names of all of them begin with `machineadm-`.
    pub(crate) volumes: Vec<Volume>,
    /// Arguments that the InitConfig of the same configuration sets: they are its own.
    pub(crate) others: BTreeSet<String>,
}

impl ControlPlaneFiles {
    /// What the ControlPlaneConfig of a configuration makes, if there is one.
    pub(crate) fn of(wanted: &Wanted) -> Option<Self> {
        let mut files = wanted.documents.iter().find_map(|document| match &document.body {
            AnyDocument::ControlPlane(config) => Some(control_plane_files(config)),
            _ => None,
        })?;
        files.others = wanted.documents.iter().flat_map(|document| set_arguments(&document.body)).cloned().collect();
        Some(files)
    }
}

/// What a ControlPlaneConfig makes of the API server.
pub(crate) fn control_plane_files(config: &ControlPlane) -> ControlPlaneFiles {
    let argument = |argument: &v1alpha1::ApiServerArgument| (argument.name.clone(), argument.value.clone());
    ControlPlaneFiles {
        directory: CONTROL_PLANE_DIR,
        files: config.files.clone(),
        arguments: config.arguments.iter().map(argument).collect(),
        volumes: config.volumes.clone(),
        others: BTreeSet::new(),
    }
}

/// The arguments of the API server that an InitConfig sets.
fn set_arguments(body: &AnyDocument) -> impl Iterator<Item = &String> {
    let init = if let AnyDocument::Init(init) = body { Some(init) } else { None };
    init.into_iter().flat_map(|init| init.settings.api_server.arguments.keys())
}

/// Puts arguments and volumes into a ClusterConfiguration. They replace those of the same name. Earlier ones of ours that
/// are no longer wanted go; everything else stays where it is.
pub(crate) fn merge_into(files: &ControlPlaneFiles, cluster: &mut ClusterConfiguration) {
    let api_server = &mut cluster.api_server;
    let before = api_server.extra_args.clone();
    let value = |name: &str| before.iter().find(|arg| arg.name == name).map(|arg| arg.value.clone());
    let is_ours = |arg: &Arg| files.makes(&arg.name, &arg.value, &value);
    let is_stale = |arg: &Arg| is_ours(arg) && !files.has(&arg.name) && !files.others.contains(&arg.name);
    api_server.extra_args.retain(|arg| !is_stale(arg));
    for (name, value) in &files.arguments {
        let wanted = Arg { name: name.clone(), value: value.clone(), merge_method: None };
        put(&mut api_server.extra_args, wanted, |arg| arg.name == *name);
    }
    let is_wanted = |name: &str| files.volumes.iter().any(|volume| volume.name == name);
    let name_of = |mount: &HostPathMount| mount.name.clone().unwrap_or_default();
    api_server.extra_volumes.retain(|mount| {
        let name = name_of(mount);
        !name.starts_with(CONTROL_PLANE_VOLUME_PREFIX) || is_wanted(&name)
    });
    for volume in &files.volumes {
        put(&mut api_server.extra_volumes, stored_mount(volume), |mount| name_of(mount) == volume.name);
    }
}

impl ControlPlaneFiles {
    /// Whether an argument of the API server is this document's to decide: it names it, or a ControlPlaneConfig has made
    /// it. `others` gives the value of another argument.
    pub(crate) fn decides(&self, name: &str, value: &str, others: &dyn Fn(&str) -> Option<String>) -> bool {
        self.has(name) || self.makes(name, value, others)
    }

    /// Whether this ControlPlaneConfig or an earlier one makes an argument: its value is a file of its directory, or it
    /// goes with an argument whose value is. Others of the same name are the operator's own: to remove them could stop the
    /// cluster. The answer is the same before and after the document is applied.
    fn makes(&self, name: &str, value: &str, others: &dyn Fn(&str) -> Option<String>) -> bool {
        let with = COMPANIONS.iter().find(|(companion, _)| *companion == name).map(|(_, file)| *file);
        match with {
            _ if is_our_file(value) => true,
            Some(file) if self.has(file) => !PLUGIN_LISTS.contains(&name),
            Some(file) => others(file).is_some_and(|value| is_our_file(&value)),
            None => false,
        }
    }

    /// Whether the document sets an argument.
    fn has(&self, name: &str) -> bool {
        self.arguments.iter().any(|(wanted, _)| wanted == name)
    }

    /// Whether the document encrypts what etcd stores.
    pub(crate) fn encrypts(&self) -> bool {
        self.has(ENCRYPTION)
    }
}

/// A volume as kubeadm stores it: without `readOnly` where that is false.
fn stored_mount(volume: &Volume) -> HostPathMount {
    HostPathMount { read_only: volume.read_only.then_some(true), ..mount(volume) }
}

/// The argument of its own that kubeadm leaves out when another one is set.
pub(crate) fn left_out_with(name: &str) -> Option<&'static str> {
    (name == AUTHORIZATION_CONFIG).then_some(AUTHORIZATION_MODE)
}

/// Whether a ControlPlaneConfig has made the EncryptionConfiguration of a cluster.
pub(crate) fn is_encrypted_by_us(cluster: &ClusterConfiguration) -> bool {
    cluster.api_server.extra_args.iter().any(|arg| arg.name == ENCRYPTION && is_our_file(&arg.value))
}

fn is_our_file(value: &str) -> bool {
    value.strip_prefix(CONTROL_PLANE_FILES_DIRECTORY).is_some_and(|rest| rest.starts_with('/'))
}

/// Puts a value in the place of the first that is the same, or at the end; there is one of them afterwards.
fn put<T>(list: &mut Vec<T>, value: T, is_same: impl Fn(&T) -> bool) {
    match list.iter().position(&is_same) {
        Some(first) => {
            let mut index = 0;
            list.retain(|item| {
                index += 1;
                index - 1 <= first || !is_same(item)
            });
            list[first] = value;
        }
        None => list.push(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubeadm::hub::ApiServer;

    fn volume(name: &str) -> Volume {
        let path = format!("/srv/{name}");
        Volume { name: name.into(), host_path: path.clone(), mount_path: path, read_only: true, sort: None }
    }

    fn files(arguments: &[(&str, &str)], volumes: &[&str]) -> ControlPlaneFiles {
        ControlPlaneFiles {
            directory: CONTROL_PLANE_DIR,
            files: Vec::new(),
            arguments: arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            volumes: volumes.iter().map(|name| volume(name)).collect(),
            others: BTreeSet::new(),
        }
    }

    fn cluster(arguments: &[(&str, &str)], volumes: &[&str]) -> ClusterConfiguration {
        let arg = |(name, value): &(&str, &str)| Arg {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            merge_method: None,
        };
        ClusterConfiguration {
            cluster_name: Some("mine".into()),
            api_server: ApiServer {
                extra_args: arguments.iter().map(arg).collect(),
                extra_volumes: volumes.iter().map(|name| mount(&volume(name))).collect(),
                ..ApiServer::default()
            },
            ..ClusterConfiguration::default()
        }
    }

    #[test]
    fn ours_replace_those_of_the_same_name_and_what_is_of_others_stays_where_it_is() {
        let mut found =
            cluster(&[("v", "2"), ("profiling", "true"), ("v", "3"), ("z", "1")], &["own", "machineadm-files"]);
        let wanted = files(
            &[("v", "4"), ("audit-policy-file", "/etc/kubernetes/machineadm/a")],
            &["machineadm-files", "machineadm-kms-0"],
        );
        merge_into(&wanted, &mut found);
        let expected = cluster(
            &[("v", "4"), ("profiling", "true"), ("z", "1"), ("audit-policy-file", "/etc/kubernetes/machineadm/a")],
            &["own", "machineadm-files", "machineadm-kms-0"],
        );
        assert_eq!(found, expected);
        merge_into(&wanted, &mut found);
        assert_eq!(found, expected, "twice is once");
    }

    #[test]
    fn what_the_document_no_longer_makes_goes() {
        let before = [
            ("audit-log-maxage", "3"),
            ("oidc-ca-file", "/etc/kubernetes/machineadm/ca.crt"),
            ("disable-admission-plugins", "A"),
            ("tls-min-version", "VersionTLS13"),
            ("x", "/etc/kubernetes/machineadm-other/a"),
        ];
        let ours = [
            ("audit-policy-file", "/etc/kubernetes/machineadm/audit-policy.yaml"),
            ("admission-control-config-file", "/etc/kubernetes/machineadm/admission.yaml"),
        ];
        let mut found = cluster(&[&before[..], &ours].concat(), &["machineadm-audit-log", "own"]);
        let mut wanted = files(&[], &[]);
        wanted.others.insert("disable-admission-plugins".into());
        merge_into(&wanted, &mut found);
        assert_eq!(found, cluster(&[before[2], before[3], before[4]], &["own"]));
    }

    #[test]
    fn what_an_operator_has_given_to_kubeadm_stays() {
        let own = [
            ("encryption-provider-config", "/etc/kubernetes/enc/enc.yaml"),
            ("audit-policy-file", "/etc/kubernetes/audit.yaml"),
            ("audit-log-maxage", "3"),
            ("enable-admission-plugins", "NodeRestriction,PodSecurity"),
        ];
        let mut found = cluster(&own, &["audit"]);
        merge_into(&files(&[("v", "2")], &[]), &mut found);
        assert_eq!(found, cluster(&[&own[..], &[("v", "2")]].concat(), &["audit"]));
        assert!(!is_encrypted_by_us(&found));
    }

    /// Admission plugins of an operator stay beside a file of the document; what else goes with a file is its own.
    #[test]
    fn a_second_merge_changes_nothing_beside_arguments_of_an_operator() {
        let own = [
            ("enable-admission-plugins", "NodeRestriction,AlwaysPullImages"),
            ("audit-policy-file", "/etc/kubernetes/audit.yaml"),
            ("audit-log-maxage", "3"),
        ];
        let ours = [
            ("audit-policy-file", "/etc/kubernetes/machineadm/audit-policy.yaml"),
            ("admission-control-config-file", "/etc/kubernetes/machineadm/admission.yaml"),
        ];
        let mut found = cluster(&own, &[]);
        for _ in 0..2 {
            merge_into(&files(&ours, &[]), &mut found);
            assert_eq!(found, cluster(&[own[0], ours[0], ours[1]], &[]));
        }
        // A further node whose manifest is from before has no edits of others.
        let before = |name: &str| own.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned());
        assert!(files(&ours, &[]).decides("audit-log-maxage", "3", &before));
    }

    /// Each argument that a document makes is known again as one of ours.
    #[test]
    fn every_argument_of_a_document_is_a_file_or_goes_with_one() {
        use documents::v1alpha1::CONTROL_PLANE_ARGUMENTS;
        let ours = |_: &str| Some(format!("{CONTROL_PLANE_FILES_DIRECTORY}/a"));
        let is_file = |name: &&str| name.ends_with("-file") || name.ends_with("-config");
        for name in CONTROL_PLANE_ARGUMENTS.iter().filter(|name| !is_file(name)) {
            let empty = files(&[], &[]);
            assert!(empty.makes(name, "3", &ours) && !empty.makes(name, "3", &|_| None), "{name}");
        }
    }
}
