//! A real kube-apiserver encrypts with a key of each key service: what etcd stores, restarts, rotation and crashes.

use crate::backends::Served;
use crate::planes::{create, kill_before_each_write, options, read, stored_id, wait_for_adoption};
use crate::support::{Client, encode};
use testbed::control_plane::{ControlPlane, Part};
use testbed::programs::{KMS_CLIENT, VAULT};

/// How often the plugin is killed.
enum Crashes {
    None,
    Ten,
}

fn follow_a_rotation(mut served: Served, crashes: &Crashes) {
    served.plugin.start();
    let mut client = Client::of(&served.plugin.socket("a"));
    let first = client.healthy("");
    let mut plane = ControlPlane::start(&options(&served.plugin)).unwrap();
    create(&plane, "before").unwrap();
    assert_eq!(stored_id(&plane, &mut client, "before"), first);

    served.rotate();
    let second = client.healthy(&first);
    wait_for_adoption(&plane, &mut client, &second);
    match crashes {
        Crashes::Ten => kill_before_each_write(&mut plane, &mut served.plugin, 10),
        Crashes::None => {
            plane.kill(Part::ApiServer(0)).unwrap();
            plane.restart(Part::ApiServer(0)).unwrap();
        }
    }
    assert_eq!(read(&plane, "before"), encode(b"before"), "the old key still decrypts, after a restart too");
    // A write without a change makes what is stale new.
    let secret = plane.kubectl(&["get", "secret", "before", "-o", "json"]).unwrap();
    let file = served.plugin.path("secret.json");
    std::fs::write(&file, secret).unwrap();
    plane.kubectl(&["replace", "-f", &file.display().to_string()]).unwrap();
    assert_eq!(stored_id(&plane, &mut client, "before"), second);
    plane.down().unwrap();
}

#[test]
fn a_real_api_server_encrypts_restarts_follows_a_rotation_and_loses_nothing_in_crashes() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    follow_a_rotation(Served::file(), &Crashes::Ten);
}

#[test]
fn a_real_api_server_encrypts_with_a_key_of_aws_and_follows_its_rotation() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    follow_a_rotation(Served::aws(), &Crashes::None);
}

#[test]
fn a_real_api_server_encrypts_with_a_key_of_vault_and_follows_its_rotation() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT), Pinned(&VAULT));
    follow_a_rotation(Served::vault(), &Crashes::None);
}

#[test]
fn a_real_api_server_encrypts_with_a_key_of_a_token_and_follows_its_rotation() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    follow_a_rotation(Served::token(), &Crashes::None);
}
