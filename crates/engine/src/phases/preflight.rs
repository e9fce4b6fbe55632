//! Whether the machine is fit to become a node: everything that is not, at once, before kubeadm is let loose.
use super::{BEFORE, init};
use crate::{Known, Phase, PlanError, Planned, Wanted};
use documents::v1alpha1;
use host::{Effect, Inspect, Progress};

pub(crate) const NAME: &str = "preflight";

/// The ports of a control plane: API server, etcd, kubelet, controller-manager, scheduler.
const PORTS: [u16; 6] = [6443, 2379, 2380, 10250, 10257, 10259];
const FORWARDING: &str = "net/ipv4/ip_forward";

pub(crate) struct Preflight;

impl Phase for Preflight {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "checks that the machine is fit to become a node, and lists everything that is not"
    }

    fn plan(&self, machine: &Wanted, known: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let Some(wanted) = &machine.init else { return Ok(Planned::default()) };
        if waits_for_commands(machine, known, seen)? {
            return Ok(Planned { known_after: Some(BEFORE.name()), ..Planned::default() });
        }
        let problems = problems(machine, wanted, seen)?;
        if problems.is_empty() { Ok(Planned::default()) } else { Err(PlanError::Unfit(problems)) }
    }
}

/// Commands that are still to run may install or start what would be found missing now.
pub(super) fn waits_for_commands(machine: &Wanted, known: &Known, seen: &dyn Inspect) -> Result<bool, PlanError> {
    Ok(!known.is_through(BEFORE.name()) && !BEFORE.plan(machine, known, seen)?.steps.is_empty())
}

fn problems(machine: &Wanted, wanted: &v1alpha1::Init, seen: &dyn Inspect) -> Result<Vec<String>, PlanError> {
    if !seen.live() {
        return Ok(vec!["a cluster can't be begun below --root: only the running system becomes a node".into()]);
    }
    let mut problems = Vec::new();
    problems.extend(kubeadm_problem(wanted, seen)?);
    if !seen.exists(&wanted.runtime_socket)? {
        problems.push(format!("the container runtime does not run: there is no {}", wanted.runtime_socket));
    }
    let asked_for = machine.parameters.iter().any(|parameter| parameter.path == FORWARDING && parameter.value == "1");
    if !asked_for && seen.sysctl(FORWARDING)?.as_deref() != Some("1") {
        problems.push("net.ipv4.ip_forward is not 1: ask for it with a SysctlConfig".into());
    }
    // What is there of our own, whole or half, listens already.
    let act = init::act(wanted)?;
    if seen.progress(&act)? == Progress::New && seen.effect(&act)? == Effect::Absent {
        for port in PORTS {
            if seen.listens(port)? {
                problems.push(format!("port {port} is taken by another program"));
            }
        }
    }
    Ok(problems)
}

fn kubeadm_problem(wanted: &v1alpha1::Init, seen: &dyn Inspect) -> Result<Option<String>, PlanError> {
    let Some(found) = seen.kubeadm()? else { return Ok(Some("there is no kubeadm".into())) };
    let minor = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let other = minor(&found) != minor(&wanted.kubernetes_version);
    let problem = || format!("kubeadm is {found}, but the cluster shall be {}", wanted.kubernetes_version);
    Ok(other.then(problem))
}
