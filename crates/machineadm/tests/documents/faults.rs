//! Machine faults: a disk that is read-only or full. The run fails and says where, and the next one finishes.
use crate::support::{documents::document, run_output::RunOutput, sandbox::Sandbox};
use serde_json::Value;

const STATE: &str = "/var/lib/machineadm";
const SUCCESS: &str = "/run/cluster-api/bootstrap-success.complete";
const FAILURE: &str = "/run/cluster-api/bootstrap-failure.json";
const FALLBACK: &str = "/run/machineadm/outcome.json";

fn file(path: &str, size: usize) -> String {
    document("FilesConfig", &format!("{{files: [{{path: {path}, content: {}}}]}}", "x".repeat(size)))
}

/// The run failed, and everybody who asks is told where and why.
fn failed(sandbox: &Sandbox, ran: &RunOutput, place: &str, why: &str) {
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains(place) && ran.stderr.contains(why), "{}", ran.stderr);
    let status = sandbox.machineadm(&["status"]);
    assert_eq!(status.code, Some(1), "{}", status.stdout);
    for word in ["FAILED", place, why, "Remedy:"] {
        assert!(status.stdout.contains(word), "{word} is not in {}", status.stdout);
    }
    let told: Value = serde_json::from_str(&sandbox.text(FAILURE).expect("a failure file")).expect("it is JSON");
    assert!(told["cause"].as_str().is_some_and(|cause| cause.contains(why)), "{told}");
    assert_eq!(sandbox.text(SUCCESS), None);
}

fn succeeded(sandbox: &Sandbox, ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let status = sandbox.machineadm(&["status"]);
    assert!(status.code == Some(0) && status.stdout.contains("SUCCEEDED"), "{}", status.stdout);
    assert_eq!(sandbox.text(SUCCESS).as_deref(), Some("success\n"));
    for gone in [FAILURE, FALLBACK, "/var/lib/machineadm/configuration.yaml"] {
        assert_eq!(sandbox.text(gone), None, "{gone}");
    }
}

#[test]
fn a_read_only_file_system_fails_the_step_and_the_next_run_finishes() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir /srv/ro && mount -t tmpfs -o ro none /srv/ro");
    let ran = sandbox.bootstrap(&file("/srv/ro/dir/file", 3));
    failed(&sandbox, &ran, "create /srv/ro/dir/file", "Read-only file system");
    sandbox.sh("mount -o remount,rw /srv/ro");
    succeeded(&sandbox, &sandbox.machineadm(&["bootstrap"]));
    assert_eq!(sandbox.text("/srv/ro/dir/file").as_deref(), Some("xxx"));
}

#[test]
fn a_full_file_system_fails_the_step_and_leaves_no_half_file() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir /srv/full && mount -t tmpfs -o size=8k none /srv/full");
    let ran = sandbox.bootstrap(&file("/srv/full/file", 20_000));
    failed(&sandbox, &ran, "create /srv/full/file", "No space left on device");
    assert_eq!(sandbox.sh("ls -A /srv/full"), "");
    sandbox.sh("mount -o remount,size=1m /srv/full");
    succeeded(&sandbox, &sandbox.machineadm(&["bootstrap"]));
    assert_eq!(sandbox.text("/srv/full/file").map(|text| text.len()), Some(20_000));
}

#[test]
fn a_download_that_fills_the_disk_leaves_room_for_the_outcome_and_everything_else() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh(&format!("mkdir -p {STATE} && mount -t tmpfs -o mode=700,size=256k none {STATE}"));
    let sum = sandbox.sh("head -c 1000000 /dev/zero > /srv/tool; sha256sum /srv/tool | cut -c 1-64");
    let spec = format!("{{programs: {{others: [{{name: tool, source: /srv/tool, sha256: '{}'}}]}}}}", sum.trim());
    let ran = sandbox.bootstrap(&document("ProgramsConfig", &spec));
    failed(&sandbox, &ran, "install tool", "No space left on device");
    assert_eq!(sandbox.text(FALLBACK), None, "the outcome is on disk");
    assert_eq!(sandbox.sh(&format!("ls -A {STATE}/downloads")), "");
    sandbox.sh(&format!("mount -o remount,size=4m {STATE}"));
    succeeded(&sandbox, &sandbox.machineadm(&["bootstrap"]));
    assert_eq!(sandbox.sh("stat -c %s /opt/bin/tool").trim(), "1000000");
}

#[test]
fn when_our_own_directory_is_read_only_the_outcome_is_kept_in_memory() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir -p /var/lib/machineadm && mount -t tmpfs -o ro,mode=700 none /var/lib/machineadm");
    let ran = sandbox.bootstrap(&file("/srv/file", 3));
    failed(&sandbox, &ran, "start", "Read-only file system");
    assert!(sandbox.text(FALLBACK).is_some());
    assert_eq!(sandbox.text("/srv/file"), None, "nothing is changed before the configuration is kept");
    sandbox.sh("mount -o remount,rw /var/lib/machineadm");
    succeeded(&sandbox, &sandbox.bootstrap(&file("/srv/file", 3)));
}

#[test]
fn when_our_own_directory_becomes_read_only_the_step_at_work_is_named() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir -p /var/lib/machineadm && mount -t tmpfs -o mode=700 none /var/lib/machineadm");
    let spec = "{commands: [{name: break, argv: [mount, -o, 'remount,ro', /var/lib/machineadm], creates: /srv/none}]}";
    let ran = sandbox.bootstrap(&document("CommandsConfig", spec));
    failed(&sandbox, &ran, "run break", "Read-only file system");
    sandbox.sh("mount -o remount,rw /var/lib/machineadm && touch /srv/none");
    succeeded(&sandbox, &sandbox.machineadm(&["bootstrap"]));
}

#[test]
fn however_little_room_is_left_the_result_is_told_and_the_next_run_finishes() {
    testbed::needs!(Root);
    let documents = [
        document("SysctlConfig", "{parameters: {net.ipv4.ip_forward: 1}}"),
        document("CommandsConfig", "{commands: [{name: one, argv: ['true']}, {name: two, argv: ['true']}]}"),
        file("/srv/file", 3000),
    ];
    let documents = documents.concat();
    let mut ends = Vec::new();
    for pages in 1.. {
        let sandbox = Sandbox::new();
        let size = pages * 4;
        sandbox.sh(&format!("mkdir -p {STATE} && mount -t tmpfs -o mode=700,size={size}k none {STATE}"));
        let ran = sandbox.bootstrap(&documents);
        match ran.code {
            Some(0) => {
                succeeded(&sandbox, &ran);
                break;
            }
            _ => failed(&sandbox, &ran, "FAILED", "No space left on device"),
        }
        let status = sandbox.machineadm(&["status"]).stdout;
        ends.push(status.lines().next().unwrap_or_default().to_owned());
        assert_eq!(sandbox.sh(&format!("find {STATE} -name '.*'")), "", "a temporary file is left");
        sandbox.sh(&format!("mount -o remount,size=1m {STATE}"));
        succeeded(&sandbox, &sandbox.bootstrap(&documents));
        assert!(pages < 50, "never enough: {ends:?}");
    }
    println!("{ends:#?}");
    assert!(ends.len() > 2, "{ends:?}");
}

#[test]
fn a_run_that_cannot_keep_its_success_has_failed() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir -p -m 700 /var/lib/machineadm && mkdir /var/lib/machineadm/bootstrap-success.complete");
    let ran = sandbox.bootstrap(&file("/srv/file", 3));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let status = sandbox.machineadm(&["status"]);
    assert_eq!(status.code, Some(1), "{}", status.stdout);
    assert!(status.stdout.contains("FAILED at end") && status.stdout.contains("is a directory"), "{}", status.stdout);
    assert!(sandbox.text(FAILURE).is_some() && sandbox.text(SUCCESS).is_none());
    sandbox.sh("rmdir /var/lib/machineadm/bootstrap-success.complete");
    succeeded(&sandbox, &sandbox.machineadm(&["bootstrap"]));
}
