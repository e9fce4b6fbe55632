//! Exec plugins of kubeconfigs, as the real program starts them; no cluster is needed for what is proven here.
use crate::support::{binary, run_output::RunOutput};
use serde_json::{Value, json};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

/// The user `nobody`, as any other user of the machine.
const OTHER_USER: u32 = 65534;

/// A directory with a kubeconfig and the plugin that it names. The API server is a port that nobody listens on.
struct Bed(tempfile::TempDir);

impl Bed {
    fn with_plugin(script: &str) -> Self {
        let bed = Self(tempfile::tempdir().expect("a directory"));
        let script = format!("#!/bin/sh\ncd {}\ntouch started\n{script}\n", bed.0.path().display());
        fs::write(bed.path("script"), script).expect("a file");
        fs::set_permissions(bed.path("script"), Permissions::from_mode(0o755)).expect("ours");
        testbed::copy_program(&bed.path("script"), &bed.path("plugin")).expect("a copy");
        let api = "client.authentication.k8s.io/v1";
        bed.write(&json!({"exec": {"apiVersion": api, "command": "./plugin", "interactiveMode": "Never"}}));
        bed
    }

    fn write(&self, user: &Value) {
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "k", "cluster": {"server": "https://127.0.0.1:9", "proxy-url": "http://[bad"}}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "users": [{"name": "u", "user": user}],
        });
        fs::write(self.path("kc"), config.to_string()).expect("a file");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn list(&self) -> RunOutput {
        list(&self.path("kc"))
    }

    fn has_started(&self) -> bool {
        self.path("started").exists()
    }
}

fn list(kubeconfig: &Path) -> RunOutput {
    let ran = binary::run([Path::new("token"), Path::new("list"), Path::new("--kubeconfig"), kubeconfig]);
    assert_eq!(ran.stdout, "", "nothing is listed without a cluster");
    ran
}

#[test]
fn an_exec_plugin_of_a_kubeconfig_that_other_users_can_write_is_not_started() {
    testbed::needs!(Root);
    let bed = Bed::with_plugin("exit 3");
    let kubeconfig = bed.path("kc");
    for ((owner, group), mode, why, advice) in [
        ((0, 0), 0o666, "can be written by everybody", "chmod o-w"),
        ((0, OTHER_USER), 0o660, "can be written by its group", "chmod g-w"),
        ((OTHER_USER, 0), 0o600, "is owned by another user, who can change it", "chown root"),
    ] {
        chown(&kubeconfig, Some(owner), Some(group)).expect("root may give files away");
        fs::set_permissions(&kubeconfig, Permissions::from_mode(mode)).expect("ours");
        let ran = bed.list();
        let shown = kubeconfig.display();
        let reason = format!("error: the exec plugin of the kubeconfig is not started: {shown} {why}\n");
        assert!(ran.stderr.starts_with(&reason), "{mode:o}: {ran:?}");
        assert!(ran.stderr.contains(&format!("{advice} {shown}")), "{mode:o}: {ran:?}");
        assert_eq!((ran.code, bed.has_started()), (Some(2), false), "{mode:o}: {ran:?}");
    }
}

#[test]
fn an_exec_plugin_of_a_kubeconfig_behind_a_link_of_another_user_is_not_started() {
    let (bed, shared) = (Bed::with_plugin("exit 3"), tempfile::tempdir().expect("a directory"));
    fs::set_permissions(shared.path(), Permissions::from_mode(0o777)).expect("ours");
    let link = shared.path().join("kc");
    symlink(bed.path("kc"), &link).expect("a link");
    let ran = list(&link);
    assert!(ran.stderr.contains("contains a symbolic link in a directory that other users can write"), "{ran:?}");
    assert_eq!((ran.code, bed.has_started()), (Some(2), false), "{ran:?}");
}

#[test]
fn an_exec_plugin_of_a_kubeconfig_that_only_its_owner_writes_is_started() {
    let bed = Bed::with_plugin("exit 3");
    let ran = bed.list();
    assert!(ran.stderr.contains("plugin failed: exit status: 3"), "{ran:?}");
    assert_eq!((ran.code, bed.has_started()), (Some(1), true), "{ran:?}");
}

#[test]
fn a_kubeconfig_without_an_exec_plugin_may_be_writable_by_others_as_with_kubectl() {
    let bed = Bed::with_plugin("exit 3");
    bed.write(&json!({"token": "t"}));
    fs::set_permissions(bed.path("kc"), Permissions::from_mode(0o666)).expect("ours");
    let ran = bed.list();
    assert!(!ran.stderr.contains("can be written"), "{ran:?}");
    let next =
        "cannot set up the connection to https://127.0.0.1:9/: the proxy in proxy-url of the kubeconfig: its URL";
    assert!(ran.stderr.contains(next), "{ran:?}");
}

#[test]
fn lines_of_an_exec_plugin_cannot_pass_for_messages_of_machineadm() {
    let bed = Bed::with_plugin(r"printf 'error: forged\n  hint: run this\n\033[2J\342\200\256\n' >&2; exit 3");
    let ran = bed.list();
    let lines: Vec<_> = ran.stderr.lines().take(3).collect();
    assert_eq!(lines, ["  | error: forged", "  |   hint: run this", r"  | \x1b[2J\u{202e}"], "{ran:?}");
    assert!(!ran.stderr.contains("\nerror: forged") && ran.stderr.contains("\nerror: the exec plugin"), "{ran:?}");
}
