//! A tree that looks like a small machine, and a configuration that uses every kind which works without a kernel.
use crate::support::shell;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// The configuration.
pub(crate) const CONFIGURATION: &str = r#"apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata: {name: whole}
spec:
  files:
  - {path: /etc/motd, content: "Managed.\n"}
  - {path: /etc/app/deep/er/secret, content: "hush\n", mode: "0600", owner: "1234:5678"}
  - {path: /usr/local/bin/tool, content: "IyEvYmluL3NoCg==", encoding: base64, mode: "4755"}
  - {path: /etc/linked/here, content: "through a link\n"}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata: {name: blocks}
spec:
  files:
  - {path: /etc/hosts, block: registry, content: 10.0.0.5 registry.example.com}
  - {path: /etc/hosts, block: mirror, content: 10.0.0.6 mirror.example.com}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
spec: {parameters: {net.ipv4.ip_forward: "1", vm.max_map_count: 262144}}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: KernelModulesConfig
spec: {modules: [overlay, br_netfilter]}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ProxyConfig
spec: {httpProxy: "http://user:pass@proxy:3128", noProxy: [10.0.0.0/8], services: [containerd, kubelet]}
---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: CommandsConfig
spec:
  commands:
  - {name: seen, argv: [/bin/sh, -c, ": > /var/lib/seen"], creates: /var/lib/seen}
  - {name: unseen, argv: [/bin/sh, -c, "echo unseen > /var/lib/unseen"]}
  - name: script
    shell: |
      echo "$WORD" > /var/lib/script
    environment: {WORD: from-the-environment}
  - {name: always, argv: [/bin/sh, -c, "echo always > /var/lib/always"], run: always}
"#;

/// Lays out a tree and its configuration in a directory; says where both are.
pub(crate) fn lay_out(dir: &Path) -> (PathBuf, PathBuf) {
    let (root, configuration) = (dir.join("root"), dir.join("configuration.yaml"));
    for name in ["etc", "var/lib", "run", "usr/local", "srv/real"] {
        fs::create_dir_all(root.join(name)).expect("a directory can be made");
    }
    let files = [
        ("etc/hosts", "127.0.0.1 localhost\n# BEGIN machineadm registry\nold\n# END machineadm registry\n::1 six\n"),
        ("etc/motd", "Welcome.\n"),
        ("etc/hostname", "node-7\n"),
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
    ];
    for (name, contents) in files {
        fs::write(root.join(name), contents).expect("a file can be written");
    }
    fs::set_permissions(root.join("etc/motd"), fs::Permissions::from_mode(0o640)).expect("a mode can be set");
    std::os::unix::fs::symlink("/srv/real", root.join("etc/linked")).expect("a link can be made");
    shell::install(&root);
    fs::write(&configuration, CONFIGURATION).expect("a file can be written");
    (root, configuration)
}
