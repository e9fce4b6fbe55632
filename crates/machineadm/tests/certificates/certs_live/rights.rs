//! Who may read a copy: holders of a join token, by its name, and nobody else.
use super::look::done;
use crate::support::certs_bed::CertsBed;
use std::{fs, path::Path, process::Command};
use testbed::Result;

const SECRETS: &str = "/api/v1/namespaces/kube-system/secrets";

/// As whom the API server is asked.
enum Identity {
    Anonymous,
    Token(String),
    Certificate,
}

pub(crate) fn only_join_tokens_read_the_copy(bed: &CertsBed) -> Result<()> {
    node_certificate(bed);
    let join = Identity::Token(bed.token.clone());
    let copy = format!("{SECRETS}/kubeadm-certs");
    assert_eq!(status(bed, &join, "GET", &copy)?, 200);
    for name in bed.secrets()?.into_keys().filter(|name| name != "kubeadm-certs") {
        assert_eq!(status(bed, &join, "GET", &format!("{SECRETS}/{name}"))?, 403, "{name}");
    }
    for path in [SECRETS.to_owned(), format!("{SECRETS}?fieldSelector=metadata.name%3Dkubeadm-certs")] {
        assert_eq!(status(bed, &join, "GET", &path)?, 403, "{path}");
    }
    for method in ["PUT", "PATCH", "DELETE"] {
        assert_eq!(status(bed, &join, method, &copy)?, 403, "{method}");
    }
    let other = done(bed.admin(&["token", "create", "--groups", "system:bootstrappers:others"])).stdout;
    for identity in [Identity::Token(other.trim().to_owned()), Identity::Anonymous, Identity::Certificate] {
        assert_eq!(status(bed, &identity, "GET", &copy)?, 403);
    }
    a_token_of_another_group_is_told_what_it_lacks(bed, other.trim());
    done(bed.admin(&["token", "delete", other.trim()]));
    Ok(())
}

/// It discovers the cluster, and may read neither kubeadm-config nor the copy.
fn a_token_of_another_group_is_told_what_it_lacks(bed: &CertsBed, token: &str) {
    let cluster =
        bed.file("cluster.yaml", "etcd: {local: {}}\napiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n");
    let ran = bed.download(&["--tls-bootstrap-token", token, "--config", &cluster]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    let needed = "use a bootstrap token with the group system:bootstrappers:kubeadm:default-node-token";
    assert!(ran.stderr.contains("the certificates cannot be downloaded") && ran.stderr.contains(needed), "{ran:?}");
}

/// The status that the API server answers with.
fn status(bed: &CertsBed, identity: &Identity, method: &str, path: &str) -> Result<u16> {
    let (pki, scratch) = (bed.plane.pki(), bed.scratch.path());
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "--noproxy", "*", "--cacert"]);
    curl.arg(pki.join("ca.crt")).args(["--request", method]);
    match identity {
        Identity::Anonymous => &mut curl,
        Identity::Token(token) => curl.arg("--header").arg(format!("Authorization: Bearer {token}")),
        Identity::Certificate => {
            curl.arg("--cert").arg(scratch.join("node.crt")).arg("--key").arg(scratch.join("node.key"))
        }
    };
    if method != "GET" {
        let kind = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
        curl.args(["--data", "{}", "--header"]).arg(format!("Content-Type: {kind}"));
    }
    let answer = curl.arg(format!("{}{path}", bed.plane.url(0)?)).output().unwrap();
    Ok(String::from_utf8_lossy(&answer.stdout).parse().unwrap())
}

/// The identity of a node, signed by the cluster's CA.
fn node_certificate(bed: &CertsBed) {
    let (pki, scratch) = (bed.plane.pki(), bed.scratch.path());
    let [key, request, certificate] = ["node.key", "node.csr", "node.crt"].map(|name| scratch.join(name));
    let subject = "/O=system:nodes/CN=system:node:probe";
    let ec = ["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", subject];
    openssl(&ec, &[("-keyout", &key), ("-out", &request)]);
    let (ca, ca_key) = (pki.join("ca.crt"), pki.join("ca.key"));
    let sign = ["x509", "-req", "-set_serial", "7", "-days", "1"];
    openssl(&sign, &[("-in", &request), ("-CA", &ca), ("-CAkey", &ca_key), ("-out", &certificate)]);
    assert!(fs::read_to_string(certificate).unwrap().contains("BEGIN CERTIFICATE"));
}

fn openssl(words: &[&str], files: &[(&str, &Path)]) {
    let mut command = testbed::judges::command("openssl").unwrap();
    command.args(words);
    for (flag, path) in files {
        command.arg(flag).arg(path);
    }
    let ended = command.output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}
