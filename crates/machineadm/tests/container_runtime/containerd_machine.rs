//! ContainerdConfig on whole machines: Debian's own containerd is configured, restarted once and asked before anything is
//! replaced; and a pod gets its image through a registry mirror with its own CA.
use crate::support::registry_mirror::{MIRRORED, Mirror};
use std::path::Path;
use testbed::{
    Bed, Machine, Output, Profile, Result, Runtime, Software,
    packages::{CONTAINERD_1_6, REGISTRY},
    until,
};

const PROGRAM: &str = "/usr/bin/machineadm";
const FILE: &str = "/srv/node.yaml";
const CONFIG: &str = "/etc/containerd/config.toml";
const HEAD: &str =
    "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ContainerdConfig\nmetadata: {name: runtime}\n";

fn machine(bed: &Bed, profile: &Profile) -> Result<Machine> {
    let machine = bed.machine("node-7", profile)?;
    machine.copy_in(&machineadm_benches::machine_program().expect("the static program"), PROGRAM)?;
    Ok(machine)
}

fn machineadm(machine: &Machine, spec: &str, words: &[&str]) -> Result<Output> {
    machine.write(FILE, format!("{HEAD}spec:\n{spec}"), 0o600)?;
    machine.run(&[&[PROGRAM], words, &["-f", FILE]].concat())
}

/// Which start of containerd it is, by systemd.
fn start(machine: &Machine) -> Result<String> {
    machine.check(&["systemctl", "show", "--property=InvocationID", "--value", "containerd"])
}

/// What everybody sees and a run may change: containerd's files, and its start.
fn state(machine: &Machine) -> Result<(String, String)> {
    let files = "find /etc/containerd /etc/systemd/system/containerd.service.d /etc/machineadm/proxy -type f 2>/dev/null \
                 | sort | xargs sha256sum";
    Ok((machine.shell(files)?, start(machine)?))
}

/// Applies a document that is well, once and for all.
fn applied(machine: &Machine, spec: &str) -> Result<()> {
    let run = machineadm(machine, spec, &["bootstrap"])?;
    assert_eq!(run.code, 0, "{run:?}");
    let after = state(machine)?;
    let plan = machineadm(machine, spec, &["plan", "--exit-code"])?;
    assert_eq!(plan.code, 0, "{plan:?}");
    let again = machineadm(machine, spec, &["bootstrap"])?;
    assert!(again.code == 0 && again.stdout.contains("nothing to do"), "{again:?}");
    assert_eq!(state(machine)?, after, "a second run changes nothing");
    Ok(())
}

/// What the pages on tasks print is what machineadm prints on a machine with Debian's containerd.
fn the_pages_show_what_is_printed(machine: &Machine) -> Result<()> {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tasks");
    for page in ["registry-mirror.md", "proxy.md", "private-ca.md"] {
        let text = std::fs::read_to_string(pages.join(page)).expect("the page");
        let block = |fence: &str| {
            let rest = text.split_once(fence).unwrap_or_else(|| panic!("{page} has no {fence}")).1;
            rest.split_once("```").expect("its end").0.to_owned()
        };
        machine.write(FILE, block("```yaml\n"), 0o600)?;
        let plan = machine.run(&[PROGRAM, "plan", "--mode", "post", "-f", FILE])?;
        assert_eq!(plan.stdout + &plan.stderr, block(&format!("$ machineadm plan --mode post -f {FILE}\n")), "{page}");
    }
    Ok(())
}

#[test]
fn debians_containerd_is_edited_asked_and_restarted_once() -> Result<()> {
    testbed::needs!(Machines, Packages(&[&CONTAINERD_1_6]));
    let bed = Bed::new()?;
    let machine = machine(&bed, &Profile::default())?;
    machine.boot()?;
    machine.shell("systemctl start containerd")?;
    the_pages_show_what_is_printed(&machine)?;
    let debians = std::fs::read_to_string(CONTAINERD_1_6.file(CONFIG)?).expect("Debian's own file");
    let own = format!("# Ours.\n{debians}# The end.\n");
    machine.write(CONFIG, &own, 0o644)?;

    let spec = "  sandboxImage: registry.example.com/pause:3.10.2\n  registries:\n  - host: docker.io\n    mirrors:\n    \
                - url: https://mirror.example.com\n      headers: {x-token: s3cret-word}\n  proxy:\n    httpsProxy: \
                http://node:s3cret-word@proxy.example.com:3128\n";
    let before = state(&machine)?;
    let plan = machineadm(&machine, spec, &["plan"])?;
    for shown in ["~ /etc/containerd/config.toml", "+ /etc/containerd/certs.d/docker.io/hosts.toml", "↻ containerd"] {
        assert!(plan.stdout.contains(shown), "{shown}: {plan:?}");
    }
    assert!(!plan.stdout.contains("s3cret-word"), "{plan:?}");
    assert_eq!(state(&machine)?, before, "a plan changes nothing");

    applied(&machine, spec)?;
    let after = state(&machine)?;
    assert_ne!(after.1, before.1, "containerd was restarted");
    let config = machine.read(CONFIG)?;
    let mut lines = config.lines();
    assert!(
        own.lines().all(|line| lines.any(|other| other == line)),
        "Debian's settings and our comments stay: {config}"
    );
    let dump = machine.check(&["containerd", "config", "dump"])?;
    assert!(dump.contains("sandbox_image = \"registry.example.com/pause:3.10.2\""), "{dump}");
    assert!(dump.contains("config_path = \"/etc/containerd/certs.d\"") && dump.contains("bin_dir = \"/usr/lib/cni\""));
    let environment = "tr '\\0' '\\n' < /proc/$(systemctl show -p MainPID --value containerd)/environ";
    assert!(machine.shell(environment)?.contains("HTTPS_PROXY=http://node:s3cret-word@proxy.example.com:3128"));
    let mode = machine.check(&["stat", "--format=%a", "/etc/containerd/certs.d/docker.io/hosts.toml"])?;
    assert_eq!(mode.trim(), "600", "it has a header");

    // containerd reads hosts.toml at every pull.
    applied(&machine, &spec.replace("https://mirror", "https://other"))?;
    assert_eq!(start(&machine)?, after.1, "another mirror needs no restart");

    // containerd 1.6 ignores unknown keys with exit code 0, and replaces whole tables by those of imported files.
    let before = state(&machine)?;
    let unknown = "  extraConfig: |\n    [plugins.'io.containerd.grpc.v1.cri']\n    sandbox_imgae = 'x'\n";
    let refused = machineadm(&machine, unknown, &["bootstrap"])?;
    assert!(refused.code == 1 && refused.stderr.contains("containerd ignores plugins."), "{refused:?}");
    assert!(refused.stderr.contains("sandbox_imgae"), "{refused:?}");
    assert_eq!(state(&machine)?, before, "nothing was replaced");
    imports_are_followed(&machine)?;
    the_units_own_file_is_edited(&machine)?;
    bed.down()
}

/// A relative import is read where containerd would read it, and one that hides our table is refused.
fn imports_are_followed(machine: &Machine) -> Result<()> {
    let config = machine.read(CONFIG)?;
    machine.write(CONFIG, format!("imports = ['more/*.toml']\n{config}"), 0o644)?;
    machine.shell("mkdir /etc/containerd/more")?;
    machine.write("/etc/containerd/more/a.toml", "[debug]\nlevel = 'warn'\n", 0o644)?;
    let spec = "  sandboxImage: registry.example.com/pause:1\n";
    let plan = machineadm(machine, spec, &["plan", "--exit-code"])?;
    assert_eq!(plan.code, 3, "{plan:?}");
    let hiding = "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_selinux = false\n";
    machine.write("/etc/containerd/more/b.toml", hiding, 0o644)?;
    let plan = machineadm(machine, spec, &["plan"])?;
    assert!(plan.code == 1 && plan.stderr.contains("/etc/containerd/more/b.toml is imported by"), "{plan:?}");
    Ok(())
}

/// A file that the unit does not name would have no effect.
fn the_units_own_file_is_edited(machine: &Machine) -> Result<()> {
    let drop_in =
        "[Service]\nEnvironment=FILE=/etc/containerd/own.toml\nExecStart=\nExecStart=/usr/bin/containerd -c ${FILE}\n";
    machine.write("/etc/systemd/system/containerd.service.d/own.conf", drop_in, 0o644)?;
    machine.write("/etc/containerd/own.toml", "version = 2\n", 0o644)?;
    machine.shell("systemctl daemon-reload; systemctl restart containerd")?;
    let spec = "  sandboxImage: registry.example.com/pause:1\n";
    let plan = machineadm(machine, spec, &["plan"])?;
    assert!(plan.code == 1 && plan.stderr.contains("containerd.service reads /etc/containerd/own.toml"), "{plan:?}");
    applied(machine, &format!("{spec}  configPath: /etc/containerd/own.toml\n"))?;
    assert!(machine.read("/etc/containerd/own.toml")?.contains("registry.example.com/pause:1"));
    Ok(())
}

/// A pod of a kubelet without a cluster gets its image through a mirror that only its own CA and a client certificate
/// open; the registry that the image's name has does not exist.
fn a_pod_pulls_through_a_mirror(profile: &Profile, version: &str) -> Result<()> {
    let bed = Bed::new()?;
    let machine = machine(&bed, profile)?;
    let mirror = Mirror::new(&machine)?;
    machine.boot()?;
    assert!(machine.check(&["containerd", "--version"])?.contains(version));
    if profile.software == Software::Node(Runtime::Debian) {
        machine.import_images()?;
    }
    mirror.serve(&machine)?;
    let before = machine.read(CONFIG)?;
    applied(&machine, &mirror.spec())?;
    let config = machine.read(CONFIG)?;
    assert!(before.lines().all(|line| config.lines().any(|other| other == line)), "{config}");

    mirror.start_pod(&machine)?;
    let script = format!(
        "id=$(ctr -n k8s.io containers list | awk '$2 == \"{MIRRORED}\" {{print $1}}'); \
         ctr -n k8s.io tasks list | grep \"^$id .*RUNNING\""
    );
    until("the pod", crate::support::registry_mirror::LIMIT, || match machine.run(&["sh", "-c", &script]) {
        Ok(running) if running.code == 0 && !running.stdout.is_empty() => Ok(()),
        other => Err(format!(
            "{other:?}\n{}",
            machine.shell("journalctl -n 20 -u standalone --no-pager").unwrap_or_default()
        )),
    })?;
    let log = machine.journal(Some("registry"))?;
    assert!(log.contains("/v2/team/tools/manifests/v1?ns=registry.example.com"), "{log}");
    bed.down()
}

#[test]
fn a_pod_pulls_through_a_mirror_with_its_own_ca_on_containerd_2() -> Result<()> {
    testbed::needs!(Nodes, Packages(&[&REGISTRY]), Judge("openssl"));
    a_pod_pulls_through_a_mirror(&Profile::node(), "v2.4.2")
}

#[test]
#[ignore = "long tier: the same mirror with containerd 1.6"]
fn a_pod_pulls_through_a_mirror_with_its_own_ca_on_containerd_1_6() -> Result<()> {
    testbed::needs!(Nodes, Packages(&[&REGISTRY]), Judge("openssl"));
    let profile = Profile { software: Software::Node(Runtime::Debian), ..Profile::default() };
    a_pod_pulls_through_a_mirror(&profile, "1.6.20")
}
