//! Why a new API server does not start: by the logs that the container runtime writes for each start of its container.
use crate::acts::kubeadm::reason_in;
use host::Inspect;
use objects::one_line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the kubelet has the logs of pods, in one directory for each: `NAMESPACE_NAME_UID`. The UID of a static pod is the
/// hash of its manifest.
const PODS: &str = "/var/log/pods";
const POD: &str = "kube-system_kube-apiserver-";
const CONTAINER: &str = "kube-apiserver";
/// As many starts are given to an API server: its first may have met an etcd that was busy.
const STARTS: u32 = 2;

/// The pods of the API server that were there before a change. The kubelet deletes the logs of a pod a minute or more after
/// the pod: what they report is no failure of the new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OldPods {
    /// The hashes of manifests that ran, which the new one does not have.
    pub(super) hashes: Vec<String>,
    /// How often the container of each pod had started, by the pod's directory. A change that was rolled back and is tried
    /// again has the hash that it had.
    starts: BTreeMap<String, u32>,
}

impl OldPods {
    /// The pods that have logs by now.
    pub(super) fn seen(host: &dyn Inspect, hashes: Vec<String>) -> Self {
        let starts = |pod: String| Some((last_log(host, &directory(&pod))?.saturating_add(1), pod));
        let starts = pods(host).filter_map(starts).map(|(starts, pod)| (pod, starts)).collect();
        Self { hashes, starts }
    }

    fn has(&self, pod: &str) -> bool {
        pod.rsplit_once('_').is_none_or(|(_, hash)| hash.is_empty() || self.hashes.iter().any(|old| old == hash))
    }
}

/// Why the API server of a new pod has ended twice; `None` while it may still become ready.
pub(super) fn failed_start(host: &dyn Inspect, old: &OldPods) -> Option<String> {
    let failure = |pod: String| failure_in(host, &directory(&pod), old.starts.get(&pod).copied().unwrap_or_default());
    pods(host).filter(|pod| !old.has(pod)).find_map(failure)
}

fn pods(host: &dyn Inspect) -> impl Iterator<Item = String> {
    host.names_in(PODS).ok().flatten().into_iter().flatten().filter(|name| name.starts_with(POD))
}

fn directory(pod: &str) -> String {
    format!("{PODS}/{pod}/{CONTAINER}")
}

/// Logs are `0.log`, `1.log` and so on; the kubelet deletes old ones.
fn last_log(host: &dyn Inspect, directory: &str) -> Option<u32> {
    let number = |name: &String| name.strip_suffix(".log")?.parse::<u32>().ok();
    host.names_in(directory).ok().flatten()?.iter().filter_map(number).max()
}

fn failure_in(host: &dyn Inspect, directory: &str, earlier: u32) -> Option<String> {
    let last = last_log(host, directory)?;
    let reason = |number: u32| reason(&log(host, directory, number)?);
    let last_reason = reason(last);
    let ended = last.saturating_add(u32::from(last_reason.is_some())).saturating_sub(earlier);
    if ended < STARTS {
        return None;
    }
    let reason = last_reason.or_else(|| reason(last.checked_sub(1)?));
    let reason = reason.unwrap_or_else(|| format!("its log is in {directory}"));
    Some(format!("it has ended {ended} times: {reason}"))
}

fn log(host: &dyn Inspect, directory: &str, number: u32) -> Option<String> {
    let file = host.file(&format!("{directory}/{number}.log")).ok().flatten()?;
    Some(String::from_utf8_lossy(file.contents.expose()).into_owned())
}

/// What ended it, by the last line that reports it.
fn reason(log: &str) -> Option<String> {
    log.lines().rev().find_map(reason_in).map(|reason| one_line(&reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use documents::Secret;
    use host::{FileState, Memory};

    fn machine(logs: &[(&str, &str)]) -> Memory {
        let mut host = Memory::default();
        for (path, text) in logs {
            let contents = Secret::new(text.as_bytes().to_vec());
            let file = FileState { contents, mode: 0o640, uid: 0, gid: 0 };
            host.files.insert(format!("{PODS}/{POD}cp1_{path}"), file);
        }
        host
    }

    const FAILURE: &str = "2026-11-17T10:00:00Z stderr F I1117 1 options.go:1] starting\n\
        2026-11-17T10:00:01Z stderr F E1117 1 run.go:72] \"command failed\" err=\"unknown flag \\\"x\\\"\"\n";

    #[test]
    fn two_ended_starts_of_another_pod_are_a_failure_with_its_reason() {
        let reason = Some("it has ended 2 times: unknown flag \"x\"".to_owned());
        for logs in [
            &[("new/kube-apiserver/1.log", FAILURE)][..],
            &[("new/kube-apiserver/1.log", FAILURE), ("new/kube-apiserver/2.log", "starting\n")],
            &[("old/kube-apiserver/7.log", FAILURE), ("new/kube-apiserver/1.log", FAILURE)],
        ] {
            assert_eq!(failed_start(&machine(logs), &old()), reason, "{logs:?}");
        }
    }

    #[test]
    fn a_first_start_and_the_pod_before_are_none() {
        for logs in [
            &[][..],
            &[("new/kube-apiserver/0.log", FAILURE)],
            &[("new/kube-apiserver/1.log", "starting\n")],
            &[("old/kube-apiserver/7.log", FAILURE)],
            &[("new/etcd/7.log", FAILURE)],
        ] {
            assert_eq!(failed_start(&machine(logs), &old()), None, "{logs:?}");
        }
    }

    fn old() -> OldPods {
        OldPods::seen(&Memory::default(), vec!["old".to_owned()])
    }

    #[test]
    fn logs_from_before_a_change_are_no_failure_of_it() {
        let before = machine(&[("older/kube-apiserver/3.log", "ended\n"), ("tried/kube-apiserver/1.log", FAILURE)]);
        let old = OldPods::seen(&before, vec!["old".to_owned()]);
        assert_eq!(failed_start(&before, &old), None);
        // The manifest that was rolled back is tried again.
        let once = machine(&[("tried/kube-apiserver/2.log", FAILURE)]);
        assert_eq!(failed_start(&once, &old), None);
        let twice = machine(&[("tried/kube-apiserver/3.log", FAILURE)]);
        assert_eq!(failed_start(&twice, &old), Some("it has ended 2 times: unknown flag \"x\"".to_owned()));
    }

    #[test]
    fn without_a_reason_the_log_is_named() {
        let host = machine(&[("new/kube-apiserver/2.log", "panic\n")]);
        let expected = format!("it has ended 2 times: its log is in {PODS}/{POD}cp1_new/kube-apiserver");
        assert_eq!(failed_start(&host, &old()), Some(expected));
    }
}
