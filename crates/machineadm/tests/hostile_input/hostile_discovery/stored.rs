//! `discover --store` on a machine that keeps a cluster already: what it is known by isn't lost without a word.
use super::{
    kept::joined,
    stage::{Cluster, Stage, kubeconfig},
    watched::{Machine, has, refusal},
};
use std::process::Output;

fn store(machine: &Machine, kubeconfig: &str, further: &[&str]) -> Output {
    let file = machine.file("cluster.yaml", kubeconfig.as_bytes()).display().to_string();
    let words = [&["--discovery-file", &file, "--store"], further].concat();
    machine.discover(&words).output().unwrap()
}

#[test]
fn pins_stay_when_the_same_cluster_is_brought_without_any() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let stage = Stage::tells(&cluster.authority, cluster.honest());
    cluster.tap.lead_to(stage.port);
    let output = store(&machine, &cluster.kubeconfig(), &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let kept: serde_json::Value = serde_json::from_slice(&machine.kept().unwrap()).unwrap();
    assert_eq!((&kept["pins"][0], &kept["proof"]["method"]), (&cluster.pin().into(), &"file".into()));
}

#[test]
fn a_pinned_cluster_is_given_up_for_an_unpinned_one_only_with_consent() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    let machine = joined(&cluster);
    let before = machine.kept();
    let stage = Stage::tells(&other.authority, other.honest());
    other.tap.lead_to(stage.port);
    let said = refusal("unpinned", &store(&machine, &other.kubeconfig(), &[]));
    assert!(said.contains("which is unchanged: none of the new CA certificates is pinned"), "{said}");
    assert_eq!(machine.kept(), before);
    let output = store(&machine, &other.kubeconfig(), &["--accept-unpinned-roots"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(has(&machine.kept().unwrap(), &other.pin()));
}

/// Port 9 is nobody's here, so that neither the file nor anything else is ever confirmed.
#[test]
fn a_good_cluster_is_not_given_up_for_one_that_nobody_reaches_but_none_is() {
    let cluster = Cluster::new();
    let machine = joined(&cluster);
    let before = machine.kept();
    let nowhere = kubeconfig("https://127.0.0.1:9", &cluster.authority.pem());
    let said = refusal("nowhere", &store(&machine, &nowhere, &["--timeout", "500ms"]));
    assert!(said.contains("the cluster does not confirm it: ") && !said.contains("another cluster"), "{said}");
    assert_eq!(machine.kept(), before);
    let empty = Machine::new();
    let output = store(&empty, &nowhere, &["--timeout", "500ms"]);
    assert_eq!(output.status.code(), Some(0), "what was brought counts where nothing is kept: {output:?}");
    assert!(has(&empty.kept().unwrap(), "https://127.0.0.1:9"));
}
