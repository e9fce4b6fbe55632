//! What a token of ours is good for at a real API server: it authenticates, its certificate request is approved and
//! signed, and nothing else is allowed to it.
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    time::Duration,
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
    until,
};

const LIMIT: Duration = Duration::from_secs(60);
/// What a holder may read: its own kind of request, and one node by its name, which kubeadm grants so that a joining
/// machine sees whether its name is taken (docs/discovery.md).
const READABLE: [&str; 1] = ["certificatesigningrequests.certificates.k8s.io"];

struct Holder {
    kubectl: PathBuf,
    kubeconfig: PathBuf,
    identity: Vec<String>,
}

impl Holder {
    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(&self.kubectl);
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(&self.identity).args(words);
        command.output().expect("kubectl runs")
    }

    fn allowed(&self, words: &[&str]) -> std::result::Result<String, String> {
        let output = self.run(words);
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

fn machineadm(plane: &ControlPlane, words: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    let output = command.args(words).arg("--kubeconfig").arg(plane.kubeconfig()).output().expect("machineadm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A key, and a certificate request for a node's identity.
fn request(dir: &Path) -> Value {
    let (key, csr) = (dir.join("node.key"), dir.join("node.csr"));
    let made = testbed::judges::command("openssl")
        .expect("openssl")
        .args([
            "req",
            "-new",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/O=system:nodes/CN=system:node:probe",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&csr)
        .output()
        .expect("openssl is missing: run scripts/setup");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    use base64::Engine;
    let encoded = base64::engine::general_purpose::STANDARD.encode(std::fs::read(csr).expect("the request"));
    json!({
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "probe"},
        "spec": {
            "request": encoded,
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        },
    })
}

#[test]
fn a_token_of_ours_gets_a_node_its_certificate_and_may_do_nothing_else() -> Result<()> {
    let plane = ControlPlane::start(&Options::default())?;
    machineadm(&plane, &["discovery-objects"]);
    let token = machineadm(&plane, &["token", "create"]);
    let dir = tempfile::tempdir().expect("a directory");
    let discovered = dir.path().join("discovered.yaml");
    let cluster = plane.kubectl(&["config", "view", "--raw", "--output=jsonpath={.clusters[0].cluster}"])?;
    let cluster: Value = serde_json::from_str(&cluster).expect("a cluster");
    std::fs::write(&discovered, json!({"clusters": [{"name": "c", "cluster": cluster}], "contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}).to_string()).expect("a file");
    let holder = Holder {
        kubectl: KUBERNETES.ensure()?.judge("kubectl")?,
        kubeconfig: discovered,
        identity: vec![format!("--token={token}")],
    };
    let id = token.split('.').next().expect("an id");
    let known = holder.allowed(&["auth", "whoami", "--output=jsonpath={.status.userInfo}"]).expect("it authenticates");
    let known: Value = serde_json::from_str(&known).expect("a user");
    assert_eq!(known["username"], format!("system:bootstrap:{id}"));
    assert!(known["groups"].to_string().contains("system:bootstrappers:kubeadm:default-node-token"), "{known}");

    let file = dir.path().join("request.json");
    std::fs::write(&file, request(dir.path()).to_string()).expect("a file");
    holder.allowed(&["create", "-f", &file.to_string_lossy()]).expect("a request is accepted");
    let certificate = until("the request is approved and signed", LIMIT, || {
        let output = ["get", "csr", "probe", "--output=jsonpath={.status.certificate}"];
        let signed = plane.kubectl(&output).map_err(|error| error.to_string())?;
        if signed.is_empty() { Err("no certificate".to_owned()) } else { Ok(signed) }
    })?;
    everything_else_is_refused(&plane, &holder)?;
    the_certificate_replaces_the_token(&holder, dir.path(), &certificate);
    plane.down()
}

fn everything_else_is_refused(plane: &ControlPlane, holder: &Holder) -> Result<()> {
    let resources = plane.kubectl(&["api-resources", "--verbs=list", "--output=name"])?;
    let resources: Vec<&str> = resources.lines().collect();
    assert!(resources.len() > 40 && READABLE.iter().all(|one| resources.contains(one)), "{resources:?}");
    for resource in resources {
        let read = holder.allowed(&["get", resource, "--all-namespaces"]);
        match READABLE.contains(&resource) {
            true => assert!(read.is_ok(), "{resource}: {read:?}"),
            false => assert!(read.as_ref().is_err_and(|why| why.contains("forbidden")), "{resource}: {read:?}"),
        }
    }
    for words in [
        &["get", "secret", "--namespace=kube-system", "bootstrap-token-abcdef"][..],
        &["get", "configmap", "--namespace=kube-system", "kubeadm-config"],
        &["create", "configmap", "probe", "--namespace=default"],
        &["create", "serviceaccount", "probe", "--namespace=kube-system"],
        &["delete", "node", "probe"],
        &["certificate", "approve", "probe", "--force"],
        &["create", "clusterrolebinding", "probe", "--clusterrole=cluster-admin", "--group=system:bootstrappers"],
    ] {
        let tried = holder.allowed(words);
        assert!(tried.as_ref().is_err_and(|why| why.contains("forbidden")), "{words:?}: {tried:?}");
    }
    // One node by its name, and no list of them.
    let node = holder.allowed(&["get", "node", "probe"]);
    assert!(node.as_ref().is_err_and(|why| why.contains("not found")), "{node:?}");
    Ok(())
}

/// From then on the machine is the node that the certificate names.
fn the_certificate_replaces_the_token(holder: &Holder, dir: &Path, certificate: &str) {
    use base64::Engine;
    let path = dir.join("node.crt");
    let pem = base64::engine::general_purpose::STANDARD.decode(certificate).expect("base64");
    std::fs::write(&path, pem).expect("a file");
    let node = Holder {
        kubectl: holder.kubectl.clone(),
        kubeconfig: holder.kubeconfig.clone(),
        identity: vec![
            format!("--client-certificate={}", path.display()),
            format!("--client-key={}", dir.join("node.key").display()),
        ],
    };
    let known = node.allowed(&["auth", "whoami", "--output=jsonpath={.status.userInfo.username}"]);
    assert_eq!(known.as_deref(), Ok("system:node:probe"));
}
