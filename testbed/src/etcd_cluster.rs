//! An etcd of several members on loopback, as kubeadm sets one up: clients and peers need certificates.
use crate::claim::Claim;
use crate::daemon::Daemon;
use crate::error::file;
use crate::fake::Authority;
use crate::port::Port;
use crate::programs::ETCD;
use crate::{Error, Result, child, reaper, until};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A start takes a second on two idle cores.
const LIMIT: Duration = Duration::from_secs(60);
const AUTHORITY: &str = "ca.crt";

/// A running etcd. Taken down when dropped, or by a later run if this process is killed before.
pub struct EtcdCluster {
    members: Vec<Instance>,
    authority: Authority,
    claim: Claim,
}

/// One server.
struct Instance {
    name: String,
    clients: Port,
    peers: Port,
    daemon: Daemon,
}

impl EtcdCluster {
    /// Starts members with these names, all of them voters, and waits until each is healthy.
    pub fn start(names: &[&str]) -> Result<Self> {
        let (claim, authority) = (Claim::new()?, Authority::new());
        let mut cluster = Self { members: Vec::new(), authority, claim };
        cluster.write(AUTHORITY, &cluster.authority.pem())?;
        let (certificate, key) = cluster.authority.pair(&["127.0.0.1"]);
        cluster.write("member.crt", &certificate)?;
        cluster.write("member.key", &key)?;
        names.iter().try_for_each(|name| cluster.prepare(name))?;
        for number in 0..names.len() {
            cluster.configure(number, "new")?;
            cluster.members[number].daemon.start()?;
        }
        (0..names.len()).try_for_each(|number| cluster.wait_until_healthy(number))?;
        Ok(cluster)
    }

    /// Where clients reach a member, counted from 0.
    pub fn url(&self, member: usize) -> String {
        format!("https://127.0.0.1:{}", self.members[member].clients.number())
    }

    /// Where other members reach it.
    pub fn peer_url(&self, member: usize) -> String {
        format!("https://127.0.0.1:{}", self.members[member].peers.number())
    }

    /// All client URLs.
    pub fn urls(&self) -> Vec<String> {
        (0..self.members.len()).map(|member| self.url(member)).collect()
    }

    /// The CA of servers and clients.
    pub fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Kills a member at once.
    pub fn kill(&mut self, member: usize) -> Result<()> {
        self.members[member].daemon.kill()
    }

    /// Starts a member again that was killed, with what it has stored, and waits until it is healthy.
    pub fn restart(&mut self, member: usize) -> Result<()> {
        self.members[member].daemon.start()?;
        self.wait_until_healthy(member)
    }

    /// Adds a learner that nobody has started, by the first member. etcd refuses while its members have known each other
    /// for less than five seconds.
    pub fn add_learner(&self, peer_url: &str) -> Result<()> {
        let request = json!({"peerURLs": [peer_url], "isLearner": true});
        until("a learner added", LIMIT, || {
            self.post(0, "/v3/cluster/member/add", &request).map_err(|error| error.to_string())
        })?;
        Ok(())
    }

    /// Adds a learner, starts it, and gives its number once it answers.
    pub fn start_learner(&mut self, name: &str) -> Result<usize> {
        self.prepare(name)?;
        let number = self.members.len() - 1;
        self.add_learner(&self.peer_url(number))?;
        self.configure(number, "existing")?;
        self.members[number].daemon.start()?;
        until(&format!("learner {number} answering"), LIMIT, || {
            if let Err(ended) = self.members[number].daemon.check() {
                return Ok(Err(ended));
            }
            let status = self.post(number, "/v3/maintenance/status", &json!({})).map_err(|error| error.to_string())?;
            if status["leader"].is_string() { Ok(Ok(number)) } else { Err(status.to_string()) }
        })?
    }

    /// Asks a member over its JSON gateway.
    pub fn post(&self, member: usize, path: &str, request: &Value) -> Result<Value> {
        let mut curl = self.curl(&format!("{}{path}", self.url(member)));
        let answer = child::check(curl.args(["--data", &request.to_string()]), LIMIT)?;
        serde_json::from_str(&answer).map_err(|_| Error::Unreadable { what: "an answer of etcd".into(), found: answer })
    }

    fn prepare(&mut self, name: &str) -> Result<()> {
        let (clients, peers) = (Port::free()?, Port::free()?);
        let daemon = self.daemon(self.members.len(), Vec::new())?;
        self.members.push(Instance { name: name.to_owned(), clients, peers, daemon });
        Ok(())
    }

    /// Sets the flags of a member that does not run.
    fn configure(&mut self, number: usize, state: &str) -> Result<()> {
        let own = &self.members[number];
        let (clients, own_peers) = (self.url(number), self.peer_url(number));
        let all = self.members.iter().enumerate().map(|(other, member)| {
            let url = self.peer_url(other);
            format!("{}={url}", member.name)
        });
        let path = |name: &str| self.claim.directory().join(name).display().to_string();
        let flags = vec![
            format!("--name={}", own.name),
            format!("--data-dir={}", path(&format!("etcd-{number}"))),
            format!("--initial-cluster={}", all.collect::<Vec<_>>().join(",")),
            format!("--initial-cluster-state={state}"),
            format!("--listen-client-urls={clients}"),
            format!("--advertise-client-urls={clients}"),
            format!("--listen-peer-urls={own_peers}"),
            format!("--initial-advertise-peer-urls={own_peers}"),
            format!("--trusted-ca-file={}", path(AUTHORITY)),
            format!("--cert-file={}", path("member.crt")),
            format!("--key-file={}", path("member.key")),
            format!("--peer-trusted-ca-file={}", path(AUTHORITY)),
            format!("--peer-cert-file={}", path("member.crt")),
            format!("--peer-key-file={}", path("member.key")),
            "--client-cert-auth".to_owned(),
            "--peer-client-cert-auth".to_owned(),
            // Nobody reads it after a crash of the host.
            "--unsafe-no-fsync".to_owned(),
            "--log-level=warn".to_owned(),
        ];
        self.members[number].daemon = self.daemon(number, flags)?;
        Ok(())
    }

    fn daemon(&self, number: usize, flags: Vec<String>) -> Result<Daemon> {
        Ok(Daemon::new(&self.claim, &format!("etcd-{number}"), &ETCD.ensure()?.judge("etcd")?, flags))
    }

    fn wait_until_healthy(&mut self, member: usize) -> Result<()> {
        let url = format!("{}/health", self.url(member));
        until(&format!("etcd {member} healthy"), LIMIT, || {
            if let Err(ended) = self.members[member].daemon.check() {
                return Ok(Err(ended));
            }
            child::check(&mut self.curl(&url), LIMIT).map(|_| Ok(())).map_err(|error| error.to_string())
        })?
    }

    fn curl(&self, url: &str) -> Command {
        let path = |name: &str| self.claim.directory().join(name);
        let mut curl = Command::new("curl");
        // What etcd says of a request that it refuses is in the body.
        curl.args(["--silent", "--fail-with-body", "--max-time", "5", "--noproxy", "*", "--cacert"]);
        curl.arg(path(AUTHORITY)).arg("--cert").arg(path("member.crt")).arg("--key").arg(path("member.key")).arg(url);
        curl
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path: &Path = &self.claim.directory().join(name);
        fs::write(path, text).map_err(file("write", path))
    }
}

impl Drop for EtcdCluster {
    fn drop(&mut self) {
        self.members.clear();
        if let Err(error) = reaper::take_down(self.claim.id(), self.claim.directory()) {
            eprintln!("testbed: {}: {error}", self.claim.id());
        }
    }
}
