//! kubeadm as a program: how it is started, and what its output reports of a failure.
use super::proxy_variables::Variables;
use crate::World;
use documents::{Secret, v1alpha1::NodeTimeouts};
use host::{Call, Error, Inspect, Program};
use std::time::Duration;

/// The name under which it is started and reported.
pub(crate) const NAME: &str = "kubeadm";
/// How long it may take; it has limits of its own for each of its phases.
const WITHIN: Duration = Duration::from_secs(20 * 60);
/// Stands before a phase that failed, in every version of kubeadm.
const FAILED_PHASE: &str = "error execution phase ";
/// A check of kubeadm's preflight that failed.
const FAILED_CHECK: &str = "[ERROR ";
/// How programs of Kubernetes log what ended them.
const ENDED: &str = "\"command failed\" err=";
/// What was taken from the kubelet's log begins with this.
const KUBELET_LOG: &str = "kubelet: ";
/// The end of the kubelet's log.
const LOG: [&str; 8] = ["journalctl", "--unit", "kubelet", "--no-pager", "--output", "cat", "--lines", "12"];
const LOG_WITHIN: Duration = Duration::from_secs(10);

/// A call of kubeadm, with the variables that are its alone.
pub(crate) fn program(argv: &[&str], environment: &Variables, within: Duration) -> Program {
    let words = std::iter::once(NAME).chain(argv.iter().copied());
    let call = Call::Argv(words.map(str::to_owned).collect());
    Program { name: NAME.into(), call, environment: environment.clone(), within }
}

/// How long kubeadm may take. Never less than what a document grants its phases: a limit of ours that ends kubeadm before
/// its own does would leave a node half made.
pub(crate) fn within(timeouts: &NodeTimeouts) -> Duration {
    let NodeTimeouts { kubelet, control_plane, certificate, etcd: _ } = *timeouts;
    [kubelet, control_plane, certificate].into_iter().flatten().fold(WITHIN, Duration::saturating_add)
}

/// Runs kubeadm. Where it failed because of the kubelet, the end of the kubelet's log follows its own output: there is
/// the reason.
pub(crate) fn run(program: &Program, world: &mut World<'_>) -> host::Result<()> {
    world.host.run(program).map_err(|error| with_kubelet_log(error, world.host))
}

fn with_kubelet_log(error: Error, host: &dyn Inspect) -> Error {
    let Error::Program { program, how, output } = error else { return error };
    let failure = KubeadmFailure::read(output.expose());
    if !failure.is_some_and(|failure| failure.is_for_the_kubelet()) {
        return Error::Program { program, how, output };
    }
    // The failure of kubeadm counts, whether or not the log can be read.
    let log = host.output(&LOG, LOG_WITHIN).ok().flatten().unwrap_or_default();
    let lines = log.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("\n{KUBELET_LOG}{line}"));
    let output = Secret::new(output.expose().trim_end().to_owned() + &lines.collect::<String>());
    Error::Program { program, how, output }
}

/// What kubeadm's output reports of its failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KubeadmFailure {
    /// The phase that failed, by the name of this kubeadm.
    pub(crate) phase: Option<String>,
    /// Why, in one line.
    pub(crate) reason: String,
    /// The checks of its preflight that failed, by the names of this kubeadm.
    pub(crate) checks: Vec<String>,
    /// What ended the kubelet, if it did not start.
    pub(crate) kubelet: Option<String>,
}

impl KubeadmFailure {
    /// Reads it from an output whose secrets are removed.
    pub(crate) fn read(output: &str) -> Option<Self> {
        let (phase, mut reason) = match output.rfind(FAILED_PHASE) {
            Some(at) => {
                let text = &output[at + FAILED_PHASE.len()..];
                let (phase, rest) = text.split_once(':').unwrap_or((text, ""));
                let is_name = phase.bytes().all(|byte| byte.is_ascii_lowercase() || b"/-".contains(&byte));
                (is_name.then(|| phase.to_owned()), rest.lines().next().unwrap_or_default().trim().to_owned())
            }
            None => (None, last_error(output)?),
        };
        let checks: Vec<&str> = output.lines().filter_map(|line| line.trim().strip_prefix(FAILED_CHECK)).collect();
        if !checks.is_empty() {
            reason = checks.iter().map(|check| check.replacen("]:", ":", 1)).collect::<Vec<_>>().join("; ");
        }
        let checks = checks.iter().filter_map(|check| Some(check.split_once("]:")?.0.to_owned())).collect();
        let kubelet = kubelet_reason(output);
        if let Some(kubelet) = &kubelet {
            reason = format!("the kubelet does not start: {kubelet}");
        }
        Some(Self { phase, reason, checks, kubelet })
    }

    /// Whether kubeadm waited for the kubelet in vain. In other phases the log of the kubelet tells of other things: what
    /// ended it before it had its configuration.
    fn is_for_the_kubelet(&self) -> bool {
        self.phase.as_deref().is_some_and(|phase| phase.contains("kubelet") || phase.contains("wait"))
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> &'static str {
        match self.phase.as_deref() {
            Some("preflight") => "correct what kubeadm reports, then run: machineadm bootstrap",
            Some(_) if self.is_for_the_kubelet() => {
                "check the kubelet: journalctl -u kubelet; then run: machineadm bootstrap"
            }
            _ => "read the end of kubeadm's output: machineadm status; then run: machineadm bootstrap",
        }
    }
}

/// The last line that reports an error.
fn last_error(output: &str) -> Option<String> {
    let text = output.lines().rev().find_map(|line| line.trim().strip_prefix("error: "))?;
    Some(text.to_owned())
}

/// What ended the kubelet, by the last line of its log that reports it.
fn kubelet_reason(output: &str) -> Option<String> {
    let logged = output.lines().filter_map(|line| line.strip_prefix(KUBELET_LOG));
    logged.rev().find_map(reason_in)
}

/// What ended a program of Kubernetes, by a line of its log that reports it.
pub(crate) fn reason_in(line: &str) -> Option<String> {
    let (_, quoted) = line.split_once(ENDED)?;
    let quoted = quoted.trim();
    let text = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted);
    Some(text.replace("\\\"", "\"").replace("\\n", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(output: &str) -> (Option<String>, String) {
        let KubeadmFailure { phase, reason, .. } = KubeadmFailure::read(output).unwrap();
        (phase, reason)
    }

    #[test]
    fn the_failing_phase_and_every_failed_check_are_found_in_outputs_of_old_and_new_kubeadms() {
        let new = "[preflight] Running pre-flight checks\n[preflight] Some fatal errors occurred:\n\
            \t[ERROR Port-10250]: Port 10250 is in use\n\t[ERROR Swap]: running with swap on is not supported\n\
            error: error execution phase preflight: preflight checks failed\n\
            To see the stack trace of this error execute with --v=5 or higher\n";
        let old = "error execution phase preflight: [preflight] Some fatal errors occurred:\n\
            \t[ERROR Port-10250]: Port 10250 is in use\n\t[ERROR Swap]: running with swap on is not supported\n\
            [preflight] If you know what you are doing, you can make a check non-fatal with `x`\n";
        let wanted = "Port-10250: Port 10250 is in use; Swap: running with swap on is not supported";
        for output in [new, old] {
            assert_eq!(read(output), (Some("preflight".to_owned()), wanted.to_owned()));
        }
    }

    #[test]
    fn the_kubelets_own_reason_counts_more_than_kubeadms() {
        let kubeadm = "[kubelet-check] The kubelet is not healthy after 4m0s\n\
            error: error execution phase kubelet-start: failed to start the kubelet: context deadline exceeded\n";
        let plain = "failed to start the kubelet: context deadline exceeded";
        assert_eq!(read(kubeadm), (Some("kubelet-start".to_owned()), plain.to_owned()));
        let log = "kubelet: I1117 10:00:00.1 1 server.go:1] \"Started\"\n\
            kubelet: E1117 10:00:00.2 1 run.go:72] \"command failed\" err=\"failed to parse \\\"x\\\": no such file\"\n";
        let (phase, reason) = read(&format!("{kubeadm}{log}"));
        assert_eq!(phase.as_deref(), Some("kubelet-start"));
        assert_eq!(reason, "the kubelet does not start: failed to parse \"x\": no such file");
    }

    #[test]
    fn a_failure_of_another_phase_is_not_for_the_kubelet() {
        let phases = ["preflight", "kubelet-start", "kubelet-wait-bootstrap", "wait-control-plane", "check-etcd"];
        let is_for_the_kubelet = |phase| {
            let output = format!("cgroups of the kubelet\nerror: error execution phase {phase}: x");
            KubeadmFailure::read(&output).unwrap().is_for_the_kubelet()
        };
        assert_eq!(phases.map(is_for_the_kubelet), [false, true, true, true, false]);
    }

    #[test]
    fn an_output_without_a_phase_gives_its_last_error_or_nothing() {
        assert_eq!(read("error: unknown flag: --x\n"), (None, "unknown flag: --x".to_owned()));
        assert_eq!(KubeadmFailure::read("[init] Using Kubernetes version: v1.36.4\n"), None);
        // What is no name of a phase is not reported as one.
        assert_eq!(read("error execution phase A b: c\n"), (None, "c".to_owned()));
    }
}
