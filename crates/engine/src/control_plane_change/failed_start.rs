//! Why a new API server does not start: by the logs that the container runtime writes for each start of its container.
use host::Inspect;
use objects::one_line;

/// Where the kubelet has the logs of pods, in one directory for each: `NAMESPACE_NAME_UID`. The UID of a static pod is the
/// hash of its manifest.
const PODS: &str = "/var/log/pods";
const POD: &str = "kube-system_kube-apiserver-";
const CONTAINER: &str = "kube-apiserver";
/// How kube-apiserver logs what ended it.
const ENDED: &str = "\"command failed\" err=";
/// As many starts are given to an API server: its first may have met an etcd that was busy.
const STARTS: u32 = 2;

/// Why the API server of a pod other than this one has ended twice; `None` while it may still become ready.
pub(super) fn failed_start(host: &dyn Inspect, old_hash: &str) -> Option<String> {
    let pods = host.names_in(PODS).ok().flatten()?;
    let is_new = |name: &&String| {
        name.starts_with(POD) && name.rsplit_once('_').is_some_and(|(_, hash)| !hash.is_empty() && hash != old_hash)
    };
    pods.iter().filter(is_new).find_map(|pod| failure_in(host, &format!("{PODS}/{pod}/{CONTAINER}")))
}

/// Logs are `0.log`, `1.log` and so on; the kubelet deletes old ones.
fn failure_in(host: &dyn Inspect, directory: &str) -> Option<String> {
    let names = host.names_in(directory).ok().flatten()?;
    let number = |name: &String| name.strip_suffix(".log")?.parse::<u32>().ok();
    let last = names.iter().filter_map(number).max()?;
    let reason = |number: u32| reason(&log(host, directory, number)?);
    let last_reason = reason(last);
    let ended = last + u32::from(last_reason.is_some());
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
    let (_, quoted) = log.lines().rev().find_map(|line| line.split_once(ENDED))?;
    let quoted = quoted.trim();
    let text = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    Some(one_line(&text.replace("\\\"", "\"").replace("\\n", " ")))
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
            assert_eq!(failed_start(&machine(logs), "old"), reason, "{logs:?}");
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
            assert_eq!(failed_start(&machine(logs), "old"), None, "{logs:?}");
        }
    }

    #[test]
    fn without_a_reason_the_log_is_named() {
        let host = machine(&[("new/kube-apiserver/2.log", "panic\n")]);
        let expected = format!("it has ended 2 times: its log is in {PODS}/{POD}cp1_new/kube-apiserver");
        assert_eq!(failed_start(&host, "old"), Some(expected));
    }
}
