//! A machine's config.toml of containerd, and what `containerd config dump` prints.
use crate::{Seen, Target};
use containerd::{
    CERTS_DIR, CgroupDriver, ImportedFile, Printed, Registry, Settings, Upstream, Version, data_root, import_patterns,
    missing, propose, with_absolute_imports,
};
use std::collections::BTreeSet;

pub(super) const TARGET: Target = Target {
    name: "containerd-config",
    inputs: 10_000,
    seeds,
    words: &[
        "version = 2\n",
        "version = 3\n",
        "[plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'docker.io']\nendpoint = ['https://a/b']\n",
        "[plugins.'io.containerd.grpc.v1.cri'.registry.configs.'../a'.tls]\nca_file = '/a'\n",
        "containerd.runtimes.runc.options = { SystemdCgroup = true }\n",
        "imports = ['a/*.toml']\n",
        "'''",
        "\u{1b}[2J",
        "=",
        "#",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    let old = "version = 2 # why\nroot = '/a'\nimports = ['/b.toml']\n[plugins.\"io.containerd.grpc.v1.cri\"]\n  \
               sandbox_image = 'x'\n[plugins.'io.containerd.grpc.v1.cri'.registry.mirrors.'*']\nendpoint = ['http://a']\n";
    let new = "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\nconfig_path = ''\n[[a]]\nb = {c = 1}\n";
    vec![old.as_bytes().to_vec(), new.as_bytes().to_vec()]
}

fn settings() -> Settings {
    Settings {
        registries: vec![Registry { host: "docker.io".into(), mirrors: Vec::new(), upstream: Upstream::Registry }],
        sandbox_image: Some("a/pause:1".into()),
        cgroup_driver: Some(CgroupDriver::Systemd),
        extra: Some("[debug]\nlevel = 'debug'\n".into()),
        ..Settings::default()
    }
}

/// A proposal is the same when it is made again, its files are in the directories of registries, and no reason controls a
/// terminal.
fn target(input: &[u8]) -> Seen {
    let Ok(text) = std::str::from_utf8(input) else { return Seen::new("not UTF-8") };
    let hosts = BTreeSet::new();
    let imports = [ImportedFile { path: "/b.toml".into(), text: text.to_owned() }];
    let seen = [(1, 6), (2, 4)].map(|(major, minor)| {
        let version = Version { major, minor };
        let of = |config: &str| {
            let (config_path, config) = ("/etc/containerd/config.toml", Some(config));
            propose(&settings(), &containerd::Seen { version, config_path, config, imports: &[], hosts: &hosts })
        };
        data_root(Some(text));
        import_patterns(text, "/etc/c.toml", version);
        let first = match of(text) {
            Ok(first) => first,
            Err(problems) => {
                problems.iter().for_each(|problem| is_one_line(&problem.to_string()));
                return Err(problems.len());
            }
        };
        for file in &first.files {
            let below = file.path.strip_prefix(CERTS_DIR).unwrap_or_default().split('/').collect::<Vec<_>>();
            assert!(matches!(below[..], ["", host, "hosts.toml"] if !["", ".", ".."].contains(&host)), "{}", file.path);
        }
        let again = of(&first.config);
        assert!(again.is_ok_and(|again| again.config == first.config), "{text}\n=====\n{}", first.config);
        let shown = missing(Printed { dump: text, defaults: text }, &first, &imports);
        let shown = shown.map(|missing| missing.iter().map(|one| is_one_line(&one.to_string())).count());
        with_absolute_imports(text, "/etc/c.toml");
        Ok((first.files.len(), shown.map_err(|error| error.to_string())))
    });
    Seen::new(format!("{seen:?}"))
}

fn is_one_line(text: &str) {
    assert!(!text.chars().any(char::is_control), "{text:?}");
}
