//! The table of docs/operating/kms.md, row by row, with a key of AWS (a fake): Status, log, readyz and metrics agree with
//! it, and all of them tell when the key works again.
use crate::backends::{Served, Service};
use crate::fake_aws_kms::{ARN, FakeAwsKms, FakeKey, Fault};
use crate::processes::get;
use crate::support::{Client, LIMIT, Plugin, data, encode, error};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;
use testbed::programs::KMS_CLIENT;
use testbed::until;

const DOCS: &str = include_str!("../../../../docs/operating/kms.md");

/// The kinds of failure and the codes of gRPC, as the docs list them.
fn table() -> Vec<(&'static str, &'static str)> {
    let (_, section) = DOCS.split_once("\n## What Status reports\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    rows.map(|row| (row.split_once("` | ").unwrap().0, row.rsplit_once(" | ").unwrap().1)).collect()
}

/// One way in which a key comes to fail.
struct Way {
    break_it: fn(&FakeAwsKms),
    /// What Status, log and readyz say beside the kind.
    text: &'static str,
    mend: fn(&FakeAwsKms),
}

fn error_of_aws(fake: &FakeAwsKms, name: &str, status: u16) {
    fake.fault(Some(Fault::Error(name.to_owned(), status)));
}

fn works_again(fake: &FakeAwsKms) {
    fake.fault(None);
    fake.state().keys.insert(ARN.to_owned(), FakeKey { rotations: 0, state: "Enabled", is_named: true });
}

/// As an operator who puts other credentials into the Secret.
fn renew(fake: &FakeAwsKms) {
    fake.credentials("AKIDNEXT", "renewed");
}

fn deny(fake: &FakeAwsKms, operations: &[&'static str]) {
    fake.state().accounts.values_mut().for_each(|account| account.denied.extend(operations));
}

/// How the fake can make a key fail so; none for what says nothing of the key.
fn ways(kind: &str) -> Vec<Way> {
    let way = |break_it, text, mend| Way { break_it, text, mend };
    match kind {
        "unreachable" => vec![
            way(|fake| error_of_aws(fake, "ServiceUnavailableException", 503), "returned 503", works_again),
            way(|fake| fake.fault(Some(Fault::Hang)), "", works_again),
        ],
        "throttled" => {
            vec![way(|fake| error_of_aws(fake, "ThrottlingException", 400), "ThrottlingException", works_again)]
        }
        "access-denied" => vec![
            way(|fake| fake.state().accounts.clear(), "UnrecognizedClientException", renew),
            way(
                |fake| fake.state().accounts.values_mut().for_each(|account| account.is_expired = true),
                "ExpiredTokenException",
                renew,
            ),
            way(|fake| deny(fake, &["DescribeKey", "Encrypt", "Decrypt"]), "AccessDeniedException", renew),
        ],
        "disabled" => {
            vec![way(|fake| fake.key(|key| key.state = "Disabled"), "is disabled: enable it with", works_again)]
        }
        "pending-deletion" => vec![way(
            |fake| fake.key(|key| key.state = "PendingDeletion"),
            "is deleted at 2027-01-15T08:00:00Z",
            works_again,
        )],
        "missing" => vec![
            way(|fake| fake.state().keys.clear(), "NotFoundException", works_again),
            way(|fake| fake.key(|key| key.state = "PendingImport"), "has no key material", works_again),
        ],
        "decrypts-only" => vec![way(|fake| deny(fake, &["Encrypt"]), "(access-denied: Encrypt returned 400", renew)],
        "invalid-request" => Vec::new(),
        other => panic!("the docs have the kind {other}, which this test does not know"),
    }
}

/// The plugin, its key service, and all that an operator sees of it.
struct Observed {
    plugin: Plugin,
    fake: FakeAwsKms,
    client: Client,
    health: PathBuf,
    id: String,
}

impl Observed {
    fn start() -> Self {
        let Served { mut plugin, service: Service::Aws(fake) } = Served::aws() else { panic!("not AWS") };
        let health = plugin.path("health.sock");
        let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
        let mut configuration: Value = serde_json::from_str(&text).unwrap();
        configuration["health"] = json!({"listen": format!("unix://{}", health.display())});
        fs::write(plugin.path("kms.yaml"), configuration.to_string()).unwrap();
        plugin.start();
        let mut client = Client::of(&plugin.socket("a"));
        let id = client.healthy("");
        Self { plugin, fake, client, health, id }
    }

    /// A failed call makes the plugin look at once; what becomes of it is of no interest.
    fn call(&mut self) -> Value {
        self.client.ask(&json!({"do": "encrypt", "data": encode(&[7; 32])}))
    }

    /// The lines of the log with this message.
    fn logged(&self, message: &str) -> Vec<Value> {
        let log = self.plugin.log();
        let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line["message"] == message).collect()
    }

    /// The lines of `machineadm_kms_failure`, and that of `machineadm_kms_healthy`.
    fn metrics(&self) -> (Vec<String>, String) {
        let metrics = get(&self.health, "/metrics");
        let of = |name: &str| metrics.lines().filter(|line| line.starts_with(name)).map(str::to_owned).collect();
        let healthy: Vec<String> = of("machineadm_kms_healthy{");
        (of("machineadm_kms_failure{"), healthy.concat())
    }

    fn fails_everywhere(&mut self, kind: &str, code: &str, text: &str) {
        self.call();
        let told = self.client.unhealthy(&format!("key a: {kind}: "));
        let status = error(&told);
        assert!(status.contains(&format!("code = {code} ")) && status.contains(text), "{kind}: {told}");
        let logged = self.logged("the key does not work");
        let line = logged.last().unwrap();
        assert_eq!((&line["level"], &line["key"], &line["kind"]), (&json!("error"), &json!("a"), &json!(kind)));
        assert!(line["cause"].as_str().unwrap().contains(text), "{line}");
        for path in ["/readyz", "/readyz/a"] {
            let ready = get(&self.health, path);
            assert!(ready.starts_with("HTTP/1.1 503") && ready.contains(&format!("\na {kind}: ")), "{ready}");
            assert!(ready.contains(text), "{ready}");
        }
        let failure = format!("machineadm_kms_failure{{key=\"a\",kind=\"{kind}\"}} 1");
        assert_eq!(self.metrics(), (vec![failure], "machineadm_kms_healthy{key=\"a\"} 0".to_owned()));
    }

    fn works_everywhere(&mut self) {
        assert_eq!(self.client.healthy(""), self.id);
        let logged = self.logged("the key works");
        assert_eq!(logged.last().unwrap()["keyId"], json!(self.id));
        for path in ["/readyz", "/readyz/a"] {
            let ready = get(&self.health, path);
            assert!(ready.starts_with("HTTP/1.1 200") && ready.ends_with("\na ok\n"), "{ready}");
        }
        assert_eq!(self.metrics(), (Vec::new(), "machineadm_kms_healthy{key=\"a\"} 1".to_owned()));
    }
}

#[test]
fn status_log_readyz_and_metrics_report_each_kind_of_the_docs_and_its_end() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut observed = Observed::start();
    let table = table();
    assert_eq!(table.len(), 8, "{table:?}");
    for (kind, code) in table {
        for way in ways(kind) {
            observed.works_everywhere();
            let works = observed.logged("the key works").len();
            (way.break_it)(&observed.fake);
            observed.fails_everywhere(kind, code, way.text);
            (way.mend)(&observed.fake);
            observed.works_everywhere();
            assert_eq!(observed.logged("the key works").len(), works + 1, "{kind}");
        }
        if kind == "invalid-request" {
            let mut damaged = observed.call();
            let mut bytes = data(&damaged);
            *bytes.last_mut().unwrap() ^= 1;
            damaged["data"] = json!(encode(&bytes));
            damaged["do"] = json!("decrypt");
            let refused = observed.client.ask(&damaged);
            assert!(error(&refused).contains(&format!("code = {code} ")), "{refused}");
            observed.works_everywhere();
        }
    }
    let log = observed.plugin.log();
    assert!(!log.contains("s3cret") && !log.contains("renewed"), "{log}");
}

#[test]
fn a_rotation_during_an_outage_is_logged_as_one() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut observed = Observed::start();
    error_of_aws(&observed.fake, "ServiceUnavailableException", 503);
    observed.fails_everywhere("unreachable", "Unavailable", "returned 503");
    observed.fake.key(|key| key.rotations += 1);
    observed.fake.fault(None);
    let before = std::mem::take(&mut observed.id);
    observed.id = observed.client.healthy(&before);
    observed.works_everywhere();
    let rotated = observed.logged("the key was rotated");
    let told: Vec<_> = rotated.iter().map(|line| (&line["before"], &line["keyId"])).collect();
    assert_eq!(told, [(&json!(before), &json!(observed.id))]);
}

#[test]
fn many_failed_calls_are_all_counted_and_only_some_of_them_logged() {
    const CALLS: usize = 100;
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut observed = Observed::start();
    deny(&observed.fake, &["Encrypt"]);
    let began = Instant::now();
    (0..CALLS).for_each(|_| assert!(error(&observed.call()).contains("PermissionDenied")));
    // Ten at once, then one per second.
    let most = 10 + usize::try_from(began.elapsed().as_secs()).unwrap() + 1;
    let lines = observed.logged("a call failed").len();
    assert!((10..=most).contains(&lines), "{lines} lines");
    let counted = format!(
        "machineadm_kms_operation_seconds_count{{key=\"a\",operation=\"encrypt\",result=\"access-denied\"}} {CALLS}\n"
    );
    let metrics = get(&observed.health, "/metrics");
    assert!(metrics.contains(&counted), "{metrics}");
    let unlogged = until("a later line counts those that were not logged", LIMIT, || {
        observed.call();
        let lines = observed.logged("a call failed");
        lines.iter().find_map(|line| line["unlogged"].as_u64()).ok_or_else(|| format!("{lines:?}"))
    });
    assert!(unlogged.unwrap() > 0);
}

#[test]
fn identical_decrypts_at_the_same_time_ask_aws_once() {
    const CLIENTS: usize = 8;
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut observed = Observed::start();
    let [one, other] = [observed.call(), observed.call()];
    let decrypt = |sealed: &Value| {
        json!({
            "do": "decrypt", "data": sealed["data"], "keyID": sealed["keyID"], "annotations": sealed["annotations"],
        })
    };
    let asked = |fake: &FakeAwsKms, sealed: &Value| {
        let requests = fake.requests();
        let bodies = requests.iter().filter(|seen| seen.header("x-amz-target") == Some("TrentService.Decrypt"));
        let bodies = bodies.map(|seen| serde_json::from_slice::<Value>(&seen.body).unwrap());
        bodies.filter(|body| body["CiphertextBlob"] == sealed["data"]).count()
    };
    // Its own check of what it encrypts has asked once for each.
    let before = [asked(&observed.fake, &one), asked(&observed.fake, &other)];
    assert_eq!(before, [1, 1]);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|_| Client::of(&observed.plugin.socket("a"))).collect();
    clients.iter_mut().for_each(|client| drop(client.healthy("")));
    // Nothing is answered, so that all of them are under way at the same time.
    observed.fake.fault(Some(Fault::Hang));
    std::thread::scope(|scope| {
        for (at, client) in clients.iter_mut().enumerate() {
            let request = decrypt(if at == 0 { &other } else { &one });
            scope.spawn(move || assert!(error(&client.ask(&request)).contains("Unavailable")));
        }
    });
    assert_eq!([asked(&observed.fake, &one), asked(&observed.fake, &other)], [2, 2], "once for each");
    observed.fake.fault(None);
    until("the service answers again, and nothing was cached", LIMIT, || {
        let opened = observed.client.ask(&decrypt(&one));
        if data(&opened) == [7; 32] { Ok(()) } else { Err(opened.to_string()) }
    })
    .unwrap();
    assert!(asked(&observed.fake, &one) > 2);
}
