//! The container image, started by containerd and runc with a read-only root and the runtime's own seccomp profile.
use crate::{status, with_image};
use base64::{Engine, prelude::BASE64_STANDARD};
use std::time::Duration;
use testbed::plugin_image::REFERENCE;
use testbed::programs::KMS_CLIENT;
use testbed::{Bed, Result, until};

const LIMIT: Duration = Duration::from_secs(60);
const CONFIGURATION: &str = "\
apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1
kind: PluginConfiguration
keys:
- name: a
  socket: /run/kmsplugin/a.sock
  file: {path: /etc/kms/keys.yaml}
";

/// The command that runs the image, as a pod with this security context would.
fn run(further: &str, arguments: &str) -> String {
    format!(
        "ctr -n k8s.io run {further} --read-only --seccomp \
        --mount type=bind,src=/etc/kms,dst=/etc/kms,options=rbind:ro \
        --mount type=bind,src=/run/kmsplugin,dst=/run/kmsplugin,options=rbind:rw \
        {REFERENCE} kms /machineadm-kms-plugin --config /etc/kms/kms.yaml {arguments}"
    )
}

#[test]
fn the_image_runs_with_a_read_only_root_and_serves_its_key() -> Result<()> {
    testbed::needs!(Nodes, Pinned(&KMS_CLIENT));
    let bed = Bed::new()?;
    let machine = with_image(&bed)?;
    machine.write("/etc/kms/kms.yaml", CONFIGURATION, 0o600)?;
    let secret = BASE64_STANDARD.encode([7; 32]);
    machine.write("/etc/kms/keys.yaml", format!("keys: [{{name: k, secret: {secret}}}]\n"), 0o600)?;

    // By way of a file: what a container prints that ends at once, ctr may lose.
    machine.shell(&run("--rm --log-uri file:///var/tmp/checked", "--check"))?;
    let checked = until("the check has printed its result", LIMIT, || {
        let checked = machine.read("/var/tmp/checked").map_err(|error| error.to_string())?;
        if checked.contains("a: encrypts and decrypts, key id file:") { Ok(checked) } else { Err(checked) }
    })?;
    machine.shell(&format!("setsid {} >/var/tmp/log 2>&1 &", run("--rm", "")))?;
    let told = until("the plugin in its container answers", LIMIT, || {
        let told = status(&machine)?;
        if told["healthz"] == "ok" { Ok(told) } else { Err(told.to_string()) }
    })?;
    assert!(checked.contains(told["keyID"].as_str().unwrap()), "{told}");
    let log = machine.read("/var/tmp/log")?;
    assert!(log.contains("\"landlock\":\"enforced") && log.contains("\"seccomp\":\"enforced\""), "{log}");
    let mode = machine.shell("stat -c %a /run/kmsplugin/a.sock")?;
    assert_eq!(mode.trim(), "600");
    let root = machine.shell("grep ' / ' /proc/$(pgrep -f '^/machineadm-kms-plugin')/mounts")?;
    assert!(root.split(' ').nth(3).is_some_and(|options| options.split(',').any(|option| option == "ro")), "{root}");
    bed.down()
}
