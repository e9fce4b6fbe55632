//! A control plane on loopback, its parts hurt one by one.
use std::time::{Duration, Instant};
use testbed::control_plane::{ControlPlane, Options, Part};
use testbed::{Result, until};

#[test]
fn a_control_plane_answers_survives_its_parts_and_leaves_nothing() -> Result<()> {
    testbed::needs!(ControlPlane);
    let began = Instant::now();
    let mut plane = ControlPlane::start(&Options { scheduler: true, ..Options::default() })?;
    println!("control plane: ready in {:.1?}", began.elapsed());
    let traces = plane.traces()?;
    let has =
        |what: &str| Ok::<_, testbed::Error>(traces.found()?.iter().filter(|trace| trace.starts_with(what)).count());
    assert_eq!(has("process")?, 4, "etcd, API server, controllers, scheduler: {:?}", traces.found());
    plane.kubectl(&["create", "configmap", "kept", "--from-literal=a=b"])?;
    let stored = plane.stored("/registry/configmaps/default/kept")?.expect("the object is in etcd");
    assert!(stored.starts_with(b"k8s\0"), "it is stored as plain protobuf");
    assert!(
        plane.stored_keys("/registry/configmaps/default/")?.contains(&"/registry/configmaps/default/kept".to_owned())
    );
    assert_eq!(plane.stored("/registry/configmaps/default/absent")?, None);

    plane.kill(Part::ApiServer(0))?;
    assert!(plane.kubectl(&["get", "configmaps"]).is_err(), "nobody answers");
    plane.restart(Part::ApiServer(0))?;
    plane.kill(Part::Etcd)?;
    plane.restart(Part::Etcd)?;
    until("the configmap after etcd's return", Duration::from_secs(60), || {
        plane.kubectl(&["get", "configmap", "kept"]).map_err(|error| error.to_string())
    })?;

    plane.pause(Part::Etcd)?;
    assert!(plane.kubectl(&["get", "configmap", "kept", "--request-timeout=2s"]).is_err(), "etcd stands still");
    plane.resume(Part::Etcd)?;
    until("the configmap after etcd's pause", Duration::from_secs(60), || {
        plane.kubectl(&["get", "configmap", "kept"]).map_err(|error| error.to_string())
    })?;

    let began = Instant::now();
    plane.down()?;
    println!("control plane: down in {:.1?}", began.elapsed());
    assert_eq!(traces.found()?, Vec::<String>::new());
    Ok(())
}

#[test]
fn two_api_servers_share_an_encrypted_store_without_controllers() -> Result<()> {
    testbed::needs!(ControlPlane);
    let encryption = "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n\
        - resources: [secrets]\n  providers:\n  - aescbc: {keys: [{name: k1, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}\n  - identity: {}\n";
    let options = Options {
        api_servers: 2,
        controllers: Vec::new(),
        encryption: Some(encryption.to_owned()),
        api_server_flags: vec!["--v=1".to_owned()],
        ..Options::default()
    };
    let mut plane = ControlPlane::start(&options)?;
    assert!(plane.restart(Part::ControllerManager).is_err(), "there is none");
    plane.kubectl(&["create", "secret", "generic", "hidden", "--from-literal=word=plaintext"])?;
    let stored = plane.stored("/registry/secrets/default/hidden")?.expect("the secret is in etcd");
    assert!(stored.starts_with(b"k8s:enc:aescbc:v1:k1:"));
    plane.stop(Part::ApiServer(0))?;
    let second = plane.url(1)?;
    let seen = plane.kubectl(&["--server", &second, "get", "secret", "hidden", "--output=jsonpath={.data.word}"])?;
    assert_eq!(seen, "cGxhaW50ZXh0", "the second server reads what the first wrote");
    plane.down()
}
