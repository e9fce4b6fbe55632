//! The KMS plugin's memory beside a plugin in Go, which does not depend on how busy a machine is.
use machineadm_benches::kms::{Call, Calls, Client, Contest, Side};
use std::time::Duration;
use testbed::programs::KMS_PEER;

#[test]
#[ignore = "long tier: links the plugin as it ships, beside a plugin in Go"]
fn the_kms_plugin_takes_a_third_of_the_memory_of_a_plugin_in_go() {
    testbed::needs!(Pinned(&KMS_PEER), Judge("softhsm2-util"), Judge("pkcs11-tool"));
    let contest = Contest::prepare().unwrap();
    let [ours, go] = [Side::Ours, Side::Go].map(|side| {
        let running = contest.start(side).unwrap();
        let calls = Calls { client: Client::Light, call: Call::Decrypt, at_once: 16 };
        let load = running.load(calls, Duration::from_secs(1)).unwrap();
        assert!(load.per_second > 0.0);
        running.memory_mb().unwrap()
    });
    // Without the libraries of SoftHSM, which are the same in both.
    assert!(ours[1] * 3.0 <= go[1], "{ours:?} {go:?}");
    assert!(ours[0] * 1.8 <= go[0], "{ours:?} {go:?}");
}
