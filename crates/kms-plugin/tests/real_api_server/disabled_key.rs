//! A key of AWS (a fake) that is disabled under a real kube-apiserver, and enabled again.
use crate::backends::{Served, Service};
use crate::fake_aws_kms::ARN;
use crate::planes::{create, options, read, stored_id};
use crate::support::{Client, encode};
use std::time::Duration;
use testbed::control_plane::ControlPlane;
use testbed::programs::KMS_CLIENT;
use testbed::until;

/// A good look at the plugin is remembered for 20 s, a bad one for 3 s.
const NOTICED: Duration = Duration::from_secs(60);

/// What the API server says of its KMS.
fn kms_health(plane: &ControlPlane) -> Result<String, String> {
    plane.kubectl(&["get", "--raw", "/readyz/kms-providers"]).map_err(|error| error.to_string())
}

#[test]
fn an_api_server_whose_key_is_disabled_is_not_ready_reads_on_and_recovers() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    let mut served = Served::aws();
    served.plugin.start();
    let mut client = Client::of(&served.plugin.socket("a"));
    let id = client.healthy("");
    let plane = ControlPlane::start(&options(&served.plugin)).unwrap();
    let Service::Aws(fake) = &served.service else { panic!("not AWS") };
    for name in ["written", "written-and-read"] {
        create(&plane, name).unwrap();
    }
    assert_eq!(read(&plane, "written-and-read"), encode(b"written-and-read"));
    assert_eq!(kms_health(&plane).unwrap(), "ok");

    fake.key(|key| key.state = "Disabled");
    let cause = format!("key a: disabled: the key {ARN} is disabled");
    client.unhealthy(&cause);
    until("the API server is not ready, and says why", NOTICED, || match kms_health(&plane) {
        Err(health) if health.contains(&cause) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    let ready = plane.kubectl(&["get", "--raw", "/readyz?verbose"]).unwrap_err().to_string();
    assert!(ready.contains("[-]kms-providers failed"), "{ready}");
    for name in ["written", "written-and-read"] {
        assert_eq!(read(&plane, name), encode(name.as_bytes()), "what it wrote or read is still read");
    }

    fake.key(|key| key.state = "Enabled");
    assert_eq!(client.healthy(""), id);
    until("the API server is ready again", NOTICED, || kms_health(&plane)).unwrap();
    create(&plane, "after").unwrap();
    assert_eq!(stored_id(&plane, &mut client, "after"), id);
    assert_eq!(read(&plane, "after"), encode(b"after"));
    plane.down().unwrap();
}
