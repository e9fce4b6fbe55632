//! A token webhook in a static pod, as documents: its program, its pod, and the API server that asks it.
use base64::{Engine, prelude::BASE64_STANDARD};
use std::process::Command;
use testbed::judges;

/// The token that it accepts.
pub(crate) const GOOD: &str = "the-good-token";

/// Answers TokenReviews of one token. The pod has no program of its own: it runs the machine's python.
const PROGRAM: &str = r#"
import http.server, json, ssl
class Webhook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_good = review["spec"]["token"] == "the-good-token"
        user = {"username": "webhook-user", "groups": ["system:masters"]}
        review["status"] = {"authenticated": is_good, **({"user": user} if is_good else {})}
        body = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("/etc/token-webhook/tls.crt", "/etc/token-webhook/tls.key")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 9443), Webhook)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"#;

/// A certificate for it, of a real openssl.
pub(crate) struct Certificate {
    certificate: String,
    key: String,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        judges::command("openssl").expect("openssl is there");
        let folder = tempfile::tempdir().expect("a directory");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=token-webhook"];
        let mut openssl = Command::new("openssl");
        openssl.args(words).args(["-addext", "subjectAltName=IP:127.0.0.1"]);
        let made = openssl.args(["-keyout", &path("key"), "-out", &path("certificate")]).output().expect("openssl");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("a file");
        Self { certificate: read("certificate"), key: read("key") }
    }
}

fn indented(text: &str, spaces: usize) -> String {
    let margin = " ".repeat(spaces);
    text.trim().lines().map(|line| format!("{margin}{line}\n")).collect()
}

/// The pod and its files.
pub(crate) fn pod(certificate: &Certificate) -> String {
    let Certificate { certificate, key } = certificate;
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: FilesConfig
metadata: {{name: token-webhook}}
spec:
  files:
  - path: /etc/token-webhook/webhook.py
    content: |
{}  - path: /etc/token-webhook/tls.crt
    content: |
{}  - path: /etc/token-webhook/tls.key
    mode: '0600'
    content: |
{}---
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: StaticPodsConfig
metadata: {{name: token-webhook}}
spec:
  pods:
  - manifest: |
      apiVersion: v1
      kind: Pod
      metadata: {{name: token-webhook, namespace: kube-system}}
      spec:
        hostNetwork: true
        priorityClassName: system-node-critical
        containers:
        - name: token-webhook
          image: registry.k8s.io/pause:3.10.2
          imagePullPolicy: Never
          command: [/usr/bin/python3, /etc/token-webhook/webhook.py]
          volumeMounts:
          - {{name: webhook, mountPath: /etc/token-webhook, readOnly: true}}
          - {{name: usr, mountPath: /usr, readOnly: true}}
          - {{name: lib, mountPath: /lib, readOnly: true}}
          - {{name: lib64, mountPath: /lib64, readOnly: true}}
        volumes:
        - {{name: webhook, hostPath: {{path: /etc/token-webhook, type: Directory}}}}
        - {{name: usr, hostPath: {{path: /usr, type: Directory}}}}
        - {{name: lib, hostPath: {{path: /usr/lib, type: Directory}}}}
        - {{name: lib64, hostPath: {{path: /usr/lib64, type: Directory}}}}
---
",
        indented(PROGRAM, 6),
        indented(certificate, 6),
        indented(key, 6)
    )
}

/// The API server that asks it, at this URL, and closes so many of its connections.
pub(crate) fn api_server(certificate: &Certificate, url: &str, goaway_chance: &str) -> String {
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ControlPlaneConfig
metadata: {{name: authentication}}
spec:
  audit:
    policy: |
      apiVersion: audit.k8s.io/v1
      kind: Policy
      rules:
      - level: Metadata
        users: [webhook-user]
      - level: None
  authentication:
    webhook:
      kubeconfig: |
        apiVersion: v1
        kind: Config
        clusters: [{{name: webhook, cluster: {{server: '{url}', certificate-authority-data: {}}}}}]
        users: [{{name: api-server, user: {{}}}}]
        contexts: [{{name: webhook, context: {{cluster: webhook, user: api-server}}}}]
        current-context: webhook
  arguments: {{goaway-chance: '{goaway_chance}'}}
---
",
        BASE64_STANDARD.encode(&certificate.certificate)
    )
}
