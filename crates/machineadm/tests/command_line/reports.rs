//! Reports: what a server gets of a run, with which credentials, and that no server delays or fails a run.
use crate::support::{
    documents::document,
    file_tree::look,
    run_output::RunOutput,
    scratch_machine::{PASSPHRASE, ScratchMachine},
    shell,
};
use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};
use testbed::fake::{Authority, FakeServer, Seen, answer};

/// The secrets of the configurations here.
const CANARIES: [&str; 7] = [
    "canarysignature77",
    "canarybearer88",
    "canaryfile99",
    "canaryoutput55",
    "abcdef.canarytoken12345",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    PASSPHRASE,
];
const QUERY: &str = "/machines/node-7?signature=canarysignature77";

fn accepts() -> FakeServer {
    FakeServer::start(|_, tls| answer(tls, "204 No Content", "", ""))
}

/// A server that accepts reports, and whose first one with this text ends the step of [`until_told`].
fn tells(scratch: &ScratchMachine, text: &'static str) -> FakeServer {
    shell::install(&scratch.root());
    let told = scratch.root().join("told");
    FakeServer::start(move |seen, tls| {
        if String::from_utf8_lossy(&seen.body).contains(text) {
            fs::write(&told, "")?;
        }
        answer(tls, "204 No Content", "", "")
    })
}

/// A step that lasts until the server has got the report that it waits for.
fn until_told() -> String {
    document("CommandsConfig", "{commands: [{name: slow, shell: 'until [ -e /told ]; do :; done', timeout: 60s}]}")
}

fn pem(authority: &Authority) -> String {
    format!("\"{}\"", authority.pem().replace('\n', "\\n"))
}

fn report_to(server: &FakeServer, more: &str) -> String {
    let (uri, authority) = (server.url(QUERY), pem(server.authority()));
    document("ReportConfig", &format!("{{uri: '{uri}', certificateAuthority: {authority}, timeout: 2s{more}}}"))
}

fn motd() -> String {
    document("FilesConfig", "{files: [{path: /etc/motd, content: new}]}")
}

/// Prints secrets and fails.
fn fails() -> String {
    let script = "echo first line; echo key is $KEY; echo use abcdef.canarytoken12345; echo --certificate-key \
                  0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef; exit 3";
    let command = format!("{{name: fails, shell: '{script}', environment: {{KEY: canaryoutput55}}}}");
    document("CommandsConfig", &format!("{{commands: [{command}]}}"))
}

fn reports(server: &FakeServer) -> Vec<Value> {
    server.seen().iter().map(|seen| serde_json::from_slice(&seen.body).expect("a report is JSON")).collect()
}

/// What the run left; no canary is anywhere but in the saved configuration, which only root reads.
fn outcome(scratch: &ScratchMachine, ran: &RunOutput) -> Value {
    for text in [&ran.stdout, &ran.stderr] {
        assert!(CANARIES.iter().all(|canary| !text.contains(canary)), "{text}");
    }
    for (name, entry) in look(&scratch.root()) {
        let text = String::from_utf8_lossy(&entry.body).into_owned();
        let holds = CANARIES.iter().any(|canary| text.contains(canary));
        let may_hold = ["/var/lib/machineadm/configuration.yaml", "/etc/machineadm/authorization"];
        assert!(!holds || may_hold.contains(&name.as_str()), "{name} holds a canary: {text}");
    }
    let file = |path: &str| fs::read(scratch.root().join(path)).expect("it is written");
    let report: Value = serde_json::from_slice(&file("run/machineadm/report.json")).expect("JSON");
    let mode = fs::metadata(scratch.root().join("run/machineadm/report.json")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    let outcome: Value = serde_json::from_slice(&file("var/lib/machineadm/outcome.json")).expect("JSON");
    assert_eq!((&report["state"], &report["failure"]), (&outcome["state"], &outcome["failure"]));
    assert_eq!(report["kind"], "Report");
    outcome
}

fn no_canary(seen: &[Seen]) {
    for seen in seen {
        let text = String::from_utf8_lossy(&seen.body);
        assert!(CANARIES.iter().all(|canary| !text.contains(canary)), "{text}");
        assert!(seen.body.len() <= engine::LARGEST_REPORT);
    }
}

/// How long a server hangs: whoever waits for it takes longer than this.
const HANGS: Duration = Duration::from_secs(30);

/// The run ends as it would without a report, in time, with a warning and a remark.
fn warned(scratch: &ScratchMachine, configuration: &str, why: &str) {
    let started = Instant::now();
    let ran = scratch.bootstrap(configuration);
    assert!(started.elapsed() < HANGS, "{:?}", started.elapsed());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("warning") && ran.stderr.contains(why), "{why}: {}", ran.stderr);
    let outcome = outcome(scratch, &ran);
    assert_eq!(outcome["state"], "succeeded");
    assert!(outcome["remarks"][0].as_str().expect("a remark").contains(why), "{outcome}");
    assert_eq!(fs::read_to_string(scratch.root().join("etc/motd")).expect("a file"), "new");
    let status = scratch.run(&["status"]);
    assert!(status.stdout.contains(why) && status.code == Some(0), "{}", status.stdout);
}

#[test]
fn a_server_gets_progress_and_then_the_end() {
    testbed::needs!(Root);
    let scratch = ScratchMachine::new();
    let server = tells(&scratch, "running");
    let ran = scratch.bootstrap(&[report_to(&server, ", allow: [loopback]"), until_told()].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let outcome = outcome(&scratch, &ran);
    assert_eq!((&outcome["state"], &outcome["remarks"]), (&"succeeded".into(), &Value::Null));
    let seen = server.seen();
    no_canary(&seen);
    assert!(seen.iter().all(|seen| seen.head.starts_with(&format!("PUT {QUERY} "))), "{seen:?}");
    assert!(seen.iter().all(|seen| seen.header("content-type") == Some("application/json")));
    let reports = reports(&server);
    assert!(reports.len() >= 2, "{reports:?}");
    let (last, earlier) = reports.split_last().expect("two");
    assert!(earlier.iter().all(|report| report["state"] == "running"), "{earlier:?}");
    assert_eq!(last["state"], "succeeded");
    assert_eq!(last["progress"], serde_json::json!({"done": 2, "total": 2}));
    assert_eq!((&last["machine"], &last["mode"]), (&"node-7".into(), &"provision".into()));
    assert_eq!(last["apiVersion"], "machineadm.cluster.x-k8s.io/v1alpha1");
}

#[test]
fn while_a_step_runs_the_server_knows_which() {
    testbed::needs!(Root);
    let scratch = ScratchMachine::new();
    let server = tells(&scratch, "slow");
    let ran = scratch.bootstrap(&[report_to(&server, ", allow: [loopback]"), until_told()].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let reports = reports(&server);
    let at_work = reports.iter().find(|report| report["step"].is_string()).expect("a report of the step");
    assert_eq!((&at_work["phase"], &at_work["document"]), (&"CommandsConfig".into(), &2.into()));
    assert!(at_work["step"].as_str().is_some_and(|step| step.contains("slow")), "{at_work}");
    assert_eq!(at_work["progress"], serde_json::json!({"done": 1, "total": 2}));
}

#[test]
fn a_server_learns_why_a_run_failed_and_no_secret() {
    testbed::needs!(Root);
    let (scratch, server) = (ScratchMachine::new(), accepts());
    shell::install(&scratch.root());
    let more = ", allow: [loopback], authorization: Bearer canarybearer88";
    let ran = scratch.bootstrap(&[motd(), report_to(&server, more), fails()].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let outcome = outcome(&scratch, &ran);
    let (seen, reports) = (server.seen(), reports(&server));
    no_canary(&seen);
    assert!(seen.iter().all(|seen| seen.header("authorization") == Some("Bearer canarybearer88")));
    let last = reports.last().expect("reports");
    assert_eq!((&last["state"], &last["failure"]), (&"failed".into(), &outcome["failure"]));
    let failure = &last["failure"];
    assert_eq!((&failure["phase"], &failure["document"]), (&"CommandsConfig".into(), &3.into()));
    assert!(failure["step"].is_string() && failure["cause"].as_str().is_some_and(|cause| cause.contains('3')));
    assert_eq!(failure["output"][0], "first line");
    assert_eq!(failure["output"][1], "key is [redacted]");
    assert_eq!(failure["output"][2], "use [redacted]");
    assert_eq!(failure["output"][3], "--certificate-key [redacted]");
}

#[test]
fn credentials_come_from_a_file_that_only_root_reads() {
    let (scratch, server) = (ScratchMachine::new(), accepts());
    let more = ", allow: [loopback], authorizationFile: /etc/machineadm/authorization";
    let text = [report_to(&server, more), motd()].concat();
    warned(&scratch, &text, "/etc/machineadm/authorization does not exist");
    fs::create_dir_all(scratch.root().join("etc/machineadm")).expect("a directory");
    let file = scratch.root().join("etc/machineadm/authorization");
    fs::write(&file, "Bearer canaryfile99\n").expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a mode");
    warned(&scratch, &text, "has mode 0644");
    assert!(server.seen().is_empty(), "nothing is sent without its credentials");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    let ran = scratch.bootstrap(&text);
    assert_eq!((ran.code, &outcome(&scratch, &ran)["remarks"]), (Some(0), &Value::Null), "{}", ran.stderr);
    assert!(server.seen().iter().all(|seen| seen.header("authorization") == Some("Bearer canaryfile99")));
    assert!(!server.seen().is_empty());
}

#[test]
fn a_server_that_another_authority_signed_gets_nothing() {
    let (scratch, server) = (ScratchMachine::new(), accepts());
    let (uri, other) = (server.url(QUERY), pem(&Authority::new()));
    let spec = format!("{{uri: '{uri}', certificateAuthority: {other}, timeout: 2s, allow: [loopback]}}");
    warned(&scratch, &[document("ReportConfig", &spec), motd()].concat(), "is not trusted");
    assert!(server.seen().is_empty());
}

#[test]
fn loopback_is_refused_unless_the_document_allows_it() {
    let (scratch, server) = (ScratchMachine::new(), accepts());
    warned(&scratch, &[report_to(&server, ""), motd()].concat(), "the ReportConfig can allow it: `allow: [loopback]`");
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_fetched_document_cannot_send_reports_to_loopback() {
    let (scratch, server) = (ScratchMachine::new(), accepts());
    let report = report_to(&server, ", allow: [loopback]");
    scratch.write("remote.yaml", &report);
    scratch.chmod("remote.yaml", 0o600);
    let remote = |more: &str| {
        document("RemoteConfig", &format!("{{provider: file, uri: '{}'{more}}}", scratch.uri("remote.yaml")))
    };
    let ran = scratch.bootstrap(&[remote(""), motd()].concat());
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("not allowed to name loopback addresses"), "{}", ran.stderr);
    assert_eq!(server.connections(), 0);
    let ran = scratch.bootstrap(&[remote(", allow: [loopback]"), motd()].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(reports(&server).last().expect("a report")["state"], "succeeded");
}

#[test]
fn a_server_that_fails_does_not_fail_the_run_and_gets_the_end_when_it_is_back() {
    let scratch = ScratchMachine::new();
    let server = FakeServer::start(|_, tls| answer(tls, "503 Service Unavailable", "", ""));
    let text = [report_to(&server, ", allow: [loopback]"), motd()].concat();
    warned(&scratch, &text, "the server returned 503");
    let (scratch, count) = (ScratchMachine::new(), AtomicUsize::new(0));
    let server = FakeServer::start(move |seen, tls| {
        let is_last = String::from_utf8_lossy(&seen.body).contains("succeeded");
        let refuses = !is_last || count.fetch_add(1, Ordering::SeqCst) == 0;
        answer(tls, if refuses { "500 Oops" } else { "200 OK" }, "", "")
    });
    let ran = scratch.bootstrap(&[report_to(&server, ", allow: [loopback]"), motd()].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(outcome(&scratch, &ran)["remarks"], Value::Null, "{}", ran.stderr);
}

#[test]
fn a_server_that_hangs_delays_the_end_by_its_timeout_and_no_step() {
    let scratch = ScratchMachine::new();
    let server = FakeServer::start(|_, _| {
        std::thread::sleep(HANGS);
        Ok(())
    });
    // If each of these waited for a report, which times out after 2 s, the run would last longer than the server hangs.
    let steps: String = (0..20)
        .map(|number| document("FilesConfig", &format!("{{files: [{{path: /etc/{number}, content: new}}]}}")))
        .collect();
    let text = [report_to(&server, ", allow: [loopback]"), motd(), steps].concat();
    warned(&scratch, &text, "took longer than");
}

#[test]
fn a_redirect_is_not_followed() {
    for location in ["http://127.0.0.1:1/", "https://127.0.0.1:1/"] {
        let scratch = ScratchMachine::new();
        let server = FakeServer::start(move |_, tls| answer(tls, "307 X", &format!("Location: {location}\r\n"), ""));
        let text = [report_to(&server, ", allow: [loopback]"), motd()].concat();
        warned(&scratch, &text, "answered with status 307, a redirect, which is not followed");
    }
}

#[test]
fn a_configuration_that_cannot_be_fetched_is_reported_by_a_document_before_it() {
    let (scratch, server) = (ScratchMachine::new(), accepts());
    let storage = FakeServer::start(|_, tls| answer(tls, "404 X", "", ""));
    let (uri, authority) = (storage.url("/a"), pem(storage.authority()));
    let remote = document(
        "RemoteConfig",
        &format!("{{provider: https, uri: '{uri}', certificateAuthority: {authority}, timeout: 2s}}"),
    );
    let ran = scratch.bootstrap(&[report_to(&server, ", allow: [loopback]"), remote].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let last = reports(&server).pop().expect("a report");
    assert_eq!((&last["state"], &last["failure"]["phase"]), (&"failed".into(), &"configuration".into()));
    assert!(last["failure"]["cause"].as_str().is_some_and(|cause| cause.contains("404")), "{last}");
}

#[test]
fn a_run_without_a_report_config_writes_the_file_alone() {
    let scratch = ScratchMachine::new();
    let ran = scratch.bootstrap(&motd());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(outcome(&scratch, &ran)["remarks"], Value::Null);
}

#[test]
fn an_encrypted_report_config_reports_and_its_location_is_not_shown() {
    let (scratch, server) = (ScratchMachine::new(), accepts());
    let sealed = scratch.seal(&report_to(&server, ", allow: [loopback], authorization: Bearer canarybearer88"), &[]);
    let plan = {
        scratch.write("node.yaml", &[sealed.clone(), motd()].join("---\n"));
        scratch.run(&["plan", "-f", "@node.yaml"])
    };
    assert_eq!(plan.code, Some(0), "{}", plan.stderr);
    let text = format!("{}{}", plan.stdout, plan.stderr);
    assert!(text.contains("the URI in the encrypted document") && !text.contains("/machines/node-7"), "{text}");
    assert!(server.seen().is_empty(), "a plan reports nothing");
    let ran = scratch.bootstrap(&[sealed, motd()].join("---\n"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    outcome(&scratch, &ran);
    assert_eq!(reports(&server).last().expect("a report")["state"], "succeeded");
}
