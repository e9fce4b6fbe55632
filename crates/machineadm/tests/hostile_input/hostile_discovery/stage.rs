//! A cluster that can be discovered, and what a hostile server may put in its place.
use discovery::{BootstrapToken, ClusterInfo, Pin, certificate::CaBundle, jws};
use serde_json::json;
use std::{
    io::{self, Write},
    net::TcpListener,
    sync::Arc,
    time::Duration,
};
use testbed::fake::{Authority, FakeServer, Seen, Tls, Wiretap, answer};

pub(crate) const TOKEN: &str = "abcdef.3k9x0q2m7w5v8t1z";
pub(crate) const SECRET: &str = "3k9x0q2m7w5v8t1z";
/// What a file's credential holds.
pub(crate) const PASSWORD: &str = "hunter2hunter2";

/// The cluster that is meant: its authority, and its address, behind which anybody may stand.
pub(crate) struct Cluster {
    pub(crate) authority: Arc<Authority>,
    pub(crate) tap: Wiretap,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        Self { authority: Arc::new(Authority::new()), tap: Wiretap::start() }
    }

    pub(crate) fn pin(&self) -> String {
        Pin::of(&ca_bundle(&self.authority.pem()).certificates()[0]).to_string()
    }

    /// Its kubeconfig.
    pub(crate) fn kubeconfig(&self) -> String {
        kubeconfig(&format!("https://{}", self.tap.place()), &self.authority.pem())
    }

    /// Its cluster-info as its own signer writes it.
    pub(crate) fn honest(&self) -> String {
        signed(&self.kubeconfig())
    }

    /// Its kubeconfig with a further member of the cluster.
    pub(crate) fn with(&self, member: &str) -> String {
        self.kubeconfig().replace("  name: \"\"", &format!("    {member}\n  name: \"\""))
    }
}

fn ca_bundle(pem: &str) -> CaBundle {
    CaBundle::read(pem.as_bytes().to_vec()).unwrap()
}

pub(crate) fn kubeconfig(server: &str, roots: &str) -> String {
    let roots = if roots.is_empty() { CaBundle::default() } else { ca_bundle(roots) };
    ClusterInfo::new(server.to_owned(), roots, None).unwrap().kubeconfig()
}

pub(crate) fn token(text: &str) -> BootstrapToken {
    text.parse().unwrap()
}

/// cluster-info with this signature under the token's key.
pub(crate) fn with_signature(kubeconfig: &str, jws: &str) -> String {
    let data = json!({"kubeconfig": kubeconfig, "jws-kubeconfig-abcdef": jws});
    let metadata = json!({"name": "cluster-info", "namespace": "kube-public"});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}).to_string()
}

/// cluster-info as anybody can write it who holds the token.
pub(crate) fn signed(kubeconfig: &str) -> String {
    with_signature(kubeconfig, &jws::sign(&token(TOKEN), kubeconfig.as_bytes()))
}

/// What stands behind an address while it is asked.
pub(crate) struct Stage {
    pub(crate) port: u16,
    pub(crate) servers: Vec<FakeServer>,
    /// Places to which nobody may come.
    pub(crate) forbidden: Vec<TcpListener>,
    /// A place that takes connections and does nothing with them, as long as it is held.
    pub(crate) _silent: Option<TcpListener>,
}

impl Stage {
    /// A server that does this.
    pub(crate) fn does(
        authority: &Arc<Authority>,
        handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let server = FakeServer::of(Arc::clone(authority), handler);
        Self { port: server.port(), servers: vec![server], forbidden: Vec::new(), _silent: None }
    }

    /// A server that answers this with 200, whatever is asked.
    pub(crate) fn tells(authority: &Arc<Authority>, body: String) -> Self {
        Self::answers(authority, "200 OK", "", body)
    }

    pub(crate) fn answers(authority: &Arc<Authority>, status: &'static str, headers: &str, body: String) -> Self {
        let headers = headers.to_owned();
        Self::does(authority, move |_, tls| answer(tls, status, &headers, &body))
    }

    /// A server that redirects to a place without TLS, where nobody may come.
    pub(crate) fn redirects_to_http(authority: &Arc<Authority>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let location = format!("Location: http://{}/\r\n", listener.local_addr().unwrap());
        Self { forbidden: vec![listener], ..Self::answers(authority, "302 Found", &location, String::new()) }
    }

    /// A server that redirects to another place, where nobody may come.
    pub(crate) fn redirects_elsewhere(authority: &Arc<Authority>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let location = format!("Location: https://{}/\r\n", listener.local_addr().unwrap());
        Self {
            forbidden: vec![listener],
            ..Self::answers(authority, "307 Temporary Redirect", &location, String::new())
        }
    }

    /// A server that announces more than anybody should read.
    pub(crate) fn announces_much(authority: &Arc<Authority>) -> Self {
        Self::does(authority, |_, tls| write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n{{"))
    }

    /// A server that never ends, and announces nothing.
    pub(crate) fn never_ends(authority: &Arc<Authority>) -> Self {
        Self::does(authority, |_, tls| {
            write!(tls, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            loop {
                write!(tls, "10000\r\n{}\r\n", " ".repeat(0x10000))?;
            }
        })
    }

    /// A server that answers one byte at a time, after this beginning.
    pub(crate) fn drips(authority: &Arc<Authority>, beginning: &'static str) -> Self {
        Self::does(authority, move |_, tls| {
            tls.write_all(beginning.as_bytes())?;
            loop {
                tls.write_all(b"x")?;
                tls.flush()?;
                // This is the attack: it ends when the client has had enough.
                std::thread::sleep(Duration::from_millis(200));
            }
        })
    }

    /// A place that takes connections and says nothing.
    pub(crate) fn is_silent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        Self { port, servers: Vec::new(), forbidden: Vec::new(), _silent: Some(listener) }
    }

    /// A server without TLS.
    pub(crate) fn is_plain(body: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut client in listener.incoming().flatten() {
                drop(write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
            }
        });
        Self { port, servers: Vec::new(), forbidden: Vec::new(), _silent: None }
    }

    /// Whether somebody came to where nobody may.
    pub(crate) fn is_trespassed(&self) -> bool {
        self.forbidden.iter().any(|listener| {
            listener.set_nonblocking(true).unwrap();
            listener.accept().is_ok()
        })
    }
}
