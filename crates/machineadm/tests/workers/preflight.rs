//! Preflight on a whole machine: what spoils a real one is reported with its cause, before kubeadm runs.
use std::time::Duration;
use testbed::{Bed, Machine, Output, Profile, Result, Runtime, Software, until};

const PROGRAM: &str = "/usr/bin/machineadm";
const DOCUMENTS: &str = "/srv/node.yaml";
const LIMIT: Duration = Duration::from_secs(120);

/// A control plane on a host with control groups of version 1, whose disk may be fuller than the kubelet likes.
const INIT: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec:
  parameters: {net.ipv4.ip_forward: 1}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: v1.36.4
  imagePull: Never
  kubelet:
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {nodefs.available: 1%, imagefs.available: 1%}
";

/// One way to spoil the machine: how, how it is put right, and a part of the problem.
struct Fault {
    spoil: &'static str,
    mend: &'static str,
    problem: &'static str,
}

/// The swap area is a fake: a file with a row that the kernel would show.
const FAULTS: [Fault; 6] = [
    // A runtime that is only stopped would be started before these checks.
    Fault {
        spoil: "systemctl mask --runtime --now containerd",
        mend: "systemctl unmask --runtime containerd; systemctl start containerd",
        problem: "the container runtime does not answer: ",
    },
    Fault {
        spoil: "systemd-run --quiet --unit=taken python3 -m http.server 10250; \
                until ss -ltn | grep -q ':10250 '; do sleep 0.05; done",
        mend: "systemctl stop taken",
        problem: "port 10250 is in use by another program",
    },
    Fault {
        spoil: "printf 'Filename Type Size Used Priority\\n/fake-swap file 1024 0 -2\\n' > /srv/fake-swaps; \
                mount --bind /srv/fake-swaps /proc/swaps",
        mend: "umount /proc/swaps",
        problem: "swap is on (/fake-swap)",
    },
    Fault {
        spoil: "mount -t tmpfs -o size=100m tmpfs /var/lib/etcd",
        mend: "umount /var/lib/etcd",
        problem: "the file system of /var/lib/etcd has 100 MiB free",
    },
    Fault {
        spoil: "ctr -n k8s.io images tag registry.k8s.io/coredns/coredns:v1.14.2 example.com/kept:1 && \
                ctr -n k8s.io images rm --sync registry.k8s.io/coredns/coredns:v1.14.2",
        mend: "ctr -n k8s.io images tag example.com/kept:1 registry.k8s.io/coredns/coredns:v1.14.2",
        problem: "the image registry.k8s.io/coredns/coredns:v1.14.2 is missing, and imagePull is Never",
    },
    Fault {
        spoil: "unit=$(systemctl show -P FragmentPath kubelet); systemctl stop kubelet; mv $unit /srv/kubelet.service; \
                echo $unit > /srv/where; systemctl daemon-reload",
        mend: "mv /srv/kubelet.service $(cat /srv/where); systemctl daemon-reload",
        problem: "the unit kubelet.service does not exist",
    },
];

/// A kubelet for another machine; alone, since without its version others cannot be judged.
const BROKEN: Fault = Fault {
    spoil: "kubelet=$(command -v kubelet); mv $kubelet /srv/kubelet; echo $kubelet > /srv/where; printf '\\177ELF' > $kubelet; \
            chmod +x $kubelet",
    mend: "mv /srv/kubelet $(cat /srv/where)",
    problem: "the kubelet does not print its version: cannot run kubelet: Exec format error",
};

#[test]
fn what_spoils_a_machine_is_reported_before_kubeadm_runs() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = bed.machine("pf", &Profile::node())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    machine.write(DOCUMENTS, INIT, 0o600)?;
    is_fit(&machine)?;

    for Fault { spoil, mend, problem } in FAULTS.iter().chain([&BROKEN]) {
        machine.shell(spoil)?;
        let plan = until(problem, LIMIT, || match plan(&machine) {
            Ok(plan) if plan.stderr.contains(problem) => Ok(plan),
            other => Err(format!("{other:?}")),
        })?;
        assert_eq!((plan.code, problems(&plan.stderr)), (1, 1), "{plan:?}");
        machine.shell(mend)?;
        is_fit(&machine)?;
    }

    // All at once, in a run; the first of them cannot be told from others that follow from it.
    for Fault { spoil, .. } in &FAULTS[1..] {
        machine.shell(spoil)?;
    }
    until("a run that reports every problem", LIMIT, || match machine.run_within(&bootstrap(), LIMIT) {
        Ok(ran) if ran.code == 1 && FAULTS[1..].iter().all(|fault| ran.stderr.contains(fault.problem)) => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    let status = machine.run(&[PROGRAM, "status"])?;
    assert!(status.stdout.starts_with("pf  FAILED at preflight"), "{status:?}");
    let lines = status.stdout.lines().filter(|line| FAULTS.iter().any(|fault| line.trim().starts_with(fault.problem)));
    assert_eq!(lines.count(), FAULTS.len() - 1, "each on a line of its own: {status:?}");
    let failure = machine.read("/run/cluster-api/bootstrap-failure.json")?;
    assert!(failure.contains("\"phase\":\"preflight\"") && failure.contains("swap is on"), "{failure}");
    assert_ne!(machine.run(&["test", "-e", "/etc/kubernetes/manifests/etcd.yaml"])?.code, 0, "kubeadm did not run");

    for Fault { mend, .. } in &FAULTS[1..] {
        machine.shell(mend)?;
    }
    is_fit(&machine)?;
    bed.down()
}

/// Debian's containerd 1.6 has no RuntimeConfig and tells its sandbox image, which is not there before images are imported.
#[test]
#[ignore = "long tier: containerd 1.6"]
fn an_older_containerd_is_asked_as_well() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = bed.machine("pf", &Profile { software: Software::Node(Runtime::Debian), ..Profile::default() })?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    machine.write(DOCUMENTS, INIT, 0o600)?;
    let missing = plan(&machine)?;
    assert!(missing.code == 1 && missing.stderr.contains("kube-apiserver:v1.36.4 is missing"), "{missing:?}");
    machine.write(DOCUMENTS, INIT.replace("imagePull: Never", "imagePull: IfNotPresent"), 0o600)?;
    let plan = plan(&machine)?;
    assert!(plan.code == 0 && plan.stdout.contains("runtime: the container runtime containerd 1.6"), "{plan:?}");
    bed.down()
}

fn bootstrap() -> [&'static str; 4] {
    [PROGRAM, "bootstrap", "-f", DOCUMENTS]
}

fn plan(machine: &Machine) -> Result<Output> {
    machine.run_within(&[PROGRAM, "plan", "-f", DOCUMENTS], LIMIT)
}

/// Nothing is refused.
fn is_fit(machine: &Machine) -> Result<()> {
    let plan = until("a machine that is fit", LIMIT, || match plan(machine) {
        Ok(plan) if plan.code == 0 => Ok(plan),
        other => Err(format!("{other:?}")),
    })?;
    assert!(plan.stdout.contains("17 checks, all pass"), "{plan:?}");
    Ok(())
}

/// How many problems a plan lists.
fn problems(stderr: &str) -> usize {
    stderr.lines().filter(|line| !line.trim().is_empty()).count()
}
