//! Where the data of this machine's etcd is, and whether there is any.
use crate::{
    EtcdAccess, EtcdPod,
    before_kubeadm::{BeforeKubeadm, ResetProgress},
    etcd_access::MANIFEST,
};
use host::{Host, Inspect, PathState};
use kubeadm::hub::LocalEtcd;

/// Where kubeadm has etcd's data unless it is told otherwise.
pub(crate) const DATA: &str = "/var/lib/etcd";

/// The argument of etcd that replaces the directory of its settings.
const ARGUMENT: &str = "data-dir";

/// Where kubeadm will have it, by the etcd of a ClusterConfiguration.
pub(crate) fn configured(etcd: Option<&LocalEtcd>) -> String {
    let argument = etcd.and_then(|etcd| etcd.extra_args.iter().rev().find(|argument| argument.name == ARGUMENT));
    let directory = argument.map(|argument| &argument.value).or_else(|| etcd?.data_dir.as_ref());
    directory.filter(|path| !path.is_empty()).cloned().unwrap_or_else(|| DATA.to_owned())
}

/// Remembers, before kubeadm is started, where it will have etcd's data: a manifest that a power cut has emptied does not
/// name it.
pub(crate) fn record(directory: &str, host: &mut dyn Host) -> host::Result<()> {
    let Some(mut record) = BeforeKubeadm::read(host)?.filter(|record| record.is_recorded) else { return Ok(()) };
    let directory = directory.trim_end_matches('/');
    if directory == record.etcd_data.as_deref().unwrap_or(DATA) {
        return Ok(());
    }
    record.add(directory.to_owned(), host)?;
    record.etcd_data = Some(directory.to_owned());
    record.write(host)
}

/// Where it is by the manifest, else where kubeadm was told to have it.
pub(crate) fn directory(host: &dyn Inspect) -> host::Result<String> {
    if let Some(pod) = EtcdPod::on(host)? {
        return Ok(pod.data_directory);
    }
    Ok(BeforeKubeadm::read(host)?.and_then(|record| record.etcd_data).unwrap_or_else(|| DATA.to_owned()))
}

/// Where data is that an undo deletes: by the manifest, also by one that cannot be read, or by the record of an undo that has
/// deleted the manifest. Data of an etcd that kubeadm did not set up is nobody's here.
pub(crate) fn of_kubeadm(host: &dyn Inspect) -> host::Result<Option<String>> {
    match BeforeKubeadm::read(host)?.and_then(|record| record.reset) {
        Some(ResetProgress::Deleting { etcd_data, .. }) => Ok(etcd_data),
        _ if host.exists(MANIFEST)? => directory(host).map(Some),
        _ => Ok(None),
    }
}

/// Whether etcd has written data into a directory.
pub(crate) fn is_in(directory: &str, host: &dyn Inspect) -> host::Result<bool> {
    Ok(host.state_at(&member(directory))? != PathState::Absent)
}

/// Whether this machine has data of an etcd that kubeadm has set up. The manifest may have been moved away, which stops
/// etcd; its client certificate then shows that there was one.
pub(crate) fn is_here(certificates: &str, host: &dyn Inspect) -> host::Result<bool> {
    let is_of_kubeadm = host.exists(MANIFEST)? || EtcdAccess::on(host, certificates)?.is_some();
    if is_of_kubeadm { is_in(&directory(host)?, host) } else { Ok(false) }
}

/// etcd's own directory: what else an operator has beside it stays.
pub(crate) fn member(directory: &str) -> String {
    format!("{}/member", directory.trim_end_matches('/'))
}
