//! API servers are killed while `machineadm discover` asks them, at the first fetch and at the second: it goes on with
//! another endpoint or with the server that comes back, or it gives up; nothing that it saves is half written.
use super::{
    bed::{CLUSTER_INFO, LIMIT, connect, dies_in_the_middle, run, text},
    holding::{Hold, Holding},
};
use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options, Part},
    until,
};

const TOKEN: &str = "abcdef.0123456789abcdef";

/// A machine: a directory that `--root` names.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn begin(&self, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.arg("--root").arg(self.0.path()).arg("discover").args(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Discovers and saves the cluster by token and CA pin.
    fn discover(&self, endpoints: &[&str], pin: &str, further: &[&str]) -> Child {
        let method = ["--token", TOKEN, "--discovery-token-ca-cert-hash", pin, "--store"];
        self.begin(&[endpoints, &method, further].concat())
    }

    /// Every file on it.
    fn files(&self) -> Vec<PathBuf> {
        fn below(directory: &Path, files: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() { below(&entry, files) } else { files.push(entry) }
            }
        }
        let mut files = Vec::new();
        below(self.0.path(), &mut files);
        files
    }

    /// The saved cluster, which is all that is on it.
    fn saved(&self) -> Vec<u8> {
        let place = self.0.path().join("var/lib/machineadm/cluster-info.json");
        assert_eq!(self.files(), [place.as_path()]);
        std::fs::read(place).unwrap()
    }
}

fn port(plane: &ControlPlane, server: usize) -> Result<u16> {
    Ok(plane.url(server)?.rsplit(':').next().unwrap().parse().unwrap())
}

/// A control plane of two API servers that can be discovered, and the CA pin of the cluster.
fn plane() -> Result<(ControlPlane, String)> {
    let plane = ControlPlane::start(&Options { api_servers: 2, ..Options::default() })?;
    let made = run(&plane.kubeconfig(), &["discovery-objects"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let joined = run(&plane.kubeconfig(), &["token", "create", TOKEN, "--print-join-command"]);
    let joined = text(&joined.stdout);
    let pin = joined.split_whitespace().find(|word| word.starts_with("sha256:")).unwrap().to_owned();
    until("the token is signed", LIMIT, || {
        let map = connect(&plane.kubeconfig()).get(CLUSTER_INFO).unwrap().unwrap_or_default();
        if map["data"]["jws-kubeconfig-abcdef"].is_string() { Ok(()) } else { Err("no signature".to_owned()) }
    })?;
    Ok((plane, pin))
}

#[test]
fn api_servers_that_die_while_they_are_asked_delay_or_end_discovery_and_nothing_is_half_written() -> Result<()> {
    testbed::needs!(ControlPlane);
    let (mut plane, pin) = plane()?;
    let machine = the_server_comes_back(&mut plane, &pin)?;
    another_server_answers(&mut plane, &pin)?;
    no_server_is_left(&mut plane, &pin, &machine)?;
    plane.down()
}

fn found(output: &Output) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let shown = text(&output.stdout);
    assert!(shown.contains("verified  by token abcdef and by the CA pin sha256:"), "{shown}");
    assert!(said.contains("waiting for ") && !said.contains("0123456789abcdef"), "{said}");
}

/// One endpoint: the server dies at the first fetch of one machine and at the second of another.
fn the_server_comes_back(plane: &mut ControlPlane, pin: &str) -> Result<Machine> {
    let machines = [Machine::new(), Machine::new()];
    let port = port(plane, 0)?;
    let relays = [1, 2].map(|fetch| Holding::before(port, Hold::Connections(fetch)));
    let asked = machines.iter().zip(&relays);
    let asked: Vec<_> = asked.map(|(machine, relay)| machine.discover(&[&relay.place()], pin, &[])).collect();
    let died = dies_in_the_middle(plane, &relays);
    let outputs: Vec<_> = asked.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    died?;
    outputs.iter().for_each(found);
    let saved = machines.each_ref().map(|machine| serde_json::from_slice(&machine.saved()).unwrap());
    let [first, second]: [serde_json::Value; 2] = saved;
    assert_eq!((&first["kubeconfig"], &first["pins"]), (&second["kubeconfig"], &second["pins"]));
    let [machine, _] = machines;
    Ok(machine)
}

/// Kills a server once these hold something, and lets go.
fn is_killed(plane: &mut ControlPlane, server: usize, relays: &[&Holding]) -> Result<()> {
    let held = until("the server is asked", LIMIT, || {
        if relays.iter().all(|relay| relay.is_held()) { Ok(()) } else { Err("not yet".to_owned()) }
    });
    let killed = held.and_then(|()| plane.kill(Part::ApiServer(server)));
    relays.iter().for_each(|relay| relay.let_go());
    killed
}

/// Two endpoints: the first dies between the two fetches and stays dead.
fn another_server_answers(plane: &mut ControlPlane, pin: &str) -> Result<()> {
    let machine = Machine::new();
    let relay = Holding::before(port(plane, 0)?, Hold::Connections(2));
    let other = format!("127.0.0.1:{}", port(plane, 1)?);
    let asked = machine.discover(&[&relay.place(), &other], pin, &["--timeout", "1m"]);
    let killed = is_killed(plane, 0, &[&relay]);
    let output = asked.wait_with_output().unwrap();
    killed?;
    found(&output);
    assert!(text(&output.stderr).contains(&format!("waiting for {}: ", relay.place())), "{output:?}");
    let saved: serde_json::Value = serde_json::from_slice(&machine.saved()).unwrap();
    assert_eq!(saved["pins"], serde_json::json!([pin]));
    Ok(())
}

/// The last one dies while a new machine discovers the cluster and an old one refreshes it.
fn no_server_is_left(plane: &mut ControlPlane, pin: &str, old: &Machine) -> Result<()> {
    let new = Machine::new();
    let before = old.saved();
    let relay = Holding::before(port(plane, 1)?, Hold::Connections(1));
    let dead = format!("127.0.0.1:{}", port(plane, 0)?);
    let asked = new.discover(&[&dead, &relay.place()], pin, &["--timeout", "15s"]);
    let killed = is_killed(plane, 1, &[&relay]);
    let refreshed = old.begin(&["--refresh", "--timeout", "5s"]).wait_with_output().unwrap();
    let asked = asked.wait_with_output().unwrap();
    killed?;
    let said = text(&asked.stderr);
    assert_eq!((asked.status.code(), text(&asked.stdout).as_str()), (Some(1), ""), "{said}");
    let (_, error) = said.split_once("error: cannot discover the cluster from any of 2 locations:\n").unwrap();
    assert!([&dead, &relay.place()].iter().all(|place| error.contains(*place)), "{said}");
    assert!(!said.contains("0123456789abcdef"), "{said}");
    assert_eq!(new.files(), [""; 0].map(PathBuf::from));
    assert_eq!(refreshed.status.code(), Some(1), "{refreshed:?}");
    assert!(text(&refreshed.stderr).contains("error: the cluster cannot be reached"), "{refreshed:?}");
    assert_eq!(old.saved(), before);
    Ok(())
}
