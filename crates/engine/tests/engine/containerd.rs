//! ContainerdConfig on a machine in memory, whose containerd takes up everything unless a test says otherwise.
use crate::support::{changes, file, fresh, left, look, run, run_pruning, text_of, turn, wanted};
use host::{Memory, Service};
use machineadm_engine::{Mode, Wanted};

const CONFIG: &str = "/etc/containerd/config.toml";
const HOSTS: &str = "/etc/containerd/certs.d/docker.io/hosts.toml";
const DUMP: &str = "containerd -c /dev/stdin config dump";
/// What a distribution has, with registries as they were configured before hosts.toml.
const OLD: &str = "# the distribution's own\nversion = 2\n\n\
[plugins.'io.containerd.grpc.v1.cri'.cni]\n  bin_dir = '/usr/lib/cni' # Debian\n\
[plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'quay.io']\n  endpoint = ['https://quay.example']\n";

fn document(spec: &str) -> Wanted {
    wanted(&[("ContainerdConfig", "", spec)])
}

fn mirror(url: &str) -> Wanted {
    document(&format!("{{registries: [{{host: docker.io, mirrors: [{{url: '{url}'}}]}}], cgroupDriver: systemd}}"))
}

fn old() -> Memory {
    let mut host = fresh();
    host.files.insert(CONFIG.into(), file(OLD));
    host
}

/// Why a plan is refused; nothing has changed.
fn refused(wanted: &Wanted, host: &Memory) -> String {
    let failure = look(Mode::Provision, wanted, host).expect_err("it is refused");
    let mut same = host.clone();
    run(Mode::Provision, wanted, &mut same).expect_err("a run is refused too");
    assert_eq!(same.files.get(CONFIG), host.files.get(CONFIG));
    failure.cause.to_string()
}

#[test]
fn hosts_come_before_the_configuration_and_one_restart_after_it() {
    let mut host = old();
    let done = changes(Mode::Provision, &mirror("https://mirror.example"), &mut host);
    let quay = "/etc/containerd/certs.d/quay.io/hosts.toml";
    let order: Vec<usize> = [quay, HOSTS, CONFIG, "restart"]
        .iter()
        .map(|what| done.iter().position(|change| change.contains(what)).unwrap_or_else(|| panic!("{what}: {done:?}")))
        .collect();
    assert_eq!(order, [0, 1, 2, 3], "{done:?}");
    assert_eq!(host.log, ["restart containerd"]);
    let config = text_of(&host, CONFIG);
    assert!(config.starts_with("# the distribution's own\nversion = 2\n") && config.contains("# Debian"), "{config}");
    assert!(config.contains("SystemdCgroup = true") && !config.contains("mirrors"), "{config}");
    assert!(text_of(&host, quay).contains("https://quay.example"));

    // Again: nothing. Another mirror: no restart, since containerd reads hosts.toml at every pull.
    assert_eq!(changes(Mode::Provision, &mirror("https://mirror.example"), &mut host), [""; 0]);
    let done = changes(Mode::Post, &mirror("https://other.example"), &mut host);
    assert!(done.len() == 1 && done[0].contains(HOSTS), "{done:?}");
    assert_eq!(host.log, ["restart containerd"]);
}

#[test]
fn power_lost_after_any_change_leaves_a_machine_that_the_next_run_finishes() {
    let wanted = document(
        "{registries: [{host: docker.io, mirrors: [{url: 'https://mirror.example'}]}], \
         proxy: {httpProxy: 'http://p:1'}}",
    );
    let mut whole = old();
    run(Mode::Provision, &wanted, &mut whole).expect("it succeeds");
    for power in 0.. {
        let mut host = old();
        host.power = Some(power);
        let ended = run(Mode::Provision, &wanted, &mut host);
        host.power = None;
        run(Mode::Provision, &wanted, &mut host).expect("the next run finishes");
        assert_eq!(left(&host).files.get(CONFIG), whole.files.get(CONFIG), "power for {power} changes");
        assert_eq!(left(&host).files.get(HOSTS), whole.files.get(HOSTS), "power for {power} changes");
        assert!(!host.log.is_empty() && changes(Mode::Provision, &wanted, &mut host).is_empty());
        if ended.is_ok() {
            assert!(power > 4, "only {power} changes");
            return;
        }
    }
}

#[test]
fn what_containerd_does_not_take_up_is_refused_before_anything_is_replaced() {
    let mut host = old();
    host.echoing.clear();
    host.outputs.insert(DUMP.into(), "version = 3\n".into());
    let why = refused(&document("{sandboxImage: a/pause:1, cgroupDriver: systemd}"), &host);
    assert!(why.contains("spec.sandboxImage: containerd ignores") && why.contains("spec.cgroupDriver"), "{why}");
}

#[test]
fn a_machine_without_containerd_and_an_unknown_version_are_refused() {
    let mut host = fresh();
    host.outputs.insert("containerd --version".into(), "containerd c v1.5.0 x\n".into());
    assert!(refused(&mirror("https://m"), &host).contains("containerd 1.5 is not supported"));
    host.outputs.remove("containerd --version");
    assert!(refused(&mirror("https://m"), &host).contains("containerd: is not installed"));
}

#[test]
fn a_containerd_that_an_earlier_document_installs_is_known_after_it() {
    let install = "{location: 'https://files.example', programs: {containerd: {source: c.tar.gz, \
                   sha256: '0000000000000000000000000000000000000000000000000000000000000000'}}}";
    let wanted = wanted(&[
        ("ProgramsConfig", "programs", install),
        ("ContainerdConfig", "runtime", "{sandboxImage: a/pause:1}"),
    ]);
    // Whether another one is there or not.
    let mut host = fresh();
    for _ in 0..2 {
        let preview = look(Mode::Provision, &wanted, &host).expect("a plan");
        let planned = turn(&preview, "ContainerdConfig runtime");
        let after = planned.known_after.as_ref().map(ToString::to_string);
        assert_eq!((after.as_deref(), planned.steps.len()), (Some("ProgramsConfig programs"), 0), "{planned:?}");
        host.outputs.remove("containerd --version");
    }
}

#[test]
fn the_data_root_stays_where_images_are() {
    let wanted = document("{dataRoot: /data/containerd}");
    let mut host = old();
    let blob = "/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256/00";
    host.files.insert(blob.into(), file("layer"));
    let why = refused(&wanted, &host);
    assert!(why.starts_with("spec.dataRoot: cannot be changed to /data/containerd: /var/lib/containerd has images"));
    host.files.remove(blob);
    run(Mode::Provision, &wanted, &mut host).expect("there is nothing to lose");
    assert!(text_of(&host, CONFIG).contains("root = \"/data/containerd\"\n"));
    // The new one is where images are now.
    host.files.insert(blob.replace("/var/lib", "/data"), file("layer"));
    assert_eq!(changes(Mode::Post, &wanted, &mut host), [""; 0]);
    assert!(refused(&document("{dataRoot: /other}"), &host).contains("/data/containerd has images"));
}

#[test]
fn a_proxy_alone_leaves_the_configuration_alone() {
    let mut host = fresh();
    let wanted = document("{proxy: {httpsProxy: 'http://u:s3cret@p:1', noProxy: [a]}}");
    run(Mode::Provision, &wanted, &mut host).expect("it succeeds");
    assert!(!host.files.contains_key(CONFIG));
    assert!(text_of(&host, "/etc/machineadm/proxy/containerd.env").contains("HTTPS_PROXY=\"http://u:s3cret@p:1\"\n"));
    assert_eq!(host.files["/etc/machineadm/proxy/containerd.env"].mode, 0o600);
    assert_eq!(host.log, ["restart containerd"]);
}

#[test]
fn a_pruned_document_restores_the_configuration_and_a_converted_registry_is_not_stale_before() {
    let mut host = old();
    let wanted = mirror("https://mirror.example");
    run(Mode::Provision, &wanted, &mut host).expect("it succeeds");
    let before = host.files.clone();
    run_pruning(&wanted, &mut host).expect("nothing is stale");
    assert_eq!(
        host.files.get("/etc/containerd/certs.d/quay.io/hosts.toml"),
        before.get("/etc/containerd/certs.d/quay.io/hosts.toml")
    );
    let other = crate::support::wanted(&[("FilesConfig", "", "{files: [{path: /etc/motd, content: x}]}")]);
    run_pruning(&other, &mut host).expect("it succeeds");
    assert_eq!(text_of(&host, CONFIG), OLD);
    assert!(!host.files.contains_key(HOSTS));
    assert_eq!(host.log, ["restart containerd", "restart containerd"]);
}

#[test]
fn below_a_root_containerd_is_left_for_the_running_machine() {
    let mut host = Memory { live: false, ..old() };
    let preview = look(Mode::Provision, &mirror("https://m"), &host).expect("a plan");
    assert_eq!(preview.changes(), 0);
    assert_eq!(host::Inspect::service(&host, "containerd").expect("a state"), Service::Unmanaged);
    run(Mode::Provision, &mirror("https://m"), &mut host).expect("nothing to do");
    assert_eq!(text_of(&host, CONFIG), OLD);
}
