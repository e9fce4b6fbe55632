//! An impostor at the address that a kubeconfig names: what it publishes does not update the kubeconfig.
use super::{
    stage::{Cluster, Stage, kubeconfig, signed},
    watched::{Machine, each, has, nothing_was_told},
};
use std::{process::Output, sync::Arc};
use testbed::fake::{Authority, FakeServer, answer};

/// Where the kubeconfig comes from.
#[derive(Clone, Copy, Debug)]
enum Source {
    File,
    StandardInput,
    Url,
}

const SOURCES: [Source; 3] = [Source::File, Source::StandardInput, Source::Url];

/// Discovers the cluster by its kubeconfig, saves it, and prints its kubeconfig. The system's CA certificates are those
/// of the server of kubeconfigs and no others.
fn discover(source: Source, cluster: &Cluster, machine: &Machine) -> Output {
    let brought = cluster.kubeconfig();
    let file = machine.file("cluster.yaml", brought.as_bytes());
    let server = FakeServer::start(move |_, tls| answer(tls, "200 OK", "", &brought));
    let system = machine.file("system.pem", server.authority().pem().as_bytes());
    let argument = match source {
        Source::File => file.display().to_string(),
        Source::StandardInput => "-".to_owned(),
        Source::Url => server.url("/cluster.yaml"),
    };
    let mut command = machine.discover(&["--discovery-file", &argument, "--store", "-o", "json"]);
    command.env("SSL_CERT_FILE", system).stdin(std::fs::File::open(file).unwrap()).output().unwrap()
}

fn printed(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// It says of itself that it is the cluster, at the same address with its own CA certificate. Everyone who believes
/// that reaches it under what it says, so that only the certificates in the kubeconfig reveal it.
#[test]
fn an_impostor_at_the_address_of_a_kubeconfig_updates_nothing_and_is_asked_nothing() {
    each(&SOURCES, |source| {
        let (cluster, machine, own) = (Cluster::new(), Machine::new(), Arc::new(Authority::new()));
        let published = kubeconfig(&format!("https://{}", cluster.tap.place()), &own.pem());
        let impostor = Stage::tells(&own, signed(&published));
        cluster.tap.lead_to(impostor.port);
        let printed = printed(&discover(*source, &cluster, &machine));
        assert_eq!(printed["kubeconfig"], cluster.kubeconfig(), "{source:?}: the impostor's was taken");
        let proven = printed["proven"].as_str().unwrap();
        let reason = "not confirmed by the cluster: the certificate of ";
        assert!(proven.contains(reason) && proven.contains("unknown authority"), "{source:?}: {proven}");
        let saved: serde_json::Value = serde_json::from_slice(&machine.kept().unwrap()).unwrap();
        assert_eq!(saved["kubeconfig"], cluster.kubeconfig(), "{source:?}: the impostor's was saved");
        let asked: Vec<_> = impostor.servers.iter().flat_map(FakeServer::seen).collect();
        assert!(asked.is_empty(), "{source:?}: {asked:?}");
        let [sent, _] = cluster.tap.passed();
        assert!(!sent.is_empty(), "{source:?}: nobody came to the impostor");
        nothing_was_told(&format!("{source:?}"), &cluster, &impostor);
    });
}

/// The same update from the cluster itself is taken: it is the certificate that decides.
#[test]
fn the_cluster_at_the_address_of_a_kubeconfig_updates_it() {
    each(&SOURCES, |source| {
        let (cluster, machine) = (Cluster::new(), Machine::new());
        let bundle = cluster.authority.pem() + &Authority::new().pem();
        let published = kubeconfig(&format!("https://{}", cluster.tap.place()), &bundle);
        let stage = Stage::tells(&cluster.authority, signed(&published));
        cluster.tap.lead_to(stage.port);
        let printed = printed(&discover(*source, &cluster, &machine));
        assert_eq!(printed["kubeconfig"], published, "{source:?}");
        assert!(has(printed["proven"].as_str().unwrap().as_bytes(), "updated by the cluster"), "{printed}");
    });
}
