//! Flags of `kubeadm reset` that `machineadm reset` does not have or reads otherwise. Nothing here is reset: each call ends
//! before the machine is looked at.
use crate::support::{binary::run, scratch::Scratch};
use std::{fs, os::unix::fs::PermissionsExt};

/// What is refused with exit code 2, and the texts that say why and what to do.
fn refused(words: &[&str], texts: &[&str]) {
    let ran = run(["reset"].iter().chain(words).copied());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
    for text in texts {
        assert!(ran.stderr.contains(text), "{words:?}: {text}: {}", ran.stderr);
    }
}

#[test]
fn what_kubeadms_users_know_and_is_not_supported_is_refused_by_name_with_the_remedy() {
    let remedy = ["certificatesDir as --cert-dir", "criSocket as --cri-socket", "force as --force"];
    refused(&["--config", "/srv/reset.yaml", "--force"], &[&["--config: a ResetConfiguration"][..], &remedy].concat());
    refused(&["--skip-phases=remove-etcd-member"], &["--skip-phases remove-etcd-member", "leave it out"]);
    // As a script gives variables that are not set.
    refused(&["--config", "", "--skip-phases", ""], &["pass --force to confirm"]);
}

/// kubeadm would delete everything on the machine: a script may have written `"$DIRECTORY/"`.
#[test]
fn the_root_directory_is_no_certificates_directory() {
    for directory in ["/", "//", "/.", "/srv/.."] {
        refused(
            &["--dry-run", "--cert-dir", directory],
            &["is the root directory", "kubeadm deletes everything in it"],
        );
    }
}

#[test]
fn boolean_flags_of_kubeadm_take_true_and_false() {
    refused(&["--force=false"], &["pass --force"]);
    refused(&["--force=perhaps"], &["perhaps"]);
    for flag in ["--force=true", "--dry-run=true", "--dry-run", "--cleanup-tmp-dir=false", "-f", "--yes", "-y"] {
        refused(&[flag, "--config", "x"], &["--config: a ResetConfiguration"]);
    }
}

#[test]
fn a_kubeconfig_is_read_before_anything_is_looked_at() {
    let scratch = Scratch::new("reset");
    let path = scratch.path().join("admin.conf");
    let name = path.to_str().expect("a path in UTF-8");
    refused(&["--dry-run", "--kubeconfig", name], &[name]);
    fs::write(&path, "clusters: 7\n").expect("a file");
    refused(&["--dry-run", "--kubeconfig", name], &["kubeconfig"]);
    let plugin = "apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: 'https://127.0.0.1:9'}}]\nusers: \
                  [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/true, \
                  interactiveMode: Never}}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n";
    fs::write(&path, plugin).expect("a file");
    refused(&["--dry-run", "--kubeconfig", name], &["has an exec plugin", "a client certificate or a token"]);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("a mode");
    refused(&["--dry-run", "--kubeconfig", name], &[name, "can be written by everybody"]);
}
