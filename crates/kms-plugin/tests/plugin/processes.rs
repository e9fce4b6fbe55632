//! The plugin as a process: its keys do not disturb each other, and its sockets are its own.

use crate::backends::Served;
use crate::support::{Client, LIMIT, Plugin, error};
use rustix::process::Signal;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use testbed::programs::KMS_CLIENT;
use testbed::until;

pub(crate) fn get(socket: &Path, path: &str) -> String {
    ask(UnixStream::connect(socket).unwrap(), path)
}

pub(crate) fn ask(mut stream: impl Read + Write, path: &str) -> String {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Whether the plugin answers there, and its only key `a` works.
pub(crate) fn is_ready(health: &Path) -> Result<(), String> {
    let stream = UnixStream::connect(health).map_err(|error| error.to_string())?;
    let ready = ask(stream, "/readyz");
    if ready.ends_with("\na ok\n") { Ok(()) } else { Err(ready) }
}

#[test]
fn one_bad_key_of_three_leaves_the_others_healthy_and_is_named_everywhere() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let keys = [("a", ""), ("b", ""), ("c", "  onOutage: continue\n")];
    let mut plugin = Plugin::new(&keys);
    let health = plugin.path("health.sock");
    plugin.configure(&keys, &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    plugin.start();
    let mut clients = ["a", "b", "c"].map(|key| Client::of(&plugin.socket(key)));
    let ids = clients.each_mut().map(|client| client.healthy(""));
    assert!(get(&health, "/readyz").starts_with("HTTP/1.1 200"));

    fs::set_permissions(plugin.path("b.keys"), fs::Permissions::from_mode(0o644)).unwrap();
    let told = clients[1].unhealthy("PermissionDenied");
    assert!(error(&told).contains("key b: access-denied: the key file"), "{told}");
    fs::remove_file(plugin.path("c.keys")).unwrap();
    let told = clients[2].unhealthy("got unexpected healthz status: key c: missing: cannot open the key file");
    assert_eq!(told["keyID"].as_str().unwrap(), ids[2], "with onOutage: continue the id stays");
    assert_eq!(clients[0].healthy(""), ids[0]);

    let ready = get(&health, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("a ok\nb access-denied: "), "{ready}");
    assert!(get(&health, "/readyz/a").starts_with("HTTP/1.1 200"));
    assert!(get(&health, "/livez").starts_with("HTTP/1.1 200"));
    let metrics = get(&health, "/metrics");
    let want = [
        "machineadm_kms_healthy{key=\"a\"} 1".to_owned(),
        "machineadm_kms_healthy{key=\"b\"} 0".to_owned(),
        "machineadm_kms_failure{key=\"b\",kind=\"access-denied\"} 1".to_owned(),
        "machineadm_kms_failure{key=\"c\",kind=\"missing\"} 1".to_owned(),
        format!("machineadm_kms_key_info{{key=\"a\",key_id=\"{}\"}} 1", ids[0]),
        "machineadm_kms_operation_seconds_count{key=\"b\",operation=\"probe\",result=\"access-denied\"} ".to_owned(),
    ];
    for line in want {
        assert!(metrics.contains(&line), "{line} is not in\n{metrics}");
    }
    let mut groups: Vec<&str> = metrics.lines().filter_map(|line| line.split_once('{')).map(|(name, _)| name).collect();
    groups.iter_mut().for_each(|name| *name = name.split("_seconds_").next().unwrap());
    groups.dedup();
    assert_eq!(groups.len(), 5, "the lines of a metric stand together: {groups:?}");

    fs::set_permissions(plugin.path("b.keys"), fs::Permissions::from_mode(0o600)).unwrap();
    plugin.keys("c", &[3]);
    assert_eq!([clients[1].healthy(""), clients[2].healthy("")], [ids[1].clone(), ids[2].clone()]);
    let log = plugin.log();
    for line in log.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap()["time"].is_string());
    }
    assert!(log.contains("\"kind\":\"access-denied\"") && !log.contains(&crate::support::encode(&[2; 32])), "{log}");
}

#[test]
fn a_second_process_on_a_socket_is_refused_and_a_killed_one_is_followed() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", "")]);
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    let second = plugin.command().output().unwrap();
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1));
    assert!(told.contains("another process serves ") && told.contains("a.sock: stop it, or give"), "{told}");
    assert_eq!(client.healthy(""), id, "the first one serves on");
    plugin.kill();
    assert!(plugin.socket("a").exists());
    plugin.start();
    assert_eq!(client.healthy(""), id);
}

#[test]
fn a_key_that_cannot_be_served_at_start_leaves_the_others_served() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", ""), ("b", "")]);
    let health = plugin.path("health.sock");
    plugin.configure(&[("a", ""), ("b", "")], &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    fs::write(plugin.path("kms.yaml"), text.replace("/b.sock", "/gone/b.sock")).unwrap();
    plugin.start();
    Client::of(&plugin.socket("a")).healthy("");
    let ready = get(&health, "/readyz");
    assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("a ok\n"), "{ready}");
    assert!(ready.contains("\nb is not served: ") && ready.contains("/gone"), "{ready}");
    assert!(get(&health, "/livez").starts_with("HTTP/1.1 200"));
}

#[test]
fn keys_come_and_go_with_the_configuration_and_others_keep_their_sockets() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", ""), ("b", "")]);
    plugin.keys("c", &[3]);
    plugin.start();
    let mut a = Client::of(&plugin.socket("a"));
    a.healthy("");
    let before = fs::metadata(plugin.socket("a")).unwrap();
    assert_eq!(before.mode() & 0o7777, 0o600);

    plugin.configure(&[("a", ""), ("c", "")], "");
    plugin.signal(Signal::HUP);
    Client::of(&plugin.socket("c")).healthy("");
    assert!(!plugin.socket("b").exists());
    fs::write(plugin.path("kms.yaml"), "keys: 5\n").unwrap();
    plugin.signal(Signal::HUP);
    until("the invalid configuration is reported", LIMIT, || {
        let log = plugin.log();
        if log.contains("keys: must be a list of at least one key") { Ok(()) } else { Err(log) }
    })
    .unwrap();
    assert_eq!(error(&a.status()), "");
    assert_eq!(fs::metadata(plugin.socket("a")).unwrap().ino(), before.ino(), "its socket is still the same");
    assert!(plugin.socket("c").exists());

    plugin.signal(Signal::TERM);
    assert_eq!(plugin.wait().code(), Some(0));
    assert!(!plugin.socket("a").exists() && !plugin.socket("c").exists());
}

#[test]
fn check_tries_each_key_once_and_creates_no_socket() {
    let plugin = Plugin::new(&[("a", ""), ("b", "")]);
    let good = plugin.check();
    let told = String::from_utf8_lossy(&good.stdout).into_owned();
    assert!(good.status.success() && told.starts_with("a: encrypts and decrypts, key id file:"), "{told}");
    assert!(!plugin.socket("a").exists());

    fs::remove_file(plugin.path("b.keys")).unwrap();
    let bad = plugin.check();
    let told = String::from_utf8_lossy(&bad.stdout).into_owned();
    assert_eq!(bad.status.code(), Some(1));
    assert!(told.contains("a: encrypts") && told.contains("\nb: missing: cannot open the key file "), "{told}");

    fs::write(plugin.path("kms.yaml"), "keys:\n- name: a\n  sock: x\n").unwrap();
    let invalid = plugin.check();
    let told = String::from_utf8_lossy(&invalid.stderr).into_owned();
    assert_eq!(invalid.status.code(), Some(2));
    assert!(told.contains("kms.yaml: apiVersion: required\n") && told.contains("keys[0].socket: required\n"), "{told}");
}

#[test]
fn a_check_whose_output_nobody_reads_has_the_exit_code_of_its_keys() {
    let plugin = Plugin::new(&[("a", ""), ("b", "")]);
    let check = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        plugin.command().arg("--check").stdout(writer).status().unwrap().code()
    };
    assert_eq!(check(), Some(0));
    fs::remove_file(plugin.path("b.keys")).unwrap();
    assert_eq!(check(), Some(1));
}

#[test]
fn the_process_is_confined_and_a_key_elsewhere_needs_a_restart() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", "")]);
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    let status = fs::read_to_string(format!("/proc/{}/status", plugin.id())).unwrap();
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2"] {
        assert!(status.lines().any(|own| own == line), "{status}");
    }
    let log = plugin.log();
    assert!(log.contains("\"landlock\":\"enforced") && log.contains("\"seccomp\":\"enforced\""), "{log}");

    let elsewhere = tempfile::TempDir::new().unwrap();
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    let there = elsewhere.path().display();
    let key = format!("- name: b\n  socket: {there}/b.sock\n  file: {{path: {there}/b.keys}}\n");
    fs::write(plugin.path("kms.yaml"), format!("{text}{key}")).unwrap();
    plugin.signal(Signal::HUP);
    until("the key elsewhere is refused", LIMIT, || {
        let log = plugin.log();
        if log.contains("and landlock now forbids it: restart the plugin") { Ok(()) } else { Err(log) }
    })
    .unwrap();
    assert_eq!(client.healthy(""), id, "the key that is served stays");
    // A look that serves a further key finds the refused one again.
    plugin.keys("c", &[3]);
    let here = plugin.directory.path().display();
    let further = format!("- name: c\n  socket: {here}/c.sock\n  file: {{path: {here}/c.keys}}\n");
    fs::write(plugin.path("kms.yaml"), format!("{text}{key}{further}")).unwrap();
    plugin.signal(Signal::HUP);
    Client::of(&plugin.socket("c")).healthy("");
    let log = plugin.log();
    assert_eq!(log.matches("and landlock now forbids it: restart the plugin").count(), 1, "{log}");
}

/// A library that prints, as soon as it is loaded, how the kernel answers calls that the plugin gives up.
const CALLS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const char *name, long result) { fprintf(stderr, "%s %d\n", name, result < 0 ? errno : 0); }

static long clones(long flags) {
    long child = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    return child;
}

__attribute__((constructor)) static void look(void) {
    show("execve", syscall(SYS_execve, "/bin/true", 0, 0));
    show("unshare", syscall(SYS_unshare, CLONE_NEWUSER));
    show("clone-user", clones(CLONE_NEWUSER));
    show("clone-mount", clones(CLONE_NEWNS));
    show("clone-all", clones(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP));
    show("mount_setattr", syscall(442, -1, "/", 0, 0, 0));
    show("fspick", syscall(433, -1, "/", 0));
    show("clone3", syscall(435, 0, 0));
    show("clone", clones(0));
}
"#;

#[test]
fn calls_that_the_process_gives_up_are_refused_by_the_kernel() {
    testbed::needs!(Judge("cc"));
    let plugin = Plugin::new(&[]);
    let [source, library, configuration] = ["calls.c", "calls.so", "kms.yaml"].map(|name| plugin.path(name));
    fs::write(&source, CALLS).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]).arg(&library).arg(&source);
    assert!(compiler.status().unwrap().success());
    let socket = plugin.socket("a");
    let text = format!(
        "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\nkeys:\n\
        - {{name: a, socket: {}, pkcs11: {{module: {}, slot: 0, pinFile: /none, keyLabel: k}}}}\n",
        socket.display(),
        library.display()
    );
    fs::write(configuration, text).unwrap();
    let output = plugin.check();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let not_permitted = ["execve", "unshare", "clone-user", "clone-mount", "clone-all", "mount_setattr", "fspick"];
    let wanted = not_permitted.map(|name| format!("{name} 1\n")).concat();
    // 38: it does not exist, so that libraries start threads and processes by clone, whose flags are seen.
    assert_eq!(told, wanted + "clone3 38\nclone 0\n");
}

#[test]
fn a_socket_has_the_owner_that_its_key_names() {
    testbed::needs!(Root, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", "  owner: '65534:12345'\n")]);
    plugin.start();
    Client::of(&plugin.socket("a")).healthy("");
    let found = fs::metadata(plugin.socket("a")).unwrap();
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (65534, 12345, 0o600));
}

#[test]
fn a_process_that_is_not_root_serves_in_a_prepared_directory_and_is_closed_to_others_of_its_user() {
    testbed::needs!(Root);
    const USER: u32 = 65534;
    let mut plugin = Plugin::new(&[("a", "")]);
    let health = plugin.path("health.sock");
    plugin.configure(&[("a", "")], &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    plugin.start_as(USER);
    until("its key works", LIMIT, || is_ready(&health)).unwrap();
    let process = PathBuf::from(format!("/proc/{}", plugin.id()));
    assert_eq!(fs::metadata(&process).unwrap().uid(), USER);
    for socket in [plugin.socket("a"), health] {
        let found = fs::metadata(socket).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o7777), (USER, 0o600));
    }
    // What holds a process that no core dump may be made of belongs to root: its memory, and its environment.
    for file in ["mem", "environ"] {
        assert_eq!(fs::metadata(process.join(file)).unwrap().uid(), 0, "{file}");
    }
}

#[test]
fn a_key_that_goes_back_to_an_earlier_id_is_logged_as_such() {
    let mut plugin = Plugin::new(&[("a", "")]);
    plugin.start();
    let logged = |message: &str| {
        until(message, LIMIT, || {
            let log = plugin.log();
            if log.contains(&format!("\"message\":\"{message}\"")) { Ok(()) } else { Err(log) }
        })
        .unwrap();
    };
    logged("the key works");
    plugin.keys("a", &[2, 1]);
    logged("the key was rotated");
    plugin.keys("a", &[1, 2]);
    logged("the key went back to an earlier key id: if it stays there, raise epoch");
}

#[test]
fn two_instances_with_different_configurations_serve_side_by_side() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let (mut one, mut other) = (Served::file(), Served::aws());
    let clients = [&mut one, &mut other].map(|served| {
        let health = format!("unix://{}", served.plugin.path("health.sock").display());
        let text = fs::read_to_string(served.plugin.path("kms.yaml")).unwrap();
        let with_health = match text.strip_prefix('{') {
            Some(rest) => format!("{{\"health\":{{\"listen\":\"{health}\"}},{rest}"),
            None => format!("health: {{listen: '{health}'}}\n{text}"),
        };
        fs::write(served.plugin.path("kms.yaml"), with_health).unwrap();
        served.plugin.start();
        let mut client = Client::of(&served.plugin.socket("a"));
        let id = client.healthy("");
        (client, id)
    });
    let [(mut file, file_id), (mut aws, aws_id)] = clients;
    assert!(file_id.starts_with("file:") && aws_id.starts_with("aws:"));
    one.plugin.kill();
    assert_eq!(aws.healthy(""), aws_id, "each lives for itself");
    assert!(get(&other.plugin.path("health.sock"), "/readyz").starts_with("HTTP/1.1 200"));
    one.plugin.start();
    assert_eq!(file.healthy(""), file_id);
}
