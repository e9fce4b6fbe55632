//! Outages of a key service that cross kube-apiserver's 3 minutes, and that meet it at its start.
use crate::backends::{Served, Service};
use crate::fake_aws_kms::Fault;
use crate::planes::{create, kill_during_writes, options, read};
use crate::support::{Client, data, encode, error};
use serde_json::json;
use std::fs;
use std::time::{Duration, Instant};
use testbed::control_plane::{ControlPlane, Part};
use testbed::programs::{KMS_CLIENT, VAULT};
use testbed::until;

/// kube-apiserver writes for 3 minutes after the last good Status.
const EXPIRY: Duration = Duration::from_secs(180);
/// How long writes may go on: the last good Status may be a probe's age old, and servers look every 10 s.
const LATEST: Duration = Duration::from_secs(240);

/// Makes the key unusable; the code of gRPC that Status answers with.
fn take_away(served: &Served) -> &'static str {
    match &served.service {
        Service::File => {
            fs::rename(served.plugin.path("a.keys"), served.plugin.path("away")).unwrap();
            "NotFound"
        }
        Service::Aws(fake) => {
            fake.fault(Some(Fault::Error("ServiceUnavailableException".to_owned(), 503)));
            "Unavailable"
        }
        Service::Vault(vault) => {
            let nothing = "path \"none\" { capabilities = [\"deny\"] }";
            vault.post("sys/policies/acl/kms", &json!({"policy": nothing}));
            "PermissionDenied"
        }
        Service::Token => panic!("an outage of a token is tried in pkcs11.rs"),
    }
}

fn bring_back(served: &Served) {
    match &served.service {
        Service::File => fs::rename(served.plugin.path("away"), served.plugin.path("a.keys")).unwrap(),
        Service::Aws(fake) => fake.fault(None),
        Service::Vault(vault) => vault.allow_key("transit", "k"),
        Service::Token => panic!("an outage of a token is tried in pkcs11.rs"),
    }
}

/// How often it is tried whether writes still go.
const LOOK_EVERY: Duration = Duration::from_secs(4);

fn outage(served: &mut Served) -> ControlPlane {
    served.plugin.start();
    let mut client = Client::of(&served.plugin.socket("a"));
    let id = client.healthy("");
    let mut plane = ControlPlane::start(&options(&served.plugin)).unwrap();
    create(&plane, "before").unwrap();

    let began = Instant::now();
    let code = take_away(served);
    client.unhealthy(code);
    let (mut number, mut next) = (0, began);
    until("writes stop", LATEST, || {
        // A look is two processes: one every few seconds leaves the machine to other tests.
        if Instant::now() < next {
            return Err(format!("written before {next:?}"));
        }
        next = Instant::now() + LOOK_EVERY;
        number += 1;
        assert_eq!(read(&plane, "before"), encode(b"before"), "reads continue");
        match create(&plane, &format!("outage-{number}")) {
            Ok(()) => Err(format!("written after {:?}", began.elapsed())),
            Err(error) if error.to_string().contains("expired") => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    })
    .unwrap();
    // The last good Status is at most a minute older than the outage.
    let took = began.elapsed();
    assert!(took + Duration::from_secs(65) > EXPIRY, "writes continue for a while: {took:?}");
    assert_eq!(read(&plane, "before"), encode(b"before"), "reads continue");
    plane.kill(Part::ApiServer(0)).unwrap();
    plane.launch(Part::ApiServer(0)).unwrap();
    until("an API server that starts in an outage answers that its KMS is not ready", Duration::from_secs(60), || {
        match plane.kubectl(&["get", "--raw", "/readyz?verbose"]) {
            Err(error) if error.to_string().contains("[-]kms-providers failed") => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(ready) => panic!("it is ready: {ready}"),
        }
    })
    .unwrap();
    assert!(plane.kubectl(&["get", "secret", "before"]).is_err(), "it reads nothing before one successful Encrypt");
    bring_back(served);
    assert_eq!(client.healthy(""), id);
    plane.restart(Part::ApiServer(0)).unwrap();
    assert_eq!(read(&plane, "before"), encode(b"before"));
    create(&plane, "after").unwrap();
    plane
}

#[test]
fn an_outage_stops_writes_after_three_minutes_and_reads_never() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    outage(&mut Served::aws()).down().unwrap();
}

#[test]
#[ignore = "long tier: the same outage with keys of Vault"]
fn an_outage_of_vault_stops_writes_after_three_minutes_and_reads_never() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT), Pinned(&VAULT));
    outage(&mut Served::vault()).down().unwrap();
}

#[test]
#[ignore = "long tier: the same outage with keys in a file, and a hundred crashes"]
fn an_outage_of_a_key_file_and_a_hundred_crashes_lose_nothing() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    let mut served = Served::file();
    let mut plane = outage(&mut served);
    kill_during_writes(&mut plane, &mut served.plugin, 100);
    let opened = Client::of(&served.plugin.socket("a")).ask(&json!({"do": "encrypt", "data": encode(&[1; 32])}));
    assert_eq!((error(&opened), data(&opened).len()), ("", 60));
    plane.down().unwrap();
}
