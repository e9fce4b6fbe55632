//! The plugin is killed while API servers write and read Secrets and ask it to encrypt and decrypt: nothing that was
//! acknowledged is lost or unreadable.
use crate::backends::{Served, Service};
use crate::fake_aws_kms::FakeAwsKms;
use crate::planes::{create, encrypted_object, named_id, options};
use crate::support::{Client, data, encode, error};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use testbed::control_plane::{ControlPlane, Options, Part};
use testbed::programs::KMS_CLIENT;
use testbed::until;

/// How long AWS takes to answer: an Encrypt of an API server asks it twice, and is under way for long enough to be hit.
const DELAY: Duration = Duration::from_millis(150);
/// An API server looks at a plugin that it found well after 20 s, and at one that it found ill after 3 s.
const LOOKED_AT: Duration = Duration::from_secs(60);
/// More looks would take the processor from other tests, and find what the API server remembers.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// One kill of so many waits for a call to AWS that is under way; the key is rotated before it.
const AIMED: usize = 4;

/// What the writer has done so far.
#[derive(Default)]
struct Writes {
    acknowledged: Mutex<Vec<String>>,
    begun: AtomicUsize,
    is_over: AtomicBool,
}

impl Writes {
    /// Writes through one API server, which asks the plugin to encrypt after each rotation, and reads through the other,
    /// which has to ask the plugin to decrypt what the first wrote.
    fn write(&self, plane: &ControlPlane) {
        let other = plane.url(1).unwrap();
        for number in 0.. {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            self.begun.fetch_add(1, Ordering::SeqCst);
            let name = format!("killed-{number}");
            // A write may fail while the plugin is away; one that is answered must be readable ever after.
            if create(plane, &name).is_ok() {
                self.acknowledged.lock().unwrap().push(name.clone());
                let words = ["--server", &other, "get", "secret", &name, "-o", "jsonpath={.data.text}"];
                if let Ok(found) = plane.kubectl(&words) {
                    assert_eq!(found, encode(name.as_bytes()), "{name} through the other API server");
                }
            }
        }
    }

    /// Makes both API servers look at the plugin, and so find rotations.
    fn look(&self, plane: &ControlPlane) {
        let other = plane.url(1).unwrap();
        while !self.is_over.load(Ordering::SeqCst) {
            for server in [&[][..], &["--server", &other]] {
                let _ = plane.kubectl(&[server, &["get", "--raw", "/readyz/kms-providers"]].concat());
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
}

/// Ends the threads that write and look, however the one that kills ends.
struct End<'a>(&'a Writes);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
    }
}

/// How often AWS was asked to encrypt or decrypt.
fn calls(fake: &FakeAwsKms) -> usize {
    fake.state().operations.iter().filter(|operation| *operation != "DescribeKey").count()
}

/// Kills and restarts the plugin; the ids of all keys that it reported.
fn kill(served: &mut Served, writes: &Writes, times: usize) -> BTreeSet<String> {
    let mut client = Client::of(&served.plugin.socket("a"));
    let mut ids = BTreeSet::from([client.healthy("")]);
    for number in 0..times {
        let Service::Aws(fake) = &served.service else { panic!("not AWS") };
        let (begun, asked) = (writes.begun(), calls(fake));
        let is_aimed = number % AIMED == 0;
        until("a write, or a call of the plugin, is under way", LOOKED_AT, || {
            let (now_begun, now_asked) = (writes.begun(), calls(fake));
            let is_met = if is_aimed { now_asked > asked } else { now_begun > begun };
            if is_met { Ok(()) } else { Err(format!("{now_begun} writes, {now_asked} calls")) }
        })
        .unwrap();
        served.plugin.kill();
        if number % AIMED == AIMED - 1 {
            served.rotate();
        }
        served.plugin.start();
        ids.insert(client.healthy(""));
    }
    ids
}

/// How many calls of this method the API server counts with this code of gRPC.
fn counted(metrics: &str, method: &str, code: &str) -> f64 {
    let wanted = [
        "apiserver_envelope_encryption_kms_operations_latency_seconds_count{",
        &format!("grpc_status_code=\"{code}\""),
        &format!("method_name=\"/v2.KeyManagementService/{method}\""),
    ];
    let lines = metrics.lines().filter(|line| wanted.iter().all(|part| line.contains(part)));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// Calls of both API servers.
struct Calls {
    /// Those to encrypt that were answered: one at the start of each, then one after a rotation.
    encrypts: f64,
    /// Those to encrypt or decrypt that the plugin did not live to answer.
    cut_off: f64,
}

impl Calls {
    fn of(plane: &ControlPlane) -> Self {
        let other = plane.url(1).unwrap();
        let servers = [&[][..], &["--server", &other]];
        let metrics = servers.map(|server| plane.kubectl(&[server, &["get", "--raw", "/metrics"]].concat()).unwrap());
        let count = |method, code| metrics.iter().map(|metrics| counted(metrics, method, code)).sum::<f64>();
        let [encrypts, decrypts] =
            ["Encrypt", "Decrypt"].map(|method| (count(method, "OK"), count(method, "Unavailable")));
        println!("Encrypt: {encrypts:?}, Decrypt: {decrypts:?} (answered, cut off)");
        assert!(encrypts.0 > 0.0 && decrypts.0 > 0.0, "Encrypt {encrypts:?}, Decrypt {decrypts:?}");
        Self { encrypts: encrypts.0, cut_off: encrypts.1 + decrypts.1 }
    }
}

/// Kills the plugin again and again while Secrets are written and read.
fn kill_during_writes(times: usize) -> Calls {
    let mut served = Served::aws();
    if let Service::Aws(fake) = &served.service {
        fake.state().delay = DELAY;
    }
    served.plugin.start();
    let mut client = Client::of(&served.plugin.socket("a"));
    client.healthy("");
    let options = Options { api_servers: 2, ..options(&served.plugin) };
    let mut plane = ControlPlane::start(&options).unwrap();
    let writes = Writes::default();
    let ids = thread::scope(|scope| {
        scope.spawn(|| writes.write(&plane));
        scope.spawn(|| writes.look(&plane));
        let _end = End(&writes);
        kill(&mut served, &writes, times)
    });
    let calls = Calls::of(&plane);
    if let Service::Aws(fake) = &served.service {
        fake.state().delay = Duration::ZERO;
    }
    let acknowledged = writes.acknowledged.into_inner().unwrap();
    println!("{times} kills, {} writes acknowledged, {} keys", acknowledged.len(), ids.len());
    assert!(acknowledged.len() >= times / 2, "{} writes", acknowledged.len());

    read_past_the_api_server(&plane, &mut client, &acknowledged, &ids);
    plane.kill(Part::ApiServer(0)).unwrap();
    plane.restart(Part::ApiServer(0)).unwrap();
    let each = "jsonpath={range .items[*]}{.metadata.name}={.data.text} {end}";
    let found = plane.kubectl(&["get", "secrets", "-o", each]).unwrap();
    let found: BTreeSet<&str> = found.split_whitespace().collect();
    for name in &acknowledged {
        let entry = format!("{name}={}", encode(name.as_bytes()));
        assert!(found.contains(entry.as_str()), "{name} is not read by an API server that knows no seed");
    }
    plane.down().unwrap();
    calls
}

/// Reads what etcd stores with kube-apiserver's own client, which asks the plugin for each seed.
fn read_past_the_api_server(plane: &ControlPlane, client: &mut Client, names: &[String], ids: &BTreeSet<String>) {
    client.healthy("");
    assert_eq!(error(&client.ask(&json!({"do": "rotate"}))), "");
    for name in names {
        let (key, object) = encrypted_object(plane, name);
        let id = named_id(client, &object);
        assert!(ids.contains(&id), "{name} is stored with {id}, which Status never reported");
        let opened = client.ask(&json!({"do": "read", "name": key, "data": encode(&object)}));
        let is_whole = data(&opened).windows(name.len()).any(|window| window == name.as_bytes());
        assert!(error(&opened).is_empty() && is_whole, "{name}: {opened}");
    }
}

#[test]
fn a_plugin_that_is_killed_during_writes_loses_nothing() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    kill_during_writes(6);
}

#[test]
#[ignore = "long tier: a hundred kills"]
fn a_plugin_that_is_killed_a_hundred_times_during_writes_loses_nothing() {
    testbed::needs!(ControlPlane, Pinned(&KMS_CLIENT));
    let calls = kill_during_writes(100);
    assert!(calls.encrypts > 2.0, "rotations are followed between the kills");
    assert!(calls.cut_off > 0.0, "kills meet an Encrypt or a Decrypt that is under way");
}
