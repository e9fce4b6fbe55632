//! The kubeadm-config ConfigMap of a real API server: written by real kubeadms, edited by us, read by others.
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    programs::{KUBEADM_1_21, KUBEADM_1_26, KUBEADM_1_30, KUBEADM_1_31, KUBEADM_1_37, KUBERNETES, Set},
};

const TOKEN: &str = "abcdef.0123456789abcdef";

fn edit(plane: &ControlPlane, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "edit-map", "--kubeconfig"]).arg(plane.kubeconfig()).args(words);
    command
}

fn run(mut command: Command) -> Output {
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// `kubeadm init phase upload-config kubeadm` of one version.
fn upload(plane: &ControlPlane, set: &Set, api: &str, scratch: &Path) -> Result<()> {
    let version = set.name.rsplit_once('-').expect("a version").1;
    let file = scratch.join("kubeadm.yaml");
    let text = format!(
        "apiVersion: kubeadm.k8s.io/{api}\nkind: InitConfiguration\nlocalAPIEndpoint: {{advertiseAddress: 192.168.0.10}}\n\
         nodeRegistration: {{name: cp-1, criSocket: 'unix:///run/none.sock'}}\n---\n\
         apiVersion: kubeadm.k8s.io/{api}\nkind: ClusterConfiguration\nkubernetesVersion: v{version}\nclusterName: live\n"
    );
    std::fs::write(&file, text).expect("a file");
    let mut kubeadm = Command::new(set.ensure()?.judge("kubeadm")?);
    kubeadm.args(["init", "phase", "upload-config", "kubeadm", "--config"]).arg(file);
    run({
        kubeadm.arg("--kubeconfig").arg(plane.kubeconfig());
        kubeadm
    });
    Ok(())
}

/// The map's document, with the version under which the API server keeps it.
fn map(plane: &ControlPlane) -> Result<(String, String)> {
    let show = |what: &str| {
        let template = format!("--output=jsonpath={what}");
        plane.kubectl(&["--namespace=kube-system", "get", "configmap", "kubeadm-config", &template])
    };
    Ok((show("{.data.ClusterConfiguration}")?, show("{.metadata.resourceVersion}")?))
}

/// Lets machines join: a token, cluster-info, and the right to read what a joining kubeadm reads.
fn invite(plane: &ControlPlane, scratch: &Path) -> Result<()> {
    // A joining kubeadm reads the kubelet's configuration beside its own.
    let kubelet = "--from-literal=kubelet=apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    plane.kubectl(&["--namespace=kube-system", "create", "configmap", "kubelet-config", kubelet])?;
    let group = "--group=system:bootstrappers:kubeadm:default-node-token";
    plane.kubectl(&["create", "clusterrole", "maps", "--verb=get", "--resource=configmaps"])?;
    plane.kubectl(&["create", "clusterrolebinding", "joiners-read-maps", "--clusterrole=maps", group])?;
    let file = scratch.join("token.yaml");
    let text = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens: [{{token: {TOKEN}}}]\n\
         localAPIEndpoint: {{advertiseAddress: 192.168.0.10}}\n\
         nodeRegistration: {{name: cp-1, criSocket: 'unix:///run/none.sock'}}\n---\n\
         apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.36.4\n"
    );
    std::fs::write(&file, text).expect("a file");
    let mut kubeadm = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
    kubeadm.args(["init", "phase", "bootstrap-token", "--config"]).arg(file);
    kubeadm.arg("--kubeconfig").arg(plane.kubeconfig());
    run(kubeadm);
    Ok(())
}

/// A joining kubeadm reads the map in its preflight, which changes nothing on the host.
fn is_read_by(plane: &ControlPlane, set: &Set, scratch: &Path) -> Result<()> {
    let file = scratch.join("join.yaml");
    let text = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\n\
         discovery: {{file: {{kubeConfigPath: {}}}, tlsBootstrapToken: {TOKEN}}}\n\
         nodeRegistration: {{name: w-1, criSocket: 'unix:///run/none.sock', ignorePreflightErrors: [all]}}\n",
        plane.kubeconfig().display()
    );
    std::fs::write(&file, text).expect("a file");
    let mut kubeadm = Command::new(set.ensure()?.judge("kubeadm")?);
    kubeadm.args(["join", "phase", "preflight", "--config"]).arg(file);
    let output = run(kubeadm);
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(said.contains("Reading configuration from the "), "{}: {said}", set.name);
    for complaint in ["unknown field", "strict decoding", "deprecated API", "old API"] {
        assert!(!said.contains(complaint), "{}: {said}", set.name);
    }
    Ok(())
}

/// A kubeadm that writes the map in an API version, and the one that reads it after an edit for its version.
type Way = (&'static Set, &'static str, &'static Set, &'static str);

#[test]
fn a_map_of_one_kubeadm_is_edited_for_the_next_and_read_by_it() -> Result<()> {
    testbed::needs!(ControlPlane, EachPinned(&[&KUBEADM_1_30, &KUBEADM_1_37]));
    each_way(&[(&KUBEADM_1_30, "v1beta3", &KUBERNETES, "1.36.4"), (&KUBERNETES, "v1beta4", &KUBEADM_1_37, "1.37.1")])
}

#[test]
#[ignore = "long tier: maps of kubeadm 1.21 and 1.26, and kubeadm 1.31 as their reader"]
fn a_map_of_an_old_kubeadm_is_edited_for_a_later_one_and_read_by_it() -> Result<()> {
    testbed::needs!(ControlPlane, EachPinned(&[&KUBEADM_1_21, &KUBEADM_1_26, &KUBEADM_1_30, &KUBEADM_1_31]));
    each_way(&[
        (&KUBEADM_1_21, "v1beta2", &KUBEADM_1_31, "1.31.14"),
        (&KUBEADM_1_26, "v1beta3", &KUBERNETES, "1.36.4"),
        (&KUBEADM_1_30, "v1beta3", &KUBEADM_1_31, "1.31.14"),
    ])
}

fn each_way(ways: &[Way]) -> Result<()> {
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    invite(&plane, scratch.path())?;
    for &(from, api, to, version) in ways {
        upload(&plane, from, api, scratch.path())?;
        run(edit(&plane, &["--kubernetes-version", version, "--api-server-arg", "audit-log-maxage=7"]));
        let (text, kept) = map(&plane)?;
        assert!(text.contains("kubeadm.k8s.io/v1beta4") && text.contains(&format!("v{version}")), "{text}");
        assert!(text.contains("audit-log-maxage") && text.contains("clusterName: \"live\""), "{text}");
        is_read_by(&plane, to, scratch.path())?;

        let again = edit(&plane, &["--kubernetes-version", version, "--api-server-arg", "audit-log-maxage=7"]);
        assert!(String::from_utf8_lossy(&run(again).stdout).contains("nothing to change"));
        assert_eq!(map(&plane)?, (text, kept), "an edit that changes nothing wrote the map");
    }
    plane.down()
}

#[test]
fn an_edit_of_the_cluster_s_map_shows_its_diff_and_a_dry_run_changes_nothing() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    upload(&plane, &KUBERNETES, "v1beta4", scratch.path())?;
    let before = map(&plane)?;
    let words = ["--kubernetes-version", "1.36.4", "--scheduler-arg", "v=7"];
    let dry = run(edit(&plane, &[&words[..], &["--dry-run"]].concat()));
    let shown = String::from_utf8_lossy(&dry.stdout).into_owned();
    assert!(shown.starts_with("--- a/kubeadm-config/ClusterConfiguration\n+++ b/"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with('+') && line.ends_with("value: \"7\"")), "{shown}");
    assert!(shown.ends_with("kubeadm-config: changed (dry run)\n"), "{shown}");
    assert_eq!(map(&plane)?, before);

    // The kubeconfig of the environment, as for kubectl.
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "edit-map"]).args(words).env("KUBECONFIG", plane.kubeconfig());
    let real = String::from_utf8_lossy(&run(command).stdout).into_owned();
    assert_eq!(real, shown.replace(" (dry run)", ""));
    assert_ne!(map(&plane)?, before);
    plane.down()
}

#[test]
fn the_diff_of_a_map_cannot_control_a_terminal() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    upload(&plane, &KUBERNETES, "v1beta4", scratch.path())?;
    let text = map(&plane)?.0.replace("clusterName: live", "clusterName: \"li\u{202e}ve\"");
    assert!(text.contains('\u{202e}'), "{text}");
    let patch = serde_json::json!({"data": {"ClusterConfiguration": text}}).to_string();
    plane.kubectl(&["--namespace=kube-system", "patch", "configmap", "kubeadm-config", "--patch", &patch])?;
    let edited = run(edit(&plane, &["--kubernetes-version", "1.36.4", "--scheduler-arg", "v=7"]));
    let shown = String::from_utf8_lossy(&edited.stdout);
    assert!(shown.contains("li\\u{202e}ve") && !shown.contains('\u{202e}'), "{shown}");
    plane.down()
}

#[test]
fn writers_at_the_same_time_lose_nothing() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    upload(&plane, &KUBERNETES, "v1beta4", scratch.path())?;
    let names: Vec<String> = (0..6).map(|number| format!("v-{number}")).collect();
    let mut writers = Vec::new();
    for name in &names {
        let argument = format!("{name}=1");
        let mut command = edit(&plane, &["--kubernetes-version", "1.36.4", "--scheduler-arg", &argument]);
        writers.push(command.spawn().expect("it runs"));
    }
    for mut writer in writers {
        assert!(writer.wait().expect("it ends").success());
    }
    let (text, _) = map(&plane)?;
    let missing: Vec<&String> = names.iter().filter(|name| !text.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?} are lost: {text}");
    plane.down()
}

#[test]
fn a_cluster_that_cannot_be_reached_is_named_and_nothing_is_printed() {
    let nowhere = PathBuf::from("/nonexistent/admin.conf");
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["config", "edit-map", "--kubernetes-version", "1.36.4", "--kubeconfig"]).arg(nowhere);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot read the kubeconfig /nonexistent/admin.conf"));
}
