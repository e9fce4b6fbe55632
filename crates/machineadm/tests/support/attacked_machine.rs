//! A machine whose configuration lies in a storage that somebody else owns, and what it made of that.
use crate::support::{
    binary,
    differences::differences,
    documents::document,
    machine_tree::machine_tree,
    run_output::RunOutput,
    scratch_machine::{PASSPHRASE, ScratchMachine},
};
use std::{fs, io, sync::Arc};
use testbed::fake::{Authority, FakeServer, Seen, Tls};

/// Attempts of one fetch within a few seconds, however it fails.
pub(crate) const FEW: std::ops::RangeInclusive<usize> = 2..=8;

/// What tells of a run that has failed.
const REPORTED: &[&str] = &[
    "/run/cluster-api",
    host::contract::FAILURE,
    host::contract::OUTCOME,
    host::contract::REPORT,
    host::contract::CONFIGURATION,
];

pub(crate) struct AttackedMachine {
    pub(crate) scratch: ScratchMachine,
    pub(crate) server: FakeServer,
}

impl AttackedMachine {
    /// Of a server that does this.
    pub(crate) fn of(attack: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self { scratch: ScratchMachine::new(), server: FakeServer::start(attack) }
    }

    /// Of a server that may point to itself: it is told how it is named and who vouches for it.
    pub(crate) fn of_pointing(
        attack: impl Fn(&Seen, &mut Tls, &Pointer) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let authority = Arc::new(Authority::new());
        let vouching = authority.pem();
        let server = FakeServer::of(authority, move |seen, tls| {
            let at = format!("https://{}", seen.header("host").unwrap_or_default());
            attack(seen, tls, &Pointer { at, authority: vouching.clone() })
        });
        Self { scratch: ScratchMachine::new(), server }
    }

    /// Of a server that always answers this.
    pub(crate) fn of_text(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        Self::of(move |_, tls| whole(tls, &text))
    }

    /// A RemoteConfig for this server, with more members.
    pub(crate) fn remote(&self, path: &str, more: &str) -> String {
        let authority = self.server.authority().pem();
        Pointer { at: self.server.url(""), authority }.remote(path, more)
    }

    /// Bootstraps in vain with what lies at `/a`; how many requests that took.
    pub(crate) fn refuses(&self, more: &str, why: &str) -> usize {
        self.refuses_all(&self.remote("/a", more), why)
    }

    /// Bootstraps in vain: invalid input, said in these words, and nothing changed but the mark for whoever polls.
    pub(crate) fn refuses_all(&self, configuration: &str, why: &str) -> usize {
        self.in_vain(configuration, why, 2, &["/run/cluster-api", host::contract::FAILURE])
    }

    /// Bootstraps in vain, because what is there can't be had: the outcome says so, and the configuration is kept.
    pub(crate) fn gives_up(&self, more: &str, why: &str) -> usize {
        self.gives_up_all(&self.remote("/a", more), why)
    }

    /// The same with a configuration of one's own.
    pub(crate) fn gives_up_all(&self, configuration: &str, why: &str) -> usize {
        let asked = self.in_vain(configuration, why, 1, REPORTED);
        let status = self.scratch.run(&["status"]);
        assert!(status.stdout.contains("FAILED at configuration") && status.stdout.contains(why), "{}", status.stdout);
        let kept = fs::read_to_string(self.scratch.root().join(&host::contract::CONFIGURATION[1..]));
        assert_eq!(kept.expect("the configuration is kept"), configuration);
        asked
    }

    fn in_vain(&self, configuration: &str, why: &str, code: i32, reported: &[&str]) -> usize {
        let before = (machine_tree(&self.scratch.root()), self.server.seen().len());
        self.scratch.write("node.yaml", configuration);
        let (ran, connected) = self.traced(&["bootstrap", "-f", &self.scratch.path("node.yaml")]);
        assert_eq!(ran.code, Some(code), "{why}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
        assert!(!ran.stderr.contains(PASSPHRASE) && ran.stdout.is_empty(), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.len() < 4000, "a report that nobody reads: {} bytes", ran.stderr.len());
        let mut after = machine_tree(&self.scratch.root());
        assert!(after.contains_key(host::contract::FAILURE), "nobody who polls learns of it");
        after.retain(|name, _| !reported.contains(&name.as_str()));
        assert_eq!(differences(&before.0, &after), Vec::<String>::new());
        let ours = format!("htons({}), sin_addr=inet_addr(\"127.0.0.1\")", self.server.port());
        let elsewhere: Vec<_> =
            connected.lines().filter(|line| line.contains("AF_INET") && !line.contains(&ours)).collect();
        assert_eq!(elsewhere, Vec::<&str>::new(), "it connected elsewhere");
        self.server.seen().len() - before.1
    }

    /// Bootstraps with success.
    pub(crate) fn takes(&self, configuration: &str) {
        let ran = self.scratch.bootstrap(configuration);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    }

    /// Runs machineadm on the root, and tells whom it connected to.
    fn traced(&self, words: &[&str]) -> (RunOutput, String) {
        let log = self.scratch.path("connected");
        let program = binary::command(["--root", &self.scratch.path("root")].iter().chain(words));
        let mut strace = testbed::judges::command("strace").expect("strace");
        strace.args(["-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", &log]);
        strace.arg(program.get_program()).args(program.get_args());
        let ran = RunOutput::of(strace.output().expect("strace runs"));
        (ran, fs::read_to_string(log).expect("strace has written its log"))
    }
}

/// How a server names itself in documents.
pub(crate) struct Pointer {
    pub(crate) at: String,
    authority: String,
}

impl Pointer {
    /// A RemoteConfig for the same server.
    pub(crate) fn remote(&self, path: &str, more: &str) -> String {
        let authority = serde_json::Value::from(self.authority.as_str());
        let spec = format!("{{provider: https, uri: '{}{path}', certificateAuthority: {authority}{more}}}", self.at);
        document("RemoteConfig", &spec)
    }
}

/// A whole answer of any bytes.
pub(crate) fn whole(tls: &mut Tls, body: &[u8]) -> io::Result<()> {
    use io::Write;
    write!(tls, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len())?;
    tls.write_all(body)
}
