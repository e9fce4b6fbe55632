//! Changing the API server of a control plane node that runs.
mod support {
    pub(crate) mod cluster;
    pub(crate) mod control_plane;
    pub(crate) mod first_node;
}

use support::cluster::{Authority, LIMIT, PROGRAM};
use support::first_node::first_with_token;
use testbed::{Bed, Result};

#[test]
fn explore() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let (first, _endpoint) = first_with_token(&bed, &ca)?;
    let doc = |value: &str, audit: &str| {
        format!(
            "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ControlPlaneConfig
metadata: {{name: api}}
spec:
  arguments: {{goaway-chance: '{value}'}}
  audit:
    policy: |
      apiVersion: audit.k8s.io/v1
      kind: Policy
      rules:
      - level: {audit}
"
        )
    };
    for (value, audit) in
        [("0.001", "Metadata"), ("0.001", "Metadata"), ("0.001", "Request"), ("7", "Request"), ("0.002", "Request")]
    {
        first.write("/srv/post.yaml", doc(value, audit), 0o600)?;
        for words in [
            &["plan", "-f", "/srv/post.yaml", "--mode", "post"][..],
            &["bootstrap", "-f", "/srv/post.yaml", "--mode", "post"],
        ] {
            let at = std::time::Instant::now();
            let ran = first.run_within(&[&[PROGRAM], words].concat(), LIMIT)?;
            println!(
                "=== {value} {audit} {words:?} code {} {:?}\n{}\n--\n{}",
                ran.code,
                at.elapsed(),
                ran.stdout,
                ran.stderr
            );
        }
    }
    println!("{}", first.shell("cat /etc/kubernetes/manifests/kube-apiserver.yaml; ls -laR /etc/kubernetes/machineadm /var/lib/machineadm; ls /run/machineadm")?);
    println!("{}", first.kubectl(&["-n", "kube-system", "get", "cm", "kubeadm-config", "-o", "yaml"])?);
    bed.down()
}
