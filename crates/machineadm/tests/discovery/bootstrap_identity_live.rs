//! What a token of ours is good for at a real API server: it authenticates, its certificate request is approved and
//! signed, and nothing else is allowed to it. Clients without a token may read cluster-info, and nothing else.
use fetch::{Client, Limits, Method, Reach, Request, Settings, Trust, certificates};
use secret::Secret as Hidden;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
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
/// What a holder may list: its own kind of request. It may also read one node by its name, which kubeadm grants so that
/// a joining machine sees whether its name is taken (docs/discovery.md).
const REQUESTS: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/// A namespace that nobody but this test knows.
const OTHER: &str = "other";

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

/// The kubeconfig of the cluster, which the token verifies. It has no credentials.
fn discover(plane: &ControlPlane, token: &str) -> Result<Vec<u8>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["discover", &plane.url(0)?, "--token", token, "--discovery-token-unsafe-skip-ca-verification"]);
    let output = command.args(["--output", "kubeconfig"]).output().expect("machineadm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

/// A key, and a certificate request for a node's identity, as an object of this name.
fn request(dir: &Path, name: &str) -> Value {
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
        "metadata": {"name": name},
        "spec": {
            "request": encoded,
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "usages": ["digital signature", "client auth"],
        },
    })
}

#[test]
fn a_token_gets_a_certificate_anonymous_clients_read_cluster_info_and_neither_may_do_anything_else() -> Result<()> {
    testbed::needs!(ControlPlane, Judge("openssl"));
    let plane = ControlPlane::start(&Options::default())?;
    plane.kubectl(&["create", "namespace", OTHER])?;
    machineadm(&plane, &["discovery-objects"]);
    anonymous_clients_may_read_cluster_info_and_nothing_else(&plane)?;
    let token = machineadm(&plane, &["token", "create"]);
    let dir = tempfile::tempdir().expect("a directory");
    let discovered = dir.path().join("discovered.yaml");
    std::fs::write(&discovered, discover(&plane, &token)?).expect("a file");
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
    std::fs::write(&file, request(dir.path(), "probe").to_string()).expect("a file");
    holder.allowed(&["create", "-f", &file.to_string_lossy()]).expect("a request is accepted");
    let certificate = until("the request is approved and signed", LIMIT, || {
        let output = ["get", "csr", "probe", "--output=jsonpath={.status.certificate}"];
        let signed = plane.kubectl(&output).map_err(|error| error.to_string())?;
        if signed.is_empty() { Err("no certificate".to_owned()) } else { Ok(signed) }
    })?;
    everything_else_is_refused(&plane, &holder, &token)?;
    the_certificate_replaces_the_token(&holder, dir.path(), &certificate);
    plane.down()
}

/// May ask for certificates; nothing approves them.
const UNAPPROVED: &str = "system:bootstrappers:unapproved";

#[test]
fn a_request_is_approved_only_where_the_group_of_its_token_is_bound_to_the_approval() -> Result<()> {
    testbed::needs!(ControlPlane, Judge("openssl"));
    let plane = ControlPlane::start(&Options::default())?;
    machineadm(&plane, &["discovery-objects"]);
    let bind = |name: &str, role: &str| {
        let [role, group] = [format!("--clusterrole={role}"), format!("--group={UNAPPROVED}")];
        plane.kubectl(&["create", "clusterrolebinding", name, &role, &group]).map(drop)
    };
    bind("may-request", "system:node-bootstrapper")?;
    let dir = tempfile::tempdir().expect("a directory");
    let kubeconfig = dir.path().join("discovered.yaml");
    for (name, groups) in [("other", &["--groups", UNAPPROVED][..]), ("usual", &[])] {
        let token = machineadm(&plane, &[&["token", "create"], groups].concat());
        std::fs::write(&kubeconfig, discover(&plane, &token)?).expect("a file");
        let identity = vec![format!("--token={token}")];
        let holder =
            Holder { kubectl: KUBERNETES.ensure()?.judge("kubectl")?, kubeconfig: kubeconfig.clone(), identity };
        let file = dir.path().join(format!("{name}.json"));
        std::fs::write(&file, request(dir.path(), name).to_string()).expect("a file");
        until("the request is accepted", LIMIT, || holder.allowed(&["create", "-f", &file.to_string_lossy()]))?;
    }
    let conditions = |name: &str| {
        let shown = ["get", "csr", name, "--output=jsonpath={.status.conditions[*].type}"];
        plane.kubectl(&shown).map_err(|error| error.to_string())
    };
    let approved = |name: &str| match conditions(name)?.as_str() {
        "Approved" => Ok(()),
        other => Err(other.to_owned()),
    };
    // The controller takes them in their order: it has seen the first when the second is approved.
    until("the request of the usual group", LIMIT, || approved("usual"))?;
    assert_eq!(conditions("other").expect("an answer"), "", "nobody approves it");
    bind("may-be-approved", "system:certificates.k8s.io:certificatesigningrequests:nodeclient")?;
    until("the request of the other group, now that it is bound", LIMIT, || approved("other"))?;
    plane.down()
}

fn everything_else_is_refused(plane: &ControlPlane, holder: &Holder, token: &str) -> Result<()> {
    let expected = |_: &str| EVERYBODY.into_iter().chain(HOLDER).map(str::to_owned).collect();
    allowed_are(plane, |namespace| rules(|words| holder.allowed(words), namespace), expected)?;
    let caller = Caller::at(plane, Some(token))?;
    let lists = lists(plane)?;
    assert!(lists.iter().any(|path| path == REQUESTS), "{lists:?}");
    for path in lists {
        let expected = if path == REQUESTS { 200 } else { 403 };
        assert_eq!(caller.status(Method::Get, &path), expected, "{path}");
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

/// What Kubernetes itself allows to every client that it knows, in each namespace.
const EVERYBODY: [&str; 14] = [
    "[/api/*] [] [get]",
    "[/api] [] [get]",
    "[/apis/*] [] [get]",
    "[/apis] [] [get]",
    "[/healthz] [] [get]",
    "[/livez] [] [get]",
    "[/openapi/*] [] [get]",
    "[/openapi] [] [get]",
    "[/readyz] [] [get]",
    "[/version/] [] [get]",
    "[/version] [] [get]",
    "selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
    "selfsubjectreviews.authentication.k8s.io [] [] [create]",
    "selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
];
/// What our objects allow to the holder of a token besides.
const HOLDER: [&str; 3] = [
    "certificatesigningrequests.certificates.k8s.io [] [] [create get list watch]",
    "certificatesigningrequests.certificates.k8s.io/nodeclient [] [] [create]",
    "nodes [] [] [get]",
];
/// What they allow to everybody, in kube-public alone.
const CLUSTER_INFO: &str = "configmaps [] [cluster-info] [get]";

/// What RBAC allows to somebody in a namespace and cluster-wide, as this kubectl lists it.
fn rules(kubectl: impl Fn(&[&str]) -> std::result::Result<String, String>, namespace: &str) -> Rules {
    let listed = kubectl(&["auth", "can-i", "--list", "--no-headers", "--namespace", namespace])?;
    Ok(listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
}

type Rules = std::result::Result<BTreeSet<String>, String>;

/// Compares what is allowed in every namespace with these rules. The API server reads its bindings from a cache, which is
/// a moment behind: the first comparison waits for it, all others are made once.
fn allowed_are(
    plane: &ControlPlane,
    rules_in: impl Fn(&str) -> Rules,
    expected_in: impl Fn(&str) -> BTreeSet<String>,
) -> Result<()> {
    until("the rights of our bindings", LIMIT, || {
        let rules = rules_in("kube-public")?;
        if rules == expected_in("kube-public") { Ok(()) } else { Err(format!("{rules:#?}")) }
    })?;
    let namespaces = plane.kubectl(&["get", "namespaces", "--output=name"])?;
    let names: BTreeSet<&str> = namespaces.lines().filter_map(|line| line.strip_prefix("namespace/")).collect();
    let wanted = ["default", "kube-node-lease", "kube-public", "kube-system", OTHER];
    assert!(wanted.iter().all(|name| names.contains(name)), "{names:?}");
    for name in names {
        assert_eq!(rules_in(name).expect("a list"), expected_in(name), "{name}");
    }
    Ok(())
}

/// A client that asks the API server as it is, by token or without credentials.
struct Caller {
    client: Client,
    server: String,
    token: Option<String>,
}

impl Caller {
    fn at(plane: &ControlPlane, token: Option<&str>) -> Result<Self> {
        let authority = std::fs::read(plane.pki().join("ca.crt")).expect("the cluster's CA certificate");
        let trust = Trust::Only(certificates(&authority).expect("PEM"));
        let settings = Settings { reach: Reach::ANYWHERE, limits: Limits::default(), ..Settings::new(trust) };
        let client = Client::new(settings).expect("a client");
        Ok(Self { client, server: plane.url(0)?, token: token.map(str::to_owned) })
    }

    fn status(&self, method: Method, path: &str) -> u16 {
        let request = Request::new(method, &format!("{}{path}", self.server)).expect("a URL");
        let request = match method {
            Method::Get | Method::Delete => request,
            Method::Patch => request.with_body("application/merge-patch+json", b"{}".to_vec()),
            Method::Post | Method::Put => request.with_body("application/json", b"{}".to_vec()),
        };
        let request = match &self.token {
            Some(token) => request.with_header("Authorization", Hidden::new(format!("Bearer {token}"))),
            None => request,
        };
        self.client.send(&request).expect("an answer").status
    }
}

fn anonymous_clients_may_read_cluster_info_and_nothing_else(plane: &ControlPlane) -> Result<()> {
    // They may not ask for their rights themselves: those of `system:authenticated`, which may, are part of the answer.
    let whom = ["--as=system:anonymous", "--as-group=system:unauthenticated", "--as-group=system:authenticated"];
    let kubectl = |words: &[&str]| plane.kubectl(&[words, &whom].concat()).map_err(|error| error.to_string());
    let expected = |namespace: &str| {
        let more = (namespace == "kube-public").then_some(CLUSTER_INFO);
        EVERYBODY.into_iter().chain(more).map(str::to_owned).collect()
    };
    allowed_are(plane, |namespace| rules(kubectl, namespace), expected)?;
    for (namespace, name) in [("kube-public", "other"), ("default", "cluster-info"), ("kube-system", "cluster-info")] {
        plane.kubectl(&["--namespace", namespace, "create", "configmap", name])?;
    }
    let stranger = Caller::at(plane, None)?;
    let of_kube_public = "/api/v1/namespaces/kube-public";
    let cluster_info = format!("{of_kube_public}/configmaps/cluster-info");
    assert_eq!(stranger.status(Method::Get, &cluster_info), 200);
    for method in [Method::Put, Method::Patch, Method::Delete] {
        assert_eq!(stranger.status(method, &cluster_info), 403, "{method:?}");
    }
    assert_eq!(stranger.status(Method::Post, &format!("{of_kube_public}/configmaps")), 403);
    let named = "fieldSelector=metadata.name%3Dcluster-info";
    for path in [
        of_kube_public,
        &format!("{of_kube_public}/configmaps/other"),
        &format!("{of_kube_public}/configmaps?{named}"),
        &format!("{of_kube_public}/configmaps?watch=true&{named}"),
        "/api/v1/namespaces/default/configmaps/cluster-info",
        "/api/v1/namespaces/kube-system/configmaps/cluster-info",
    ] {
        assert_eq!(stranger.status(Method::Get, path), 403, "{path}");
    }
    for path in lists(plane)? {
        assert_eq!(stranger.status(Method::Get, &path), 403, "{path}");
    }
    Ok(())
}

/// The lists of every kind of resource of this API server, in all namespaces and in kube-public.
fn lists(plane: &ControlPlane) -> Result<Vec<String>> {
    let resources = plane.kubectl(&["api-resources", "--verbs=list", "--no-headers"])?;
    assert!(resources.lines().count() > 40, "{resources}");
    let mut paths = Vec::new();
    for line in resources.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [name, .., version, is_namespaced, _] = columns[..] else { panic!("{line}") };
        let root = if version.contains('/') { "/apis" } else { "/api" };
        paths.push(format!("{root}/{version}/{name}"));
        if is_namespaced == "true" {
            paths.push(format!("{root}/{version}/namespaces/kube-public/{name}"));
        }
    }
    Ok(paths)
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
