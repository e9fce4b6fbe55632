//! What a ControlPlaneConfig makes of the API server: files on the machine, and arguments and volumes in the cluster's
//! configuration, from which kubeadm renders the manifest of every control plane node.
use crate::{Wanted, phases::cluster_settings::mount};
use documents::{
    AnyDocument,
    v1alpha1::{
        self, CONTROL_PLANE_ARGUMENTS, CONTROL_PLANE_FILES_DIRECTORY, CONTROL_PLANE_VOLUME_PREFIX, ControlPlane,
        ControlPlaneFile, Volume,
    },
};
use host::contract::CONTROL_PLANE_DIR;
use kubeadm::hub::{Arg, ClusterConfiguration, HostPathMount};
use std::collections::BTreeSet;

/// The argument that kubeadm sets, and the one that replaces it.
const AUTHORIZATION_MODE: &str = "authorization-mode";
const AUTHORIZATION_CONFIG: &str = "authorization-config";

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
    let is_wanted = |name: &str| files.arguments.iter().any(|(wanted, _)| wanted == name);
    let is_stale = |arg: &Arg| is_ours(arg) && !is_wanted(&arg.name) && !files.others.contains(&arg.name);
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
    /// it. With a file for authorization kubeadm leaves out its own argument.
    pub(crate) fn decides(&self, name: &str, value: &str) -> bool {
        let arg = Arg { name: name.to_owned(), value: value.to_owned(), merge_method: None };
        let has = |wanted: &str| self.arguments.iter().any(|(name, _)| name == wanted);
        has(name) || name == AUTHORIZATION_MODE && has(AUTHORIZATION_CONFIG) || is_ours(&arg)
    }
}

/// A volume as kubeadm stores it: without `readOnly` where that is false.
fn stored_mount(volume: &Volume) -> HostPathMount {
    HostPathMount { read_only: volume.read_only.then_some(true), ..mount(volume) }
}

/// Whether an argument in kubeadm-config comes from a ControlPlaneConfig: one of its members makes it, or it names a file
/// of its directory.
fn is_ours(arg: &Arg) -> bool {
    let is_file = arg.value.strip_prefix(CONTROL_PLANE_FILES_DIRECTORY).is_some_and(|rest| rest.starts_with('/'));
    is_file || CONTROL_PLANE_ARGUMENTS.contains(&arg.name.as_str())
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
            ("enable-admission-plugins", "A"),
            ("tls-min-version", "VersionTLS13"),
            ("x", "/etc/kubernetes/machineadm-other/a"),
        ];
        let mut found = cluster(&before, &["machineadm-audit-log", "own"]);
        let mut wanted = files(&[], &[]);
        wanted.others.insert("enable-admission-plugins".into());
        merge_into(&wanted, &mut found);
        assert_eq!(found, cluster(&[before[2], before[3], before[4]], &["own"]));
    }
}
