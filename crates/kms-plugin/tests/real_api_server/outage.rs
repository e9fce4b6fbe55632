//! Outages of a key service that cross kube-apiserver's 3 minutes, and that meet it at its start.
use crate::backends::{Served, Service};
use crate::fake_aws_kms::Fault;
use crate::planes::{create, options, read, stored_id};
use crate::support::{Client, Plugin, encode};
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
        Service::Token => {
            let token = served.plugin.token.as_ref().unwrap();
            fs::rename(token.tokens(), served.plugin.path("away")).unwrap();
            "Unavailable"
        }
    }
}

fn bring_back(served: &Served) {
    match &served.service {
        Service::File => fs::rename(served.plugin.path("away"), served.plugin.path("a.keys")).unwrap(),
        Service::Aws(fake) => fake.fault(None),
        Service::Vault(vault) => vault.allow_key("transit", "k"),
        Service::Token => {
            let token = served.plugin.token.as_ref().unwrap();
            fs::rename(served.plugin.path("away"), token.tokens()).unwrap();
        }
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
#[ignore = "long tier: the same outage with keys in a file"]
fn an_outage_of_a_key_file_stops_writes_after_three_minutes_and_reads_never() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    outage(&mut Served::file()).down().unwrap();
}

#[test]
#[ignore = "long tier: the same outage with keys of a token"]
fn an_outage_of_a_token_stops_writes_after_three_minutes_and_reads_never() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    outage(&mut Served::token()).down().unwrap();
}

#[test]
#[ignore = "long tier: an outage with onOutage: continue, which must outlast the 3 minutes"]
fn with_on_outage_continue_writes_go_on_and_readyz_fails() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    let mut served = Served { plugin: Plugin::new(&[("a", "  onOutage: continue\n")]), service: Service::File };
    served.plugin.start();
    let mut client = Client::of(&served.plugin.socket("a"));
    let id = client.healthy("");
    let plane = ControlPlane::start(&options(&served.plugin)).unwrap();
    take_away(&served);
    let told = client.unhealthy("got unexpected healthz status: key a: missing");
    assert_eq!(told["keyID"].as_str(), Some(id.as_str()));
    let (began, mut number, mut next) = (Instant::now(), 0, Instant::now());
    until("the outage has outlasted the expiry", LATEST + LATEST, || {
        if Instant::now() >= next {
            (next, number) = (Instant::now() + LOOK_EVERY, number + 1);
            create(&plane, &format!("outage-{number}")).unwrap();
        }
        if began.elapsed() > LATEST { Ok(()) } else { Err(format!("{:?}", began.elapsed())) }
    })
    .unwrap();
    assert_eq!(stored_id(&plane, &mut client, &format!("outage-{number}")), id);
    let ready = plane.kubectl(&["get", "--raw", "/readyz?verbose"]).unwrap_err().to_string();
    assert!(ready.contains("[-]kms-providers failed"), "{ready}");
    bring_back(&served);
    client.healthy("");
    plane.down().unwrap();
}
