//! A result that standard output does not take: the cluster has what was asked for, and the command fails.
use super::bed::{run, text, tokens};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
};

const TOKENS: &str = "\
apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
bootstrapTokens: [{token: aaaaaa.0123456789abcdef}, {token: bbbbbb.0123456789abcdef}]
";

/// Runs one of our commands, whose standard output is a full disk.
fn lost(kubeconfig: &Path, words: &[&str]) -> String {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(words).arg("--kubeconfig").arg(kubeconfig).stdout(full);
    let Output { status, stderr, .. } = command.output().unwrap();
    let stderr = text(&stderr);
    assert_eq!(status.code(), Some(1), "{words:?}: {stderr}");
    let errors: Vec<_> = stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors, ["error: cannot write the result to standard output: No space left on device"], "{words:?}");
    stderr
}

#[test]
fn a_result_that_is_lost_is_an_error_and_the_cluster_has_what_was_done() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options { controllers: Vec::new(), ..Options::default() })?;
    let scratch = tempfile::tempdir().unwrap();
    let (kubeconfig, file) = (plane.kubeconfig(), scratch.path().join("tokens.yaml"));
    fs::write(&file, TOKENS).unwrap();

    lost(&kubeconfig, &["discovery-objects"]);
    lost(&kubeconfig, &["discovery-objects", "-o", "json"]);
    plane.kubectl(&["--namespace=kube-public", "get", "configmap", "cluster-info"])?;

    let stderr = lost(&kubeconfig, &["token", "create", "--config", file.to_str().unwrap()]);
    assert!(stderr.contains("\nremedy: the token exists: "), "{stderr}");
    assert!(stderr.contains("`machineadm token delete aaaaaa`"), "{stderr}");
    let made: Vec<_> = tokens(&plane)?.into_keys().collect();
    assert_eq!(made, ["bootstrap-token-aaaaaa"], "no further token is made that nobody would know of");

    let created = run(&kubeconfig, &["token", "create", "bbbbbb.0123456789abcdef"]);
    assert_eq!(created.status.code(), Some(0), "{}", text(&created.stderr));
    for words in [&["token", "list"][..], &["token", "list", "-o", "json"]] {
        lost(&kubeconfig, words);
    }
    lost(&kubeconfig, &["token", "delete", "aaaaaa", "bbbbbb"]);
    assert!(tokens(&plane)?.is_empty(), "all are deleted as asked");
    Ok(())
}
