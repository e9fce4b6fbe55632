//! Proposals over small configurations: what is set, converted, refused, and what a dump must show.
use machineadm_containerd::{
    CERTS_DIR, CONVERTED, Capability, CgroupDriver, ImportedFile, Mirror, Printed, Problem, Proposal, Registry,
    Runtime, Seen, Settings, Upstream, Version, data_root, missing, propose,
};
use std::collections::BTreeSet;

const OLD: Version = Version { major: 1, minor: 6 };
const NEW: Version = Version { major: 2, minor: 4 };
const PATH: &str = "/etc/containerd/config.toml";

fn proposed(settings: &Settings, version: Version, config: &str) -> Result<Proposal, Vec<Problem>> {
    let hosts = BTreeSet::from(["taken.example".to_owned(), "ported.example_5000_".to_owned()]);
    propose(settings, &Seen { version, config_path: PATH, config: Some(config), imports: &[], hosts: &hosts })
}

fn problems(settings: &Settings, version: Version, config: &str) -> Vec<String> {
    let found = proposed(settings, version, config).expect_err("a problem");
    found.iter().map(ToString::to_string).collect()
}

fn sandbox() -> Settings {
    Settings { sandbox_image: Some("a/pause:1".into()), ..Settings::default() }
}

fn extra(text: &str) -> Settings {
    Settings { extra: Some(text.to_owned()), ..Settings::default() }
}

fn mirror_of(host: &str) -> Settings {
    let mirror = Mirror {
        url: "https://mirror.example".into(),
        capabilities: vec![Capability::Pull],
        ca: None,
        client: None,
        headers: Vec::new(),
        skip_verify: false,
        override_path: false,
    };
    let registries = vec![Registry { host: host.into(), mirrors: vec![mirror], upstream: Upstream::Registry }];
    Settings { registries, ..Settings::default() }
}

#[test]
fn a_new_file_has_the_version_of_its_containerd_and_an_old_one_keeps_its_own() {
    let version = |containerd, config: &str| {
        let config = proposed(&sandbox(), containerd, config).expect("a proposal").config;
        config.lines().find_map(|line| line.strip_prefix("version = ").map(str::to_owned)).expect("a version")
    };
    assert_eq!((version(OLD, ""), version(NEW, "# only a comment\n")), ("2".into(), "3".into()));
    for kept in ["2", "3", "4"] {
        assert_eq!(version(NEW, &format!("version = {kept}\n")), kept);
    }
}

#[test]
fn a_version_that_cannot_be_edited_or_that_this_containerd_does_not_read_is_refused() {
    for config in ["disabled_plugins = ['cri']\n", "version = 1\n", "version = 5\n", "version = '2'\n"] {
        let found = problems(&sandbox(), NEW, config);
        assert!(found.len() == 1 && found[0].contains("machineadm edits versions 2 to 4"), "{config}: {found:?}");
    }
    for (containerd, config) in [(OLD, "version = 3\n"), (Version { major: 2, minor: 2 }, "version = 4\n")] {
        let found = problems(&sandbox(), containerd, config);
        assert!(found[0].contains("is installed: rewrite the file for version"), "{found:?}");
    }
    assert!(problems(&sandbox(), OLD, "version = \n")[0].starts_with("/etc/containerd/config.toml is not TOML"));
}

#[test]
fn a_disabled_cri_plugin_is_named() {
    let found = problems(&sandbox(), OLD, "version = 2\ndisabled_plugins = ['io.containerd.grpc.v1.cri', 'x']\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("disables the plugin io.containerd.grpc.v1.cri,"), "{found:?}");
}

#[test]
fn an_imported_file_that_replaces_our_table_is_refused_before_2_0_and_left_to_the_dump_later() {
    let text = "version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nenable_selinux = true\n".to_owned();
    let (imports, hosts) = ([ImportedFile { path: "/etc/containerd/conf.d/a.toml".into(), text }], BTreeSet::new());
    let of = |version| {
        propose(&sandbox(), &Seen { version, config_path: PATH, config: None, imports: &imports, hosts: &hosts })
    };
    let found = of(OLD).expect_err("a problem");
    assert!(found[0].to_string().starts_with("/etc/containerd/conf.d/a.toml is imported by"), "{found:?}");
    assert!(of(NEW).is_ok());
}

#[test]
fn old_registry_settings_become_hosts_and_leave_the_file() {
    let config = "version = 2
[plugins.'io.containerd.grpc.v1.cri']
# stays
enable_selinux = true
[plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'quay.io']
endpoint = ['https://quay-mirror']
[plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'docker.io']
endpoint = ['https://old-mirror']
";
    let proposal = proposed(&mirror_of("docker.io"), OLD, config).expect("a proposal");
    assert!(!proposal.config.contains("mirrors") && proposal.config.contains("# stays\nenable_selinux = true\n"));
    let files: Vec<_> = proposal.files.iter().map(|file| (file.path.as_str(), file.contents.expose())).collect();
    // The document's own registry replaces what the file had of it.
    let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
    assert_eq!(paths, [format!("{CERTS_DIR}/quay.io/hosts.toml"), format!("{CERTS_DIR}/docker.io/hosts.toml")]);
    assert!(files[0].1.starts_with(CONVERTED) && files[0].1.contains("[host.\"https://quay-mirror\"]"));
    assert!(files[1].1.contains("mirror.example") && !files[1].1.contains("old-mirror"));
    // Without registries of its own, a document leaves them alone.
    assert!(proposed(&sandbox(), OLD, config).expect("a proposal").config.contains("quay-mirror"));
}

#[test]
fn what_would_be_shadowed_or_lost_is_refused() {
    let in_registry = |text: &str| format!("version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\n{text}\n");
    let found = problems(&mirror_of("docker.io"), NEW, &in_registry("config_path = '/etc/docker/certs.d'"));
    assert!(found[0].contains("move the hosts.toml files from there to /etc/containerd/certs.d"), "{found:?}");
    let list = in_registry("config_path = '/etc/containerd/certs.d:/etc/docker/certs.d'");
    assert_eq!(proposed(&mirror_of("docker.io"), NEW, &list).expect("a proposal").config, list);
    let found =
        problems(&mirror_of("docker.io"), NEW, &in_registry("mirrors.'taken.example'.endpoint = ['https://a']"));
    assert!(found[0].contains("taken.example/hosts.toml, and that file exists"), "{found:?}");
    let found = problems(&mirror_of("ported.example:5000"), NEW, "");
    assert!(found[0].contains("ported.example_5000_ is found before"), "{found:?}");
}

#[test]
fn runc_stays_when_other_runtimes_are_listed_and_has_its_type() {
    let runtime = |name: &str, of_type: &str| Runtime {
        name: name.into(),
        runtime_type: of_type.into(),
        binary: None,
        options: Vec::new(),
    };
    let kata = Settings { runtimes: vec![runtime("kata", "io.containerd.kata.v2")], ..Settings::default() };
    let config = proposed(&kata, OLD, "").expect("a proposal").config;
    assert!(config.contains("runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n"), "{config}");
    let crun = Settings {
        runtimes: vec![runtime("crun", "io.containerd.runc.v2")],
        default_runtime: Some("crun".into()),
        cgroup_driver: Some(CgroupDriver::Systemd),
        ..Settings::default()
    };
    let config = proposed(&crun, NEW, "").expect("a proposal").config;
    assert!(
        config.contains("runtimes.crun.options]\nSystemdCgroup = true\n")
            && config.contains("runtimes.runc.options]\nSystemdCgroup = true\n"),
        "{config}"
    );
    let unknown = Settings { default_runtime: Some("nope".into()), ..Settings::default() };
    assert!(problems(&unknown, NEW, "")[0].starts_with("spec.defaultRuntime: is nope, and no runtime"));
}

#[test]
fn extra_toml_is_merged_and_may_not_set_what_has_a_field_or_another_version() {
    let config = "version = 3\n[debug]\n  # why\n  level = 'info'\n";
    let merged = proposed(&extra("[debug]\nlevel = 'debug'\n[timeouts]\n'a.b' = '5s'\n"), NEW, config);
    let expected = "version = 3\n[debug]\n  # why\n  level = 'debug'\n\n[timeouts]\n\"a.b\" = '5s'\n";
    assert_eq!(merged.expect("a proposal").config, expected);
    let text = "version = 2\nroot = '/x'\nimports = []\n\
                [plugins.'io.containerd.cri.v1.images'.registry.mirrors.a]\nendpoint = []\n";
    let found = problems(&extra(text), NEW, config);
    let starts =
        ["is written for configuration version 2", "must not set root: use spec.dataRoot", "must not set imports"];
    for (found, start) in found.iter().zip(starts) {
        assert!(found.starts_with(&format!("spec.extraConfig: {start}")), "{found}");
    }
    assert!(found.len() == 4 && found[3].ends_with("use spec.registries"), "{found:?}");
    let both = Settings {
        cgroup_driver: Some(CgroupDriver::Systemd),
        ..extra("[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\nSystemdCgroup = false\n")
    };
    assert!(problems(&both, NEW, config)[0].contains("to another value than spec.cgroupDriver"));
}

#[test]
fn a_dump_of_a_newer_version_is_compared_by_the_keys_that_containerd_moved() {
    let settings = Settings {
        extra: Some(
            "[grpc]\nmax_recv_message_size = 1\n[plugins.'io.containerd.gc.v1.scheduler']\nstartup_delay = '60s'\n\
                     [plugins.'io.containerd.grpc.v1.cri'.cni]\nbin_dir = '/x'\nodd = true\n"
                .into(),
        ),
        ..sandbox()
    };
    let proposal = proposed(&settings, NEW, "version = 2\n").expect("a proposal");
    let dump = "version = 4
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = 'a/pause:2'
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['/x']
[plugins.'io.containerd.gc.v1.scheduler']
startup_delay = '1m0s'
[plugins.'io.containerd.server.v1.grpc']
max_recv_message_size = 1
";
    let import = ImportedFile {
        path: "/etc/containerd/conf.d/z.toml".into(),
        text: "[plugins.'io.containerd.cri.v1.images'.pinned_images]\nsandbox = 'a/pause:2'\n".into(),
    };
    let defaults = "version = 4\n[plugins.'io.containerd.cri.v1.images']\n[plugins.'io.containerd.cri.v1.runtime']\n\
                    [plugins.'io.containerd.gc.v1.scheduler']\n[plugins.'io.containerd.server.v1.grpc']\n";
    let found = missing(Printed { dump, defaults }, &proposal, &[import]).expect("a dump");
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("spec.sandboxImage: containerd has plugins."), "{found:?}");
    assert!(found[0].ends_with("It is set by the imported /etc/containerd/conf.d/z.toml"), "{found:?}");
    assert!(found[1].contains("containerd ignores plugins.\"io.containerd.grpc.v1.cri\".cni.odd"), "{found:?}");
    // A dump repeats the table of a plugin that is unknown.
    let fewer = defaults.replace("[plugins.'io.containerd.gc.v1.scheduler']\n", "");
    assert_eq!(missing(Printed { dump, defaults: &fewer }, &proposal, &[]).expect("a dump").len(), 3);
    for other in ["no version = 1", "version = 9\n"] {
        assert!(missing(Printed { dump: other, defaults }, &proposal, &[]).is_err());
        assert!(missing(Printed { dump, defaults: other }, &proposal, &[]).is_err());
    }
}

#[test]
fn the_data_root_is_containerds_own_unless_the_file_says_otherwise() {
    assert_eq!(data_root(None), "/var/lib/containerd");
    assert_eq!(data_root(Some("root = '/data'\n")), "/data");
}
