//! An image without machineadm, without any program of a node and with a read-only /usr, on whole machines: user data
//! fetches machineadm, a ProgramsConfig the rest; what is tampered with is refused, what is interrupted is resumed.
use crate::support::cluster::{Authority, LIMIT, TOKEN, control_plane, ends_well};
use crate::support::worker::{nothing_is_left, worker};
use base64::{Engine, prelude::BASE64_STANDARD};
use host::contract::{DELIVERED, DOWNLOADS_DIR, FAILURE, SUCCESS};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{fs, path::Path, process::Command};
use testbed::{
    Bed, Machine, Profile, Result,
    neighbours::FileServer,
    programs::{CONTAINERD, KUBERNETES},
    until,
};

const CLOUD_INIT_FETCH: &str = include_str!("../../../../examples/cloud-init-fetch.yaml");
const INSTALLED: &str = "/opt/bin/machineadm";
const UNIT: &str = "machineadm.service";
/// What a machine in systemd-nspawn lacks for Kubernetes; those of the test bed that are nodes have it.
const TESTBED_UNIT: &str = include_str!("../../../../testbed/files/testbed-machine.service");
/// Makes /usr read-only before anything of cloud-init or machineadm runs.
const READ_ONLY_UNIT: &str = "\
[Unit]
DefaultDependencies=no
Before=sysinit.target cloud-init-local.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mount --bind /usr /usr
ExecStart=/bin/mount -o remount,bind,ro /usr
[Install]
WantedBy=sysinit.target
";

fn sum(bytes: &[u8]) -> String {
    objects::hex::encode(&Sha256::digest(bytes))
}

fn machineadm() -> Vec<u8> {
    fs::read(machineadm_benches::machine_program().expect("the static program")).expect("a program")
}

/// The user data of the examples with these documents, for these bytes of machineadm.
fn user_data(server: &FileServer, documents: &str, program: &[u8]) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let (head, rest) = CLOUD_INIT_FETCH.split_once("  content: |\n").expect("a file");
    let (_, rest) = rest.split_once("- path: /etc/machineadm/fetch\n").expect("the script");
    let text = format!("{head}  content: |\n{}- path: /etc/machineadm/fetch\n{rest}", indented(documents));
    let line = |name: &str| {
        let start = format!("    {name}=");
        text.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{name}")).to_owned()
    };
    let text = text.replace(&line("location"), &format!("    location={}", server.url("/machineadm")));
    let text = text.replace(&line("sha256"), &format!("    sha256={}", sum(program)));
    let ca = "- path: /etc/machineadm/fetch-ca.crt\n  permissions: '0644'\n  content: |\n";
    text.replace("runcmd:\n", &format!("{ca}{}runcmd:\n", indented(server.authority())))
}

/// A program and its SHA-256, at a path of the server.
fn source(server: &FileServer, name: &str, bytes: Vec<u8>) -> String {
    let source = format!("{{source: {name}, sha256: '{}'}}", sum(&bytes));
    server.put(&format!("/programs/{name}"), bytes);
    source
}

fn programs_config(server: &FileServer, spec: &str) -> String {
    let authority = server.authority().replace('\n', "\n    ");
    let location = server.url("/programs/");
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ProgramsConfig\nmetadata: {{name: node}}\nspec:\n  \
         location: {location}\n  certificateAuthority: |\n    {authority}\n{spec}---\n"
    )
}

/// A compressed archive of what is in a directory.
fn archive(directory: &Path, names: &[&str]) -> Vec<u8> {
    let packed = Command::new("tar").arg("-C").arg(directory).args(["-cz", "--dereference"]).args(names).output();
    let packed = packed.expect("tar runs");
    assert!(packed.status.success(), "{packed:?}");
    packed.stdout
}

/// The programs and images of a worker as a ProgramsConfig; what Debian has comes from a machine.
fn everything(server: &FileServer, debian: &Machine) -> Result<String> {
    let folder = tempfile::tempdir().expect("a directory");
    let out = |from: &str, name: &str| -> Result<Vec<u8>> {
        let to = folder.path().join(name);
        debian.copy_out(from, &to)?;
        Ok(if to.is_dir() { Vec::new() } else { fs::read(to).expect("a file") })
    };
    let kubernetes = KUBERNETES.ensure()?;
    let read = |path: &Path| fs::read(path).expect("a program");
    let containerd = CONTAINERD.ensure()?;
    fs::create_dir(folder.path().join("bin")).expect("a directory");
    for name in ["containerd", "containerd-shim-runc-v2", "ctr"] {
        fs::copy(containerd.path(name), folder.path().join("bin").join(name)).expect("a program");
    }
    out("/usr/lib/cni", "cni")?;
    let spec = format!(
        "  programs:\n    kubeadm: {}\n    kubelet: {}\n    runc: {}\n    containerd: {}\n    cniPlugins: {}\n  \
         images:\n    files:\n    - {}\n    - {}\n",
        source(server, "kubeadm", read(&kubernetes.path("kubeadm"))),
        source(server, "kubelet", read(&kubernetes.path("kubelet"))),
        source(server, "runc", out("/usr/sbin/runc", "runc")?),
        source(server, "containerd.tar.gz", archive(folder.path(), &["bin"])),
        source(server, "cni.tgz", archive(&folder.path().join("cni"), &["./bridge", "./host-local", "./portmap"])),
        source(server, "pause.tar", out("/opt/images/pause_3.10.2.tar", "pause.tar")?),
        source(server, "kube-proxy.tar", out("/opt/images/kube-proxy_v1.36.4.tar", "kube-proxy.tar")?),
    );
    Ok(programs_config(server, &spec))
}

/// Its containerd, as the hosts of the test bed need it.
fn containerd_config() -> String {
    let text = include_str!("../../../../testbed/files/containerd-2.toml").replace("/usr/lib/cni", "/opt/cni/bin");
    let content = text.replace('\n', "\n      ");
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\nspec:\n  files:\n  - path: \
         /etc/containerd/config.toml\n    content: |\n      {content}\n---\n"
    )
}

/// The JoinConfig with values that only the machine knows.
fn with_instance_values(join: &str) -> String {
    let kubelet = "kubelet: {maxPods: 42";
    assert!(join.contains(kubelet), "{join}");
    let values = "nodeName: '{{ ds.meta_data.local_hostname }}'\n  nodeAddresses: ['{{ machine.address }}']";
    join.replace(kubelet, &format!("{values}\n  {kubelet}, providerID: 'testbed:///{{{{ v1.instance_id }}}}'"))
}

/// A new machine with Debian's base and nothing of a node.
fn bare(bed: &Bed, name: &str, profile: &Profile) -> Result<Machine> {
    let machine = bed.machine(name, profile)?;
    machine.shell(
        "rm -rf /usr/bin/containerd* /usr/bin/ctr /usr/sbin/runc /usr/lib/cni /usr/lib/systemd/system/containerd.service \
         /etc/systemd/system/multi-user.target.wants/containerd.service /etc/containerd; \
         mkdir -p /usr/lib/modules; \
         ! command -v containerd; ! command -v kubeadm; ! command -v machineadm",
    )?;
    Ok(machine)
}

fn add_unit(machine: &Machine, name: &str, text: &str, wanted_by: &str) -> Result<()> {
    machine.write(&format!("/etc/systemd/system/{name}"), text, 0o644)?;
    let wants = format!("/etc/systemd/system/{wanted_by}.wants");
    machine.shell(&format!("mkdir -p {wants} && ln -sf ../{name} {wants}/{name}")).map(drop)
}

fn has(machine: &Machine, path: &str) -> Result<bool> {
    Ok(machine.run(&["test", "-e", path])?.code == 0)
}

fn awaited(machine: &Machine, what: &str, script: &str) -> Result<String> {
    until(&format!("{}: {what}", machine.name()), LIMIT, || machine.shell(script).map_err(|error| error.to_string()))
}

#[test]
fn a_bare_image_with_a_read_only_usr_becomes_a_node_from_user_data_and_is_back_after_a_reboot() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let server = bed.file_server()?;
    let program = machineadm();
    let first = crate::support::cluster::with_program(bed.machine("cp", &Profile::node())?)?;
    first.boot()?;
    let join = with_instance_values(&worker(&format!("{}:6443", first.address()), &ca));
    let documents = format!("{}{}{join}", containerd_config(), everything(&server, &first)?);
    server.put("/machineadm", program.clone());
    let profile = Profile::default().with_user_data(&user_data(&server, &documents, &program));
    let node = bare(&bed, "w1", &profile)?;
    add_unit(&node, "testbed-machine.service", TESTBED_UNIT, "multi-user.target")?;
    add_unit(&node, "read-only-usr.service", READ_ONLY_UNIT, "sysinit.target")?;
    node.power_on()?;

    first.write(DELIVERED, control_plane(&ca), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    first.check(&[
        crate::support::cluster::PROGRAM,
        "token",
        "create",
        TOKEN,
        "--kubeconfig",
        "/etc/kubernetes/admin.conf",
    ])?;
    first.wait_for_nodes(&["cp", "w1"])?;
    awaited(&node, "the unit's success", &format!("systemctl is-active {UNIT} && test -e {SUCCESS}"))?;
    nothing_is_left(&node)?;
    assert_ne!(node.run(&["touch", "/usr/file"])?.code, 0, "/usr is read-only");
    let programs = node.shell("cd /opt/bin && stat -c '%n %a %U' * && readlink -f /proc/$(pgrep -x kubelet)/exe")?;
    for line in ["containerd 755 root", "kubeadm 755 root", "kubelet 755 root", "runc 755 root", "/opt/bin/kubelet"] {
        assert!(programs.lines().any(|found| found == line), "{line}: {programs}");
    }
    assert_eq!(node.shell(&format!("ls -A {DOWNLOADS_DIR}"))?, "", "no draft is left");
    node.write("/srv/node.yaml", &documents, 0o600)?;
    let plan = node.run(&[INSTALLED, "plan", "-f", "/srv/node.yaml", "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");
    let found = first.kubectl_json(&["get", "node", "w1"])?;
    assert_eq!(found["spec"]["providerID"], "testbed:///w1", "cloud-init's instance id: {found}");
    assert_eq!(found["status"]["addresses"][0]["address"], node.address().to_string(), "{found}");
    // Only what was imported can run: there is no registry.
    let running = "get pods -A --field-selector spec.nodeName=w1,status.phase=Running -o name";
    until("kube-proxy on w1", LIMIT, || match first.kubectl(&running.split(' ').collect::<Vec<_>>()) {
        Ok(pods) if pods.contains("kube-proxy") => Ok(()),
        other => Err(format!("{other:?}")),
    })?;

    let boot =
        || -> Result<String> { first.kubectl(&["get", "node", "w1", "-o", "jsonpath={.status.nodeInfo.bootID}"]) };
    let before = boot()?;
    node.power_off()?;
    node.boot()?;
    until("w1's kubelet after the reboot", LIMIT, || match boot() {
        Ok(now) if now != before => Ok(()),
        other => Err(format!("{other:?}")),
    })?;
    first.wait_for_nodes(&["cp", "w1"])?;
    let condition = node.check(&["systemctl", "show", "--property=ActiveState,ConditionResult", UNIT])?;
    assert_eq!(condition, "ActiveState=inactive\nConditionResult=no\n", "not after a success");
    bed.down()
}

/// The Ignition config of the examples for these bytes of machineadm, with a document that changes a file.
fn ignition_config(server: &FileServer, document: &str, program: &[u8]) -> String {
    let data = |text: &str| format!("data:;base64,{}", BASE64_STANDARD.encode(text));
    let mut config: serde_json::Value =
        serde_json::from_str(include_str!("../../../../examples/ignition-fetch.json")).expect("JSON");
    config["ignition"]["security"]["tls"]["certificateAuthorities"] = json!([{"source": data(server.authority())}]);
    let files = &mut config["storage"]["files"];
    files[0]["contents"]["source"] = json!(data(document));
    files[1]["contents"]["source"] = json!(server.url_by_address("/machineadm"));
    files[1]["contents"]["verification"]["hash"] = json!(format!("sha256-{}", sum(program)));
    config.to_string()
}

#[test]
fn ignition_installs_only_the_machineadm_that_the_user_data_names() -> Result<()> {
    testbed::needs!(Machines, Judge("ignition"));
    let bed = Bed::new()?;
    let server = bed.file_server()?;
    let program = machineadm();
    let document = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\nspec:\n  files:\n  - {path: \
                    /etc/motd, content: Managed by machineadm.}\n";
    let config = ignition_config(&server, document, &program);
    let [(what, bytes), ..] = exchanged(&program);
    server.put("/machineadm", bytes);
    let refused = bed.machine("m1", &Profile::default())?;
    let error = refused.ignite(&config).expect_err(what).to_string();
    assert!(error.contains(&sum(&program)), "{error}");
    assert!(!has(&refused, INSTALLED)? && !has(&refused, "/opt/bin/machineadm.part")?);
    server.put("/machineadm", program);
    let machine = bed.machine("m2", &Profile::default())?;
    machine.ignite(&config)?;
    machine.boot()?;
    awaited(&machine, "the unit's success", &format!("systemctl is-active {UNIT} && test -e {SUCCESS}"))?;
    assert_eq!(machine.read("/etc/motd")?, "Managed by machineadm.");
    assert_eq!(machine.shell(&format!("stat -c '%a %U' {INSTALLED}"))?, "755 root\n");
    bed.down()
}

/// A program that tells when it is executed.
fn telltale(words: &str) -> Vec<u8> {
    format!("#!/bin/sh\ntouch /srv/executed\n# {words}\n{}\n", "x".repeat(2 << 20)).into_bytes()
}

/// What a server may send in place of a program: one byte is another, the end is missing, it is another program.
fn exchanged(program: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let mut tampered = program.to_vec();
    tampered[program.len() / 2] ^= 1;
    [
        ("tampered", tampered),
        ("truncated", program[..program.len() / 2].to_vec()),
        ("exchanged", telltale("another program")),
    ]
}

/// Starts the unit again, however often it has failed.
fn restarted(machine: &Machine) -> Result<testbed::Output> {
    machine.check(&["systemctl", "reset-failed", UNIT])?;
    machine.run(&["systemctl", "restart", UNIT])
}

#[test]
fn a_tampered_truncated_or_exchanged_program_is_refused_and_nothing_of_it_is_left_or_executed() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let server = bed.file_server()?;
    let program = machineadm();
    let wanted = telltale("kubeadm");
    let document = programs_config(
        &server,
        &format!("  programs:\n    kubeadm: {}\n", source(&server, "kubeadm", wanted.clone())),
    );
    let [first, others @ ..] = exchanged(&program);
    server.put("/machineadm", first.1);
    let user_data = user_data(&server, &document, &program);
    let machine = bare(&bed, "m1", &Profile::default().with_user_data(&user_data))?;
    // The script takes Python's client then; the other test has curl.
    machine.shell("rm /usr/bin/curl")?;
    machine.boot()?;
    let is_refused = |what: &str| -> Result<()> {
        assert_eq!(machine.shell("ls -A /opt/bin")?, "", "{what}");
        assert!(!has(&machine, "/srv/executed")? && !has(&machine, "/var/lib/machineadm")?, "{what}");
        let mark = machine.read(FAILURE)?;
        assert!(mark.contains("\"phase\":\"fetch\"") && mark.contains(&sum(&program)), "{what}: {mark}");
        assert_eq!(machine.shell(&format!("stat -c %a {FAILURE}"))?, "600\n");
        assert_eq!(machine.run(&["systemctl", "is-failed", UNIT])?.stdout, "failed\n", "{what}");
        assert!(machine.journal(Some(UNIT))?.contains("machineadm cannot be installed"), "{what}");
        Ok(())
    };
    awaited(&machine, "a failed unit", &format!("systemctl is-failed {UNIT} && cloud-init status --wait || true"))?;
    is_refused(first.0)?;
    let status = machine.run(&["cloud-init", "status", "--wait"])?;
    assert!(status.stdout.contains("error"), "cloud-init reports it: {status:?}");
    for (what, bytes) in others {
        server.put("/machineadm", bytes);
        assert_ne!(restarted(&machine)?.code, 0, "{what}");
        is_refused(what)?;
    }

    // The right one is taken, and finds the same faults in the program that its document names.
    server.put("/machineadm", program);
    let installed = |what: &str| -> Result<String> {
        assert_ne!(restarted(&machine)?.code, 0, "{what}");
        assert_eq!(machine.shell("ls -A /opt/bin")?, "machineadm\n", "{what}");
        assert_eq!(machine.shell(&format!("ls -A {DOWNLOADS_DIR}"))?, "", "{what}");
        assert!(!has(&machine, "/srv/executed")?, "{what}");
        machine
            .check(&[INSTALLED, "status", "-o", "json"])
            .or_else(|_| machine.read("/var/lib/machineadm/outcome.json"))
    };
    for (what, bytes) in exchanged(&wanted) {
        server.put("/programs/kubeadm", bytes.clone());
        let outcome = installed(what)?;
        assert!(outcome.contains(&sum(&bytes)) && outcome.contains(&sum(&wanted)), "{what}: {outcome}");
    }

    // A download that is killed goes on where it stopped.
    let half = wanted.len() / 2;
    server.put("/programs/kubeadm", wanted.clone());
    server.hold("/programs/kubeadm", half);
    let draft = format!("{DOWNLOADS_DIR}/{}", sum(&wanted));
    machine.shell(&format!("systemctl reset-failed {UNIT}; systemctl restart --no-block {UNIT}"))?;
    let killed = format!("[ \"$(stat -c %s {draft})\" = {half} ] && pkill -KILL -x machineadm");
    awaited(&machine, "half of the file", &killed)?;
    assert!(!has(&machine, "/opt/bin/kubeadm")?);
    server.release("/programs/kubeadm");
    // The unit starts it again.
    awaited(&machine, "success", &format!("test -e {SUCCESS}"))?;
    assert_eq!(server.ranges(), [format!("bytes={half}-")]);
    assert_eq!(machine.shell("sha256sum /opt/bin/kubeadm")?, format!("{}  /opt/bin/kubeadm\n", sum(&wanted)));
    assert!(has(&machine, SUCCESS)? && !has(&machine, FAILURE)? && !has(&machine, "/srv/executed")?);
    bed.down()
}
