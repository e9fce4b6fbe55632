//! How commands reach a real API server: through proxies, with the credentials of exec plugins, by another context.
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{Arc, Mutex},
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
};

const VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"];

/// A proxy that tunnels every CONNECT to one port of this machine, and remembers what it was asked for.
struct Proxy {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (port, asked) = (listener.local_addr().expect("an address").port(), Arc::default());
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || drop(tunnel(client, server, &seen)));
            }
        });
        Self { port, asked }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The targets since the last look.
    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("a list"))
    }
}

fn tunnel(client: TcpStream, server: u16, asked: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut client = BufReader::new(client);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        client.read_line(&mut head)?;
    }
    asked.lock().expect("a list").push(head.split(' ').nth(1).unwrap_or_default().to_owned());
    write!(client.get_mut(), "HTTP/1.1 200 OK\r\n\r\n")?;
    let server = TcpStream::connect(("127.0.0.1", server))?;
    let (mut from, mut to) = (server.try_clone()?, client.get_ref().try_clone()?);
    std::thread::spawn(move || io::copy(&mut from, &mut to).and_then(|_| to.shutdown(Shutdown::Write)));
    io::copy(&mut client, &mut &server)?;
    server.shutdown(Shutdown::Write)
}

/// A real cluster, a service account that may do everything, and kubeconfigs for it.
struct Bed {
    plane: ControlPlane,
    port: u16,
    folder: tempfile::TempDir,
    token: String,
}

impl Bed {
    fn start() -> Result<Self> {
        let plane = ControlPlane::start(&Options::default())?;
        let url = plane.url(0)?;
        let port = url.rsplit_once(':').expect("a port").1.parse().expect("a number");
        let namespace = "--namespace=kube-system";
        plane.kubectl(&[namespace, "create", "serviceaccount", "robot"])?;
        let account = "--serviceaccount=kube-system:robot";
        plane.kubectl(&["create", "clusterrolebinding", "robot", "--clusterrole=cluster-admin", account])?;
        let token = plane.kubectl(&[namespace, "create", "token", "robot"])?.trim().to_owned();
        Ok(Self { plane, port, folder: tempfile::tempdir().expect("a folder"), token })
    }

    fn server(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// A kubeconfig with further members of its cluster, and this user; JSON is YAML too.
    fn kubeconfig(&self, name: &str, cluster: &Value, user: &Value) -> PathBuf {
        let mut members = json!({"server": self.server(), "certificate-authority": self.plane.pki().join("ca.crt")});
        for (name, member) in cluster.as_object().expect("members") {
            members[name] = member.clone();
        }
        let nowhere = json!({"server": "https://127.0.0.1:9"});
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "k", "cluster": members}, {"name": "nowhere", "cluster": nowhere}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}},
                {"name": "nowhere", "context": {"cluster": "nowhere", "user": "u"}}],
            "users": [{"name": "u", "user": user}],
        });
        self.file(name, &config.to_string())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }

    /// An exec plugin beside the kubeconfigs.
    fn plugin(&self, name: &str, script: &str) {
        let written = self.file(&format!("{name}.written"), &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&written, fs::Permissions::from_mode(0o755)).expect("ours");
        testbed::copy_program(&written, &self.folder.path().join(name)).expect("a copy");
    }
}

fn list(kubeconfig: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["token", "list", "--kubeconfig"]).arg(kubeconfig);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

fn exec(command: &str) -> Value {
    let api = "client.authentication.k8s.io/v1";
    json!({"exec": {"apiVersion": api, "command": command, "interactiveMode": "Never", "provideClusterInfo": true}})
}

#[test]
fn the_api_server_is_reached_through_proxies_plugins_and_contexts_as_by_kubectl() -> Result<()> {
    testbed::needs!(ControlPlane);
    let bed = Bed::start()?;
    the_environment_s_proxy_is_used_but_not_for_this_machine(&bed);
    the_proxy_of_a_kubeconfig_is_used_also_for_this_machine(&bed);
    an_exec_plugin_returns_a_token_or_a_certificate(&bed);
    an_exec_plugin_that_fails_is_named_and_its_output_is_not(&bed);
    another_context_is_used_when_it_is_named(&bed);
    bed.plane.down()
}

fn the_environment_s_proxy_is_used_but_not_for_this_machine(bed: &Bed) {
    let proxy = Proxy::start(bed.port);
    let user = json!({"token": bed.token});
    let elsewhere = json!({"server": format!("https://api.example:{}", bed.port), "tls-server-name": "127.0.0.1"});
    let kubeconfig = bed.kubeconfig("elsewhere", &elsewhere, &user);
    for variable in ["HTTPS_PROXY", "https_proxy"] {
        succeeded(&list(&kubeconfig).env(variable, proxy.url()).output().expect("it runs"));
        assert_eq!(proxy.asked(), [format!("api.example:{}", bed.port)], "{variable}");
    }
    // Without the proxy the name has no address, which is tried again for a while.
    let mut direct = list(&kubeconfig);
    direct.env("HTTPS_PROXY", proxy.url()).env("NO_PROXY", ".example").stderr(Stdio::piped());
    let mut direct = direct.spawn().expect("it runs");
    let mut first = String::new();
    BufReader::new(direct.stderr.take().expect("a pipe")).read_line(&mut first).expect("it can be read");
    direct.kill().and_then(|()| direct.wait()).expect("it is ours");
    assert!(first.contains("api.example cannot be resolved"), "{first}");
    let here = bed.kubeconfig("here", &json!({}), &user);
    succeeded(&list(&here).env("HTTPS_PROXY", proxy.url()).output().expect("it runs"));
    assert_eq!(proxy.asked(), [""; 0]);
}

fn the_proxy_of_a_kubeconfig_is_used_also_for_this_machine(bed: &Bed) {
    let (proxy, other) = (Proxy::start(bed.port), Proxy::start(bed.port));
    let kubeconfig = bed.kubeconfig("proxied", &json!({"proxy-url": proxy.url()}), &json!({"token": bed.token}));
    succeeded(&list(&kubeconfig).env("HTTPS_PROXY", other.url()).env("NO_PROXY", "*").output().expect("it runs"));
    assert_eq!(proxy.asked(), [format!("127.0.0.1:{}", bed.port)]);
    assert_eq!(other.asked(), [""; 0]);
}

fn an_exec_plugin_returns_a_token_or_a_certificate(bed: &Bed) {
    let status = |status: Value| {
        let credential =
            json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status});
        bed.file("credential", &credential.to_string());
    };
    let show = format!(
        "echo \"$KUBERNETES_EXEC_INFO\" > {0}/info; echo hello >&2; cat {0}/credential",
        bed.folder.path().display()
    );
    bed.plugin("plugin", &show);
    let kubeconfig = bed.kubeconfig("exec", &json!({}), &exec("./plugin"));

    status(json!({"token": bed.token, "expirationTimestamp": "9999-01-01T00:00:00Z"}));
    let output = list(&kubeconfig).output().expect("it runs");
    succeeded(&output);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "  | hello\n");
    let info: Value = serde_json::from_slice(&fs::read(bed.folder.path().join("info")).expect("a file")).expect("JSON");
    assert_eq!(
        (&info["spec"]["cluster"]["server"], &info["spec"]["interactive"]),
        (&json!(bed.server()), &json!(false))
    );

    let pem = |name: &str| fs::read_to_string(bed.plane.pki().join(name)).expect("a file");
    let [certificate, key] = ["../admin.crt", "../admin.key"].map(pem);
    status(json!({"clientCertificateData": certificate, "clientKeyData": key}));
    succeeded(&list(&kubeconfig).output().expect("it runs"));
}

fn an_exec_plugin_that_fails_is_named_and_its_output_is_not(bed: &Bed) {
    bed.plugin("failing", "echo hunter2; exit 3");
    let mut missing = exec("./missing");
    missing["exec"]["installHint"] = json!("install it from example.com");
    for (user, says) in [
        (exec("./failing"), "failing failed: exit status: 3"),
        (missing, "missing cannot be started: no such program\n  install it from example.com"),
    ] {
        let output = list(&bed.kubeconfig("failing.conf", &json!({}), &user)).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(1), true), "{output:?}");
        assert!(said.contains(says) && !said.contains("hunter2"), "{said}");
    }
}

fn another_context_is_used_when_it_is_named(bed: &Bed) {
    let kubeconfig = bed.kubeconfig("contexts", &json!({}), &json!({"token": bed.token}));
    let text = fs::read_to_string(&kubeconfig).expect("ours");
    let kubeconfig =
        bed.file("contexts", &text.replace("\"current-context\":\"c\"", "\"current-context\":\"nowhere\""));
    succeeded(&list(&kubeconfig).args(["--context", "c"]).output().expect("it runs"));
    let mut objects = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    objects.args(["discovery-objects", "--dry-run", "--context", "c", "--kubeconfig"]).arg(&kubeconfig);
    succeeded(&objects.output().expect("it runs"));
    let output = list(&kubeconfig).args(["--context", "none"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("contexts[none]: does not exist; the kubeconfig has the contexts: c, nowhere"), "{said}");
}
