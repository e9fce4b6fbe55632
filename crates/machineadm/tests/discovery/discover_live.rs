//! Discovery of a real cluster: what our objects and kube-controller-manager's signer prove to us and to a real kubeadm.
use crate::support::partial_run::{PATIENCE, run_until};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options, Part},
    fake::{Authority, FakeServer, answer},
    programs::KUBERNETES,
    until,
};

const TOKEN: &str = "abcdef.3k9x0q2m7w5v8t1z";
const LIMIT: Duration = Duration::from_secs(60);

fn machineadm(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(words);
    command
}

fn on(plane: &ControlPlane, words: &[&str]) -> Output {
    machineadm(words).arg("--kubeconfig").arg(plane.kubeconfig()).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn said(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text(&output.stdout)
}

fn pin(plane: &ControlPlane) -> String {
    let joined = said(&on(plane, &["token", "create", "--ttl", "1h", "--print-join-command"]));
    let words: Vec<_> = joined.split(' ').collect();
    let at = words.iter().position(|word| *word == "--discovery-token-ca-cert-hash").expect("a pin");
    words[at + 1].to_owned()
}

fn endpoint(plane: &ControlPlane) -> Result<String> {
    Ok(plane.url(0)?.replace("https://", ""))
}

/// A cluster that machines can discover, by our objects and the real signer.
fn plane() -> Result<ControlPlane> {
    let plane = ControlPlane::start(&Options::default())?;
    let made = said(&on(&plane, &["discovery-objects"]));
    assert_eq!(made.lines().filter(|line| line.ends_with(" created")).count(), made.lines().count(), "{made}");
    said(&on(&plane, &["token", "create", TOKEN]));
    until("the token is signed", LIMIT, || {
        let path = "--output=jsonpath={.data.jws-kubeconfig-abcdef}";
        let shown = plane.kubectl(&["--namespace=kube-public", "get", "configmap", "cluster-info", path]);
        if shown.map_err(|error| error.to_string())?.is_empty() { Err("no signature".to_owned()) } else { Ok(()) }
    })?;
    Ok(plane)
}

#[test]
fn a_cluster_with_our_objects_is_discovered_by_us_and_by_a_real_kubeadm() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = plane()?;
    let (pin, endpoint) = (pin(&plane), endpoint(&plane)?);
    objects_are_made_once(&plane)?;
    a_token_may_only_ask_for_certificates(&plane)?;
    by_token(&pin, &endpoint)?;
    by_several_endpoints(&pin, &endpoint)?;
    by_file(&plane)?;
    by_kubeadm(&pin, &endpoint)?;
    kept_and_refreshed(&plane, &pin, &endpoint)?;
    plane.down()
}

fn objects_are_made_once(plane: &ControlPlane) -> Result<()> {
    // Signatures come and go with other tokens.
    let path = "--output=jsonpath={.data.kubeconfig}";
    let map = || plane.kubectl(&["--namespace=kube-public", "get", "configmap", "cluster-info", path]);
    let before = map()?;
    let again = said(&on(plane, &["discovery-objects"]));
    assert_eq!(again.lines().filter(|line| line.ends_with(" unchanged")).count(), again.lines().count(), "{again}");
    plane.kubectl(&["delete", "clusterrolebinding", "kubeadm:kubelet-bootstrap"])?;
    let dry = said(&on(plane, &["discovery-objects", "--dry-run"]));
    assert!(dry.contains("ClusterRoleBinding kubeadm:kubelet-bootstrap created (dry run)"), "{dry}");
    let repaired = said(&on(plane, &["discovery-objects"]));
    let made: Vec<_> = repaired.lines().filter(|line| !line.ends_with(" unchanged")).collect();
    assert_eq!(made, ["ClusterRoleBinding kubeadm:kubelet-bootstrap created"]);
    assert_eq!(map()?, before, "a second run changed cluster-info");
    let rows: Value = serde_json::from_str(&said(&on(plane, &["discovery-objects", "-o", "json"]))).expect("JSON");
    let rows = rows.as_array().expect("a list");
    assert_eq!(rows.len(), again.lines().count());
    assert!(rows.iter().all(|row| row["result"] == "unchanged" && row["object"].is_string()), "{rows:?}");
    Ok(())
}

/// What holders of a token may do beyond what everybody who is known may.
fn a_token_may_only_ask_for_certificates(plane: &ControlPlane) -> Result<()> {
    let may = |groups: &[&str]| -> Result<BTreeSet<String>> {
        let groups: Vec<String> = groups.iter().map(|group| format!("--as-group={group}")).collect();
        let words = ["auth", "can-i", "--list", "--no-headers", "--as=system:bootstrap:abcdef"];
        let words: Vec<&str> = words.into_iter().chain(groups.iter().map(String::as_str)).collect();
        let listed = plane.kubectl(&words)?;
        Ok(listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
    };
    let known = may(&["system:authenticated"])?;
    let node = "system:bootstrappers:kubeadm:default-node-token";
    let expected = [
        "certificatesigningrequests.certificates.k8s.io [] [] [create get list watch]",
        "certificatesigningrequests.certificates.k8s.io/nodeclient [] [] [create]",
        "nodes [] [] [get]",
    ];
    // The API server reads its bindings from a cache, which is a moment behind.
    until("the rights of a token's holder", LIMIT, || {
        let holder = may(&["system:authenticated", "system:bootstrappers", node]).map_err(|error| error.to_string())?;
        let more: Vec<&String> = holder.difference(&known).collect();
        if more == expected { Ok(()) } else { Err(format!("{more:?}")) }
    })
}

fn by_token(pin: &str, endpoint: &str) -> Result<()> {
    let with_pin = ["discover", endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", pin];
    let shown = said(&machineadm(&with_pin).output().expect("it runs"));
    let proven = format!(
        "verified  by token abcdef and by the CA pin {pin}; the second fetch, over verified TLS, returned the same content"
    );
    assert!(shown.contains(&proven), "{shown}");
    assert!(shown.contains("CA        1 certificate, valid until 20"), "{shown}");

    let unsafe_flag = "--discovery-token-unsafe-skip-ca-verification";
    let without =
        machineadm(&["discover", endpoint, "--discovery-token", TOKEN, unsafe_flag]).output().expect("it runs");
    assert!(text(&without.stderr).contains("anyone else who has the token could pose as the cluster"));
    assert!(said(&without).contains("by token abcdef alone, without a CA pin"));

    // With both given the pins count.
    let other = format!("sha256:{}", "0".repeat(64));
    let both = [&with_pin[..5], &[&other, unsafe_flag, "--timeout", PATIENCE]].concat();
    let refused = format!("its CA key {pin} is not among the CA pins");
    let both = run_until(&mut machineadm(&both), |said| said.contains(&refused));
    assert!(both.said.contains(&refused) && both.printed.is_empty(), "{both:?}");
    assert_eq!(both.code, None, "no answer ends the waiting");

    let json = machineadm(&[&with_pin[..], &["-o", "json"]].concat()).output().expect("it runs");
    let json: Value = serde_json::from_str(&said(&json)).expect("JSON");
    assert_eq!((&json["proof"]["tokenId"], &json["roots"][0]["pin"]), (&"abcdef".into(), &pin.into()));
    let kubeconfig = said(&machineadm(&[&with_pin[..], &["-o", "kubeconfig"]].concat()).output().expect("it runs"));
    assert_eq!(json["kubeconfig"], kubeconfig.as_str());
    Ok(())
}

/// One is dead, one is somebody else, one is right; a token that does not sign is said so for each.
fn by_several_endpoints(pin: &str, endpoint: &str) -> Result<()> {
    let other = FakeServer::of(Arc::new(Authority::new()), |_, tls| answer(tls, "404 Not Found", "", "nobody"));
    let stranger = format!("127.0.0.1:{}", other.port());
    let words =
        ["discover", "127.0.0.1:1", &stranger, endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", pin];
    assert!(said(&machineadm(&words).output().expect("it runs")).contains("verified  by token abcdef"));

    let words = ["discover", "127.0.0.1:1", endpoint, "--token", "nosuch.3k9x0q2m7w5v8t1z", "--timeout", PATIENCE];
    let told = [
        "no signature for token nosuch",
        "127.0.0.1:1: connection refused",
        "machineadm token create --print-join-command",
    ];
    let mut command = machineadm(&words);
    command.args(["--discovery-token-ca-cert-hash", pin]);
    let complaint = run_until(&mut command, |said| told.iter().all(|told| said.contains(told))).said;
    assert!(told.iter().all(|told| complaint.contains(told)), "{complaint}");
    assert!(!complaint.contains("3k9x0q2m7w5v8t1z"), "{complaint}");
    Ok(())
}

/// A file, the same on standard input, and the same from an https URL that the system's roots do not vouch for.
fn by_file(plane: &ControlPlane) -> Result<()> {
    let scratch = tempfile::tempdir().expect("a folder");
    let path = "--output=jsonpath={.data.kubeconfig}";
    let kubeconfig = plane.kubectl(&["--namespace=kube-public", "get", "configmap", "cluster-info", path])?;
    let file = scratch.path().join("cluster.yaml");
    std::fs::write(&file, &kubeconfig).expect("a file");
    let name = file.display().to_string();
    let shown = said(&machineadm(&["discover", "--discovery-file", &name]).output().expect("it runs"));
    assert!(shown.contains("verified  by the file ") && shown.contains("the cluster confirmed it"), "{shown}");

    let mut piped = machineadm(&["discover", "--discovery-file", "-"]);
    let mut piped = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it runs");
    piped.stdin.take().expect("a pipe").write_all(kubeconfig.as_bytes()).expect("it reads");
    let shown = said(&piped.wait_with_output().expect("it ends"));
    assert!(shown.contains("by the kubeconfig on standard input; the cluster confirmed it"), "{shown}");

    let served = kubeconfig.clone();
    let server = FakeServer::start(move |_, tls| answer(tls, "200 OK", "", &served));
    let words = ["discover", "--timeout", PATIENCE, "--discovery-file", &server.url("/cluster.yaml?signature=hidden")];
    let complaint = run_until(&mut machineadm(&words), |said| said.contains("certificate")).said;
    assert!(complaint.contains("certificate") && !complaint.contains("hidden"), "{complaint}");
    let authority = scratch.path().join("ca.pem");
    std::fs::write(&authority, server.authority().pem()).expect("a file");
    // The environment variable that rustls-native-certs and openssl know.
    let trusted = machineadm(&words).env("SSL_CERT_FILE", &authority).output().expect("it runs");
    assert!(said(&trusted).contains("verified by the system's CA certificates; the cluster confirmed it"));

    let admin = plane.kubeconfig().display().to_string();
    let credentials = machineadm(&["discover", "--discovery-file", &admin]).output().expect("it runs");
    assert_eq!(credentials.status.code(), Some(2));
    assert!(text(&credentials.stderr).contains("credential"), "{credentials:?}");
    Ok(())
}

/// A real kubeadm discovers the cluster by our token, with and without CA pin, and by the file that we print. In each
/// case it goes on with our token, and ends there: nobody has uploaded a kubeadm-config that it could read.
fn by_kubeadm(pin: &str, endpoint: &str) -> Result<()> {
    let scratch = tempfile::tempdir().expect("a folder");
    let unpinned = "unsafeSkipCAVerification: true";
    for (pinning, valid) in [
        (format!("caCertHashes: ['{pin}']"), "are valid and TLS certificate validates against pinned roots"),
        (unpinned.to_owned(), "are valid and no TLS pinning was specified"),
    ] {
        let said = kubeadm_joins(scratch.path(), &of_token(endpoint, TOKEN, &pinning))?;
        assert!(said.contains(&format!("Cluster info signature and contents {valid}")), "{said}");
        assert!(said.contains(PAST_DISCOVERY), "{said}");
    }
    let file = scratch.path().join("cluster.yaml");
    let words = ["discover", endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", pin, "-o", "kubeconfig"];
    std::fs::write(&file, said(&machineadm(&words).output().expect("it runs"))).expect("a file");
    let said = kubeadm_joins(scratch.path(), &of_file(&file))?;
    assert!(said.contains("Discovery file does not contains authentication credentials"), "{said}");
    assert!(said.contains(PAST_DISCOVERY), "{said}");
    kubeadm_refuses(scratch.path(), endpoint)
}

/// What shows that kubeadm would have told us.
fn kubeadm_refuses(scratch: &Path, endpoint: &str) -> Result<()> {
    let other = format!("caCertHashes: ['sha256:{}']", "0".repeat(64));
    let another_half = TOKEN.replace("3k9x", "9k3x");
    let strange = scratch.join("strange.yaml");
    let roots = discovery::certificate::CaBundle::read(Authority::new().pem().into_bytes()).expect("PEM");
    let info = discovery::ClusterInfo::new(format!("https://{endpoint}"), roots, None).expect("a cluster");
    std::fs::write(&strange, info.kubeconfig()).expect("a file");
    for (discovery, reason) in [
        (of_token(endpoint, TOKEN, &other), "none of the public keys"),
        (of_token(endpoint, &another_half, "unsafeSkipCAVerification: true"), "failed to verify JWS signature"),
        (of_file(&strange), "certificate signed by unknown authority"),
    ] {
        let said = kubeadm_joins(scratch, &discovery)?;
        assert!(said.contains(reason) && !said.contains(PAST_DISCOVERY), "{reason}: {said}");
    }
    Ok(())
}

const PAST_DISCOVERY: &str = "User \"system:bootstrap:abcdef\" cannot get resource \"configmaps\"";

fn of_token(endpoint: &str, token: &str, pinning: &str) -> String {
    format!("bootstrapToken: {{apiServerEndpoint: '{endpoint}', token: {token}, {pinning}}}")
}

fn of_file(file: &Path) -> String {
    format!("file: {{kubeConfigPath: '{}'}}\n  tlsBootstrapToken: {TOKEN}", file.display())
}

/// What a real kubeadm says to a join with this discovery.
fn kubeadm_joins(scratch: &Path, discovery: &str) -> Result<String> {
    let config = scratch.join("join.yaml");
    let content = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  {discovery}\n\
         nodeRegistration: {{name: w-1, criSocket: 'unix:///run/none.sock', ignorePreflightErrors: [all]}}\n\
         timeouts: {{kubernetesAPICall: 1s, discovery: 15s}}\n"
    );
    std::fs::write(&config, content).expect("a file");
    let mut command = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
    command.args(["join", "phase", "preflight", "-v=5", "--config"]).arg(config);
    Ok(text(&command.output().expect("it runs").stderr))
}

fn kept(root: &Path) -> Value {
    let file = root.join("var/lib/machineadm/cluster-info.json");
    serde_json::from_slice(&std::fs::read(file).expect("it is kept")).expect("JSON")
}

fn kept_and_refreshed(plane: &ControlPlane, pin: &str, endpoint: &str) -> Result<()> {
    let scratch = tempfile::tempdir().expect("a folder");
    let root: PathBuf = scratch.path().join("root");
    std::fs::create_dir_all(root.join("etc")).expect("a folder");
    let root_name = root.display().to_string();
    let words = ["--root", &root_name, "discover", "--refresh"];
    let refresh = |further: &[&str]| machineadm(&[&words[..], further].concat()).output().expect("it runs");
    let none = refresh(&[]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("run discover with --store first"), "{none:?}");

    let store = [
        "--root",
        &root_name,
        "discover",
        endpoint,
        "--token",
        TOKEN,
        "--discovery-token-ca-cert-hash",
        pin,
        "--store",
    ];
    said(&machineadm(&store).output().expect("it runs"));
    let first = kept(&root);
    assert!(text(&refresh(&[]).stderr).contains("the cluster is unchanged"));
    assert_eq!((&kept(&root)["kubeconfig"], &kept(&root)["proof"]), (&first["kubeconfig"], &first["proof"]));

    // The cluster is reached under another name from now on, and its roots are two.
    let (moved, bundle) = (plane.url(0)?.replace("127.0.0.1", "localhost"), scratch.path().join("bundle.pem"));
    let authority = std::fs::read_to_string(plane.pki().join("ca.crt")).expect("PEM");
    std::fs::write(&bundle, format!("{authority}{}", Authority::new().pem())).expect("a file");
    let bundle = bundle.display().to_string();
    said(&on(plane, &["discovery-objects", "--server", &moved, "--ca-file", &bundle]));
    let shown = said(&refresh(&[]));
    assert!(shown.contains(&moved) && shown.contains("CA        2 certificates"), "{shown}");
    assert_eq!(kept(&root)["pins"], first["pins"]);

    // Roots without a pinned one need consent.
    let strange = scratch.path().join("strange.pem");
    std::fs::write(&strange, Authority::new().pem()).expect("a file");
    let before = kept(&root);
    said(&on(plane, &["discovery-objects", "--server", &moved, "--ca-file", &strange.display().to_string()]));
    let refused = refresh(&[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("none of the new CA certificates is pinned"), "{refused:?}");
    assert_eq!(kept(&root), before, "a refused answer changed what is kept");
    // Nobody who has these roots listens there, so that consent to them would lose the cluster.
    let lost = ["--accept-unpinned-roots", "--timeout", PATIENCE];
    let says = "the cluster does not confirm it";
    let lost = run_until(&mut machineadm(&[&words[..], &lost].concat()), |said| said.contains(says));
    assert!(lost.said.contains(says), "{lost:?}");
    assert_eq!(kept(&root), before, "what is not confirmed changed what is kept");
    Ok(())
}

#[test]
fn a_machine_that_boots_before_its_control_plane_finds_it() -> Result<()> {
    testbed::needs!(ControlPlane);
    let mut plane = plane()?;
    let (pin, endpoint) = (pin(&plane), endpoint(&plane)?);
    plane.kill(Part::ApiServer(0))?;
    let words = ["discover", &endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", &pin];
    let log = tempfile::NamedTempFile::new().expect("a file");
    let mut waiting = machineadm(&words);
    let waiting = waiting.stdout(Stdio::piped()).stderr(log.reopen().expect("a file")).spawn().expect("it runs");
    let asked = until("it has asked in vain", LIMIT, || {
        let log = std::fs::read_to_string(log.path()).unwrap_or_default();
        if log.contains("gives up in") { Ok(()) } else { Err(log) }
    });
    let back = plane.restart(Part::ApiServer(0));
    let found = waiting.wait_with_output().expect("it ends");
    asked.and(back)?;
    assert!(said(&found).contains("verified  by token abcdef"));
    plane.down()
}

/// Machines would then trust every authority of their systems.
#[test]
fn that_no_roots_are_published_is_said() {
    let server = FakeServer::start(|_, tls| answer(tls, "403 Forbidden", "", "{}"));
    let scratch = tempfile::tempdir().expect("a folder");
    let (file, authority) = (scratch.path().join("admin.conf"), scratch.path().join("ca.pem"));
    let kubeconfig = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
         clusters: [{{name: k, cluster: {{server: '{}'}}}}]\nusers: [{{name: u, user: {{token: t}}}}]\n",
        server.url("")
    );
    std::fs::write(&file, kubeconfig).expect("a file");
    std::fs::write(&authority, server.authority().pem()).expect("a file");
    let run = |words: &[&str]| {
        let mut command = machineadm(&["discovery-objects", "-o", "json", "--kubeconfig"]);
        command.arg(&file).args(words).env("SSL_CERT_FILE", &authority).output().expect("it runs")
    };
    let without = run(&[]);
    assert_eq!((without.status.code(), text(&without.stdout).trim()), (Some(1), "[]"), "{without:?}");
    assert!(text(&without.stderr).contains("warning: no CA certificates are published"), "{without:?}");
    let with = run(&["--ca-file", &authority.display().to_string()]);
    assert!(!text(&with.stderr).contains("no CA certificates are published"), "{with:?}");
}

/// It was cut there, and what was left of it published.
#[test]
fn a_ca_file_larger_than_the_limit_is_refused_with_the_limit() {
    let server = FakeServer::start(|_, tls| answer(tls, "403 Forbidden", "", "{}"));
    let scratch = tempfile::tempdir().expect("a folder");
    let (file, large) = (scratch.path().join("admin.conf"), scratch.path().join("ca.pem"));
    let kubeconfig = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k}}}}]\n\
         clusters: [{{name: k, cluster: {{server: '{}'}}}}]\n",
        server.url("")
    );
    std::fs::write(&file, kubeconfig).expect("a file");
    std::fs::write(&large, server.authority().pem() + &"\n".repeat(1 << 20)).expect("a file");
    let mut command = machineadm(&["discovery-objects", "--kubeconfig"]);
    let refused = command.arg(&file).arg("--ca-file").arg(&large).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    let says = format!("error: {} is larger than 1024 KiB", large.display());
    assert!(text(&refused.stderr).starts_with(&says), "{refused:?}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn methods_that_exclude_each_other_are_refused_before_anything_is_sent() {
    let server = FakeServer::start(|_, tls| answer(tls, "200 OK", "", "{}"));
    let endpoint = format!("127.0.0.1:{}", server.port());
    let pin = format!("sha256:{}", "0".repeat(64));
    let url = server.url("/");
    let (two, unpinned) = (format!("{pin},md5:00"), "--discovery-token-unsafe-skip-ca-verification");
    let written = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&written, "hunter2").expect("a file");
    let token_file = written.path().display().to_string();
    let (short, no_hex) = (&pin[..70], pin.replace('0', "g"));
    for (words, problem) in [
        (&[&endpoint[..], "--token", TOKEN][..], "--discovery-token-ca-cert-hash is missing"),
        (&["--discovery-file", &url, "--token", TOKEN], "means --discovery-token"),
        (&["--discovery-file", &url, "--discovery-token", TOKEN], "cannot be combined with --discovery-file"),
        (&["--discovery-file", &url, &endpoint], "must not be given with --discovery-file"),
        (&["--discovery-file", "http://127.0.0.1/x"], "must be https"),
        (&[&endpoint, "--discovery-token-ca-cert-hash", &pin], "or --discovery-file is required"),
        (&[&endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", "md5:00"], "--discovery-token-ca-cert-hash"),
        (&[&endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", short], "must have 64 hexadecimal digits"),
        (&[&endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", &no_hex], "must have 64 hexadecimal digits"),
        (&[&endpoint, "--token", "hunter2", "--discovery-token-ca-cert-hash", &pin], "is not a bootstrap token"),
        (&["--token", TOKEN, "--discovery-token-ca-cert-hash", &pin], "endpoint is missing"),
        (&[&endpoint, "--refresh"], "cannot be used with"),
        (&[&endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", &two], "-ca-cert-hash (number 2)"),
        (&[&endpoint, "--token", TOKEN, unpinned, "--accept-unpinned-roots"], "requires --refresh or --store"),
        (&[&endpoint, "--token", TOKEN, unpinned, "--timeout", "0"], "--timeout must be a positive duration"),
        (&["--refresh", "--timeout", "9999999h"], "and at most 2562047h"),
        (&["--refresh", "--timeout", "bogus"], "--timeout must be a positive duration"),
        (&[&endpoint, "--token-file", &token_file], "--token-file "),
    ] {
        let refused = machineadm(&[&["discover"][..], words].concat()).output().expect("it runs");
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {refused:?}");
        let complaint = text(&refused.stderr);
        assert!(complaint.contains(problem), "{words:?}: {complaint}");
        assert!(!complaint.contains("hunter2") && !complaint.contains(TOKEN), "{complaint}");
    }
    assert_eq!((server.connections(), server.seen().len()), (0, 0));
}
