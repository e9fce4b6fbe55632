//! The lifecycle stages on whole machines: an image is prepared, its clone becomes a node, and the node is maintained.
use serde_json::Value;
use std::time::Duration;
use testbed::{Bed, Machine, Output, Profile, Result, until};

const PROGRAM: &str = "/usr/bin/machineadm";
const FILE: &str = "/srv/node.yaml";
const SUCCESS: &str = "/run/cluster-api/bootstrap-success.complete";
/// What commands of the configuration leave, in the order in which they ran.
const COMMANDS_LOG: &str = "/var/lib/commands.log";
const DROP_IN: &str = "/etc/systemd/system/containerd.service.d/90-machineadm-proxy.conf";
/// Far more than any run here needs: what does not end fails the test instead of hanging it.
const HANGS: Duration = Duration::from_secs(900);

/// Documents that the node has from its image on, and that its operator deletes later.
const DELETED: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: KernelModulesConfig
metadata: {name: storage}
spec: {modules: [overlay]}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
metadata: {name: keepalive}
spec: {parameters: {net.ipv4.tcp_keepalive_time: 600}}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata: {name: example}
spec:
  files:
  - {path: /etc/replaced.conf, content: from a document, mode: '0600', owner: 'root:root'}
  - {path: /etc/created.conf, content: from a document}
  - {path: /etc/edited.conf, content: from a document}
  - {path: /etc/hosts, block: registry, content: 192.0.2.7 registry.example}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ProxyConfig
metadata: {name: outside}
spec: {httpProxy: 'http://proxy.example:3128', services: [containerd]}
---
";

const KEPT: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec: {parameters: {net.ipv4.ip_forward: 1}}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: CommandsConfig
metadata: {name: image}
spec:
  commands:
  - {name: visible, shell: 'echo visible >> /var/lib/commands.log; : > /etc/visible', creates: /etc/visible}
  - {name: invisible, shell: 'echo invisible >> /var/lib/commands.log'}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: InitConfig
spec:
  kubernetesVersion: v1.36.4
  podSubnets: [10.244.0.0/16]
  # Its one complaint on a host with control groups of version 1.
  toleratedChecks: [cgroups]
  kubelet:
    cgroupDriver: cgroupfs
    failCgroupV1: false
    evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
    imageGCHighThresholdPercent: 100
  kubeProxy:
    conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: CommandsConfig
metadata: {name: node}
spec:
  commands:
  - {name: joined, shell: 'echo joined >> /var/lib/commands.log'}
";

#[test]
fn a_clone_of_a_prepared_image_becomes_a_node_which_post_maintains_and_prune_cleans_up() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let image = bed.machine("image", &Profile::node())?;
    image.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    image.boot()?;
    is_prepared(&image)?;
    image.power_off()?;

    let node = bed.clone_of(&image, "node-7")?;
    node.boot()?;
    assert_ne!(node.read("/etc/machine-id")?, image.read("/etc/machine-id")?);
    becomes_a_node(&node)?;
    post_repeats_without_effect(&node)?;
    post_lists_what_deleted_documents_wrote(&node)?;
    prune_restores_what_was_there_before(&node)?;
    a_plan_ends_while_the_api_server_does_not_answer(&node)?;
    bed.down()
}

/// Prepares an image that has files of its own; what makes a node is left to the clone.
fn is_prepared(image: &Machine) -> Result<()> {
    image.shell("umask 077; echo from the image > /etc/replaced.conf; chmod 0640 /etc/replaced.conf")?;
    image.shell("chown daemon:adm /etc/replaced.conf")?;
    image.write(FILE, [DELETED, KEPT].concat(), 0o600)?;
    let run = machineadm(image, &["bootstrap", "--mode", "prepare", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(image.read(COMMANDS_LOG)?, "visible\ninvisible\n", "{run:?}");
    assert_eq!(image.read("/etc/replaced.conf")?, "from a document");
    assert!(image.read("/etc/hosts")?.contains("192.0.2.7 registry.example\n"));
    for absent in [SUCCESS, "/etc/kubernetes/admin.conf", "/var/lib/machineadm/configuration.yaml"] {
        assert_ne!(image.run(&["test", "-e", absent])?.code, 0, "prepare leaves {absent}");
    }
    let again = machineadm(image, &["bootstrap", "--mode", "prepare", "-f", FILE])?;
    assert!(again.code == 0 && again.stdout.contains("prepare done, nothing to do"), "{again:?}");
    Ok(())
}

/// What the clone shows is not done again; a command without a visible effect is, since the journal is another machine's.
fn becomes_a_node(node: &Machine) -> Result<()> {
    let run = machineadm(node, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    node.wait_for_nodes(&["node-7"])?;
    assert_eq!(node.read(SUCCESS)?, "success\n");
    assert_eq!(node.read(COMMANDS_LOG)?, "visible\ninvisible\ninvisible\njoined\n");
    let outcome = outcome(node)?;
    assert_eq!(steps(&outcome, "FilesConfig example"), Vec::<&str>::new());
    assert_eq!(steps(&outcome, "ProxyConfig outside"), Vec::<&str>::new());
    assert_eq!(steps(&outcome, "CommandsConfig image"), ["run image/invisible"]);
    assert_eq!(steps(&outcome, "InitConfig"), ["run kubeadm init"]);
    assert!(environment(node)?.contains("HTTP_PROXY=http://proxy.example:3128\n"));
    Ok(())
}

fn post_repeats_without_effect(node: &Machine) -> Result<()> {
    let state = || -> Result<_> { Ok((node.snapshot(&["/etc", "/var/lib/machineadm"])?, starts(node)?)) };
    let (files, services) = state()?;
    let commands = node.read(COMMANDS_LOG)?;
    for _ in 0..2 {
        let run = machineadm(node, &["bootstrap", "--mode", "post", "-f", FILE])?;
        assert!(run.code == 0 && run.stdout.contains("post done, nothing to do"), "{run:?}");
    }
    let (files_after, services_after) = state()?;
    assert_eq!(files.changes(&files_after), ["~ /var/lib/machineadm/outcome.json"]);
    assert_eq!(services, services_after, "a service was restarted");
    assert_eq!(node.read(COMMANDS_LOG)?, commands, "a command was run");
    Ok(())
}

fn post_lists_what_deleted_documents_wrote(node: &Machine) -> Result<()> {
    node.write("/etc/edited.conf", "from an operator", 0o644)?;
    node.write(FILE, KEPT, 0o600)?;
    let files = node.snapshot(&["/etc", "/var/lib/machineadm"])?;
    let plan = machineadm(node, &["plan", "--mode", "post", "-f", FILE, "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");
    for (what, document, fate) in [
        ("/etc/modules-load.d/90-machineadm-storage.conf", "KernelModulesConfig storage", "--prune deletes it"),
        ("/etc/sysctl.d/90-machineadm-keepalive.conf", "SysctlConfig keepalive", "--prune deletes it"),
        ("net.ipv4.tcp_keepalive_time", "SysctlConfig keepalive", "--prune sets its previous value"),
        ("/etc/replaced.conf", "FilesConfig example", "--prune restores what was there before"),
        ("/etc/created.conf", "FilesConfig example", "--prune deletes it"),
        ("/etc/edited.conf", "FilesConfig example", "it was changed since, so it stays"),
        ("/etc/hosts, block registry", "FilesConfig example", "--prune restores what was there before"),
        ("/etc/machineadm/proxy/outside.env", "ProxyConfig outside", "--prune deletes it"),
        (DROP_IN, "ProxyConfig outside", "--prune deletes it"),
    ] {
        let line = format!("{what} was written by {document}, and no document names it any more; {fate}\n");
        assert!(plan.stdout.contains(&line), "{line}{plan:?}");
    }
    assert_eq!(plan.stdout.matches("was written by").count(), 9, "{plan:?}");
    assert_eq!(files.changes(&node.snapshot(&["/etc", "/var/lib/machineadm"])?), Vec::<String>::new());
    Ok(())
}

fn prune_restores_what_was_there_before(node: &Machine) -> Result<()> {
    let hosts = node.read("/etc/hosts")?;
    let ([_, kubelet], containerd_starts) = (starts(node)?, started(node, "containerd")?);
    assert_eq!(node.shell("sysctl -n net.ipv4.tcp_keepalive_time")?, "600\n");
    let run = machineadm(node, &["bootstrap", "--mode", "post", "--prune", "-f", FILE])?;
    assert_eq!(run.code, 0, "{run:?}");
    files_are_as_before(node, &hosts)?;
    assert_eq!(node.shell("sysctl -n net.ipv4.tcp_keepalive_time")?, "7200\n", "the kernel's own default");
    assert_eq!(node.shell("sysctl -n net.ipv4.ip_forward")?, "1\n", "a document still names it");
    assert_eq!(started(node, "containerd")?, containerd_starts + 1);
    assert_eq!(starts(node)?[1], kubelet, "the kubelet was restarted");
    assert!(!environment(node)?.contains("HTTP_PROXY"));

    let status = node.check(&[PROGRAM, "status"])?;
    let stays = "/etc/edited.conf was written by FilesConfig example, and no document names it any more; it was changed \
                 since, so it stays\n";
    assert!(status.contains(stays), "{status}");
    for prune in [&[][..], &["--prune"]] {
        let plan = machineadm(node, &[&["plan", "--mode", "post", "-f", FILE, "--exit-code"], prune].concat())?;
        assert_eq!(plan.code, 0, "{plan:?}");
        assert!(plan.stdout.contains(stays) && plan.stdout.matches("was written by").count() == 1, "{plan:?}");
    }
    node.wait_for_nodes(&["node-7"])
}

/// What documents replaced is back with its owner and mode, what they created is gone, and what was edited stays.
fn files_are_as_before(node: &Machine, hosts: &str) -> Result<()> {
    assert_eq!(node.read("/etc/replaced.conf")?, "from the image\n");
    assert_eq!(node.check(&["stat", "-c", "%a %U:%G", "/etc/replaced.conf"])?, "640 daemon:adm\n");
    let block = "# BEGIN machineadm registry\n192.0.2.7 registry.example\n# END machineadm registry\n";
    assert!(hosts.contains(block), "{hosts}");
    assert_eq!(node.read("/etc/hosts")?, hosts.replace(block, ""));
    assert_eq!(node.read("/etc/edited.conf")?, "from an operator");
    for deleted in [
        "/etc/created.conf",
        "/etc/modules-load.d/90-machineadm-storage.conf",
        "/etc/sysctl.d/90-machineadm-keepalive.conf",
        "/etc/machineadm/proxy/outside.env",
        DROP_IN,
    ] {
        assert_ne!(node.run(&["test", "-e", deleted])?.code, 0, "{deleted} is still there");
    }
    Ok(())
}

/// A frozen API server accepts connections, and answers nothing.
fn a_plan_ends_while_the_api_server_does_not_answer(node: &Machine) -> Result<()> {
    node.shell("kill -STOP $(pgrep -x kube-apiserver)")?;
    let plan = machineadm(node, &["plan", "-f", FILE])?;
    node.shell("kill -CONT $(pgrep -x kube-apiserver)")?;
    assert_eq!(plan.code, 0, "{plan:?}");
    assert!(plan.stdout.contains("kubeadm init: could not ask the cluster: "), "{plan:?}");
    assert!(plan.stdout.contains("nothing to do"), "{plan:?}");
    until("the API server answers again", Duration::from_secs(60), || {
        node.kubectl(&["get", "--raw=/readyz"]).map_err(|error| error.to_string())
    })?;
    let plan = machineadm(node, &["plan", "-f", FILE])?;
    assert!(plan.code == 0 && !plan.stdout.contains("could not ask"), "{plan:?}");
    Ok(())
}

#[test]
fn a_run_ends_with_5_until_the_machine_has_rebooted() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let machine = bed.machine("node-7", &Profile::default())?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    machine.boot()?;
    let head = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: CommandsConfig";
    let command = "{name: kernel, shell: ': > /etc/new-kernel', creates: /etc/new-kernel, needsReboot: true}";
    machine.write(FILE, format!("{head}\nspec: {{commands: [{command}]}}\n"), 0o600)?;
    for run in ["first", "second"] {
        ends_with(&machine, 5, Some("a reboot is needed: kernel needs one"))?;
        assert_eq!(machine.read(SUCCESS)?, "success\n", "the {run} run did what was asked");
    }
    machine.power_off()?;
    machine.boot()?;
    ends_with(&machine, 0, None)?;

    machine.write("/run/reboot-required", "*** System restart required ***\n", 0o644)?;
    ends_with(&machine, 5, Some("a reboot is needed: /run/reboot-required exists"))?;
    machine.power_off()?;
    machine.boot()?;
    ends_with(&machine, 0, None)?;
    bed.down()
}

/// Bootstraps; the run, its outcome and the status agree on whether and why a reboot is needed.
#[track_caller]
fn ends_with(machine: &Machine, code: i32, reason: Option<&str>) -> Result<()> {
    let run = machineadm(machine, &["bootstrap", "-f", FILE])?;
    assert_eq!(run.code, code, "{run:?}");
    let status = machine.check(&[PROGRAM, "status"])?.to_lowercase();
    assert!(status.starts_with("node-7  succeeded"), "{status}");
    match reason {
        Some(reason) => assert!(run.stdout.contains(reason) && status.contains(reason), "{run:?}{status}"),
        None => assert!(!run.stdout.contains("reboot") && !status.contains("reboot"), "{run:?}{status}"),
    }
    Ok(())
}

fn machineadm(machine: &Machine, words: &[&str]) -> Result<Output> {
    machine.run_within(&[&[PROGRAM], words].concat(), HANGS)
}

fn outcome(machine: &Machine) -> Result<Value> {
    let status = machine.check(&[PROGRAM, "status", "-o", "json"])?;
    Ok(serde_json::from_str(&status).expect("the outcome is JSON"))
}

/// What a document's turn did.
fn steps<'a>(outcome: &'a Value, turn: &str) -> Vec<&'a str> {
    let turns = outcome["phases"].as_array().expect("the outcome lists its turns");
    let turn = turns.iter().find(|phase| phase["name"] == turn).expect("the turn is one of them");
    turn["steps"].as_array().into_iter().flatten().filter_map(|step| step["what"].as_str()).collect()
}

/// The present starts of containerd and the kubelet, as systemd names them.
fn starts(machine: &Machine) -> Result<[String; 2]> {
    let start = |service| machine.check(&["systemctl", "show", "--property=InvocationID", "--value", service]);
    Ok([start("containerd")?, start("kubelet")?])
}

/// How often systemd has started a service since the boot.
fn started(machine: &Machine, service: &str) -> Result<usize> {
    machine.check(&["journalctl", "--sync"])?;
    let journal = machine.check(&["journalctl", "--boot", "--unit", service, "--output=cat", "--no-pager"])?;
    Ok(journal.lines().filter(|line| line.starts_with(&format!("Started {service}.service"))).count())
}

/// What the running containerd has in its environment, as the kernel sees it.
fn environment(machine: &Machine) -> Result<String> {
    machine.shell("tr '\\0' '\\n' < /proc/$(systemctl show -p MainPID --value containerd)/environ")
}
