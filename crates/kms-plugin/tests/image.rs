//! The container image, started by containerd and runc with a read-only root and the runtime's own seccomp profile.
use base64::{Engine, prelude::BASE64_STANDARD};
use machineadm_benches::machine_kms_plugin;
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use testbed::plugin_image::{self, REFERENCE};
use testbed::programs::KMS_CLIENT;
use testbed::{Bed, Machine, Profile, Result, until};

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

/// What kube-apiserver's own client is answered.
fn status(machine: &Machine) -> Result<Value, String> {
    let requests = [json!({"do": "connect", "socket": "/run/kmsplugin/a.sock"}), json!({"do": "status"})];
    let requests = requests.map(|request| format!("{request}\n")).concat();
    let printed =
        machine.shell(&format!("printf '%s' '{requests}' | /opt/kms-client")).map_err(|error| error.to_string())?;
    let last = printed.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| printed.clone())
}

#[test]
fn the_image_runs_with_a_read_only_root_and_serves_its_key() -> Result<()> {
    testbed::needs!(Nodes, Pinned(&KMS_CLIENT));
    let directory = TempDir::new().unwrap();
    let image = directory.path().join("image.tar");
    plugin_image::write(&machine_kms_plugin().unwrap(), &image)?;
    let bed = Bed::new()?;
    let machine = bed.machine("kms", &Profile::node())?;
    machine.boot()?;
    machine.copy_in(&image, "/var/tmp/image.tar")?;
    machine.copy_in(&KMS_CLIENT.ensure()?.judge("kms-client")?, "/opt/kms-client")?;
    machine.shell("mkdir -p /run/kmsplugin /etc/kms && ctr -n k8s.io images import /var/tmp/image.tar")?;
    machine.write("/etc/kms/kms.yaml", CONFIGURATION, 0o600)?;
    let secret = BASE64_STANDARD.encode([7; 32]);
    machine.write("/etc/kms/keys.yaml", format!("keys: [{{name: k, secret: {secret}}}]\n"), 0o600)?;

    let checked = machine.shell(&run("--rm", "--check"))?;
    assert!(checked.contains("a: encrypts and decrypts, key id file:"), "{checked}");
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
