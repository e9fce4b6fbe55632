//! The measure for everything else: a cluster made by kubeadm alone, on our machines.
use std::time::{Duration, Instant};
use testbed::kubeadm::{self, Part};
use testbed::{Bed, Machine, Profile, Result, TOOLS_IMAGE, traces, until};

#[test]
#[ignore = "long tier: the measure for everything else, kubeadm without machineadm, through a power cut of all machines"]
fn bare_kubeadm_makes_a_cluster_that_resolves_names_and_survives_power_off_of_all() -> Result<()> {
    testbed::needs!(Nodes);
    let before = traces::host_settings();
    let bed = Bed::new()?;
    let times = Times::start();
    let names = ["cp1", "cp2", "w1"];
    let machines = all(&names, |name| {
        let machine = bed.machine(name, &Profile::node())?;
        machine.boot()?;
        Ok(machine)
    })?;
    let [first, second, worker] = &machines[..] else { unreachable!("three machines") };
    times.print("three machines booted");

    let invitation = kubeadm::init(first)?;
    times.print("kubeadm init done");
    first.wait_for_nodes(&["cp1"])?;
    times.print("first node Ready");
    kubeadm::join(worker, &invitation, Part::Worker)?;
    times.print("worker joined");
    kubeadm::join(second, &invitation, Part::ControlPlane)?;
    times.print("second control plane joined");
    first.wait_for_nodes(&names)?;
    times.print("all nodes Ready");
    first.wait_for_deployment("kube-system", "coredns")?;
    times.print("CoreDNS Ready");
    assert_eq!(lookup(first, "before")?, "10.96.0.1");
    times.print("a pod resolved a Service's name");

    all(&names, |name| machine(&machines, name).power_off())?;
    times.print("all off");
    all(&names, |name| machine(&machines, name).boot())?;
    times.print("all booted again");
    second.wait_for_nodes(&names)?;
    times.print("all nodes Ready again");
    second.wait_for_deployment("kube-system", "coredns")?;
    times.print("CoreDNS Ready again");
    assert_eq!(lookup(second, "after")?, "10.96.0.1");
    times.print("a pod resolved a Service's name again");

    let traces = bed.traces()?;
    bed.down()?;
    assert_eq!(traces.found()?, Vec::<String>::new(), "nothing is left");
    let after = traces::host_settings();
    let changed: Vec<_> = before.iter().filter(|(path, value)| after.get(*path) != Some(value)).collect();
    assert!(changed.is_empty(), "settings of the host changed: {changed:?}");
    Ok(())
}

/// Runs a pod that asks for the API server's name, and gives what it printed.
fn lookup(control_plane: &Machine, pod: &str) -> Result<String> {
    let name = "kubernetes.default.svc.cluster.local";
    let image = format!("--image={TOOLS_IMAGE}");
    // Right after a boot the API server may still be settling.
    until("a pod made", Duration::from_secs(300), || {
        let made = control_plane.kubectl(&[
            "run",
            pod,
            &image,
            "--restart=OnFailure",
            "--command",
            "--",
            "/probe",
            "lookup",
            name,
        ]);
        made.map_err(|error| error.to_string())
    })?;
    until(&format!("the end of pod {pod}"), Duration::from_secs(300), || {
        let found = control_plane.kubectl_json(&["get", "pod", pod]).map_err(|error| error.to_string())?;
        if found["status"]["phase"] == "Succeeded" { Ok(()) } else { Err(found["status"].to_string()) }
    })?;
    Ok(control_plane.kubectl(&["logs", pod])?.trim().to_owned())
}

/// Does the same with all machines at once.
fn all<T: Send>(names: &[&str], act: impl Fn(&str) -> Result<T> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = names.iter().map(|name| scope.spawn(|| act(name))).collect();
        running.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn machine<'a>(machines: &'a [Machine], name: &str) -> &'a Machine {
    machines.iter().find(|machine| machine.name() == name).expect("a machine of this name")
}

/// Prints when each step was done, for comparison with later runs.
struct Times(Instant);

impl Times {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn print(&self, what: &str) {
        println!("bare kubeadm: {:6.1} s  {what}", self.0.elapsed().as_secs_f64());
    }
}
