//! The plugin in operation: reloads that cannot be followed, health on a port, and the end of the process.
use crate::backends::{Served, Service, aws, with_key};
use crate::fake_aws_kms::FakeAwsKms;
use crate::processes::{ask, get, is_ready};
use crate::support::{Client, LIMIT, Plugin, data, encode, error};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use testbed::programs::KMS_CLIENT;
use testbed::{Port, until};

#[test]
fn what_is_configured_and_not_served_is_not_ready() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", ""), ("b", "")]);
    let health = plugin.path("health.sock");
    let further = format!("health: {{listen: 'unix://{}'}}\n", health.display());
    plugin.configure(&[("a", "")], &further);
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    assert!(get(&health, "/readyz").starts_with("HTTP/1.1 200"));
    assert!(get(&health, "/readyz/b").starts_with("HTTP/1.1 404"));

    fs::write(plugin.socket("b"), "mine").unwrap();
    plugin.configure(&[("a", ""), ("b", "")], &further);
    plugin.signal(Signal::HUP);
    until("the key without a socket is not ready", LIMIT, || {
        let ready = get(&health, "/readyz");
        let is_told = ready.starts_with("HTTP/1.1 503") && ready.contains("a ok\nb is not served: ");
        if is_told { Ok(()) } else { Err(ready) }
    })
    .unwrap();
    assert!(get(&health, "/readyz/b").starts_with("HTTP/1.1 503"));
    assert!(get(&health, "/metrics").contains("\nmachineadm_kms_healthy{key=\"b\"} 0\n"));
    // While the file is not valid the last valid one is followed on.
    fs::write(plugin.path("kms.yaml"), "keys: 5\n").unwrap();
    plugin.signal(Signal::HUP);
    fs::remove_file(plugin.socket("b")).unwrap();
    until("the key is served as soon as it can be", LIMIT, || {
        let ready = get(&health, "/readyz");
        if ready.contains("a ok\nb ok\n") { Ok(()) } else { Err(ready) }
    })
    .unwrap();
    assert_eq!(client.healthy(""), id);
}

#[test]
fn a_key_whose_new_settings_need_a_restart_is_served_with_its_old_ones() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", "")]);
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    let elsewhere = tempfile::TempDir::new().unwrap();
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    let moved =
        text.replace(&plugin.path("a.keys").display().to_string(), &elsewhere.path().join("k").display().to_string());
    assert_ne!(moved, text);
    fs::write(plugin.path("kms.yaml"), moved).unwrap();
    plugin.signal(Signal::HUP);
    until("the move is refused", LIMIT, || {
        let log = plugin.log();
        if log.contains("and landlock now forbids it: restart the plugin") { Ok(()) } else { Err(log) }
    })
    .unwrap();
    assert_eq!(client.healthy(""), id);
    assert!(!plugin.log().contains("no longer serving a key"), "{}", plugin.log());
}

#[test]
fn two_keys_exchange_their_sockets_in_one_reload() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", ""), ("b", "")]);
    plugin.start();
    let [mut a, mut b] = ["a", "b"].map(|key| Client::of(&plugin.socket(key)));
    let ids = [a.healthy(""), b.healthy("")];
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    let exchanged = text.replace("/a.sock", "/x.sock").replace("/b.sock", "/a.sock").replace("/x.sock", "/b.sock");
    fs::write(plugin.path("kms.yaml"), exchanged).unwrap();
    plugin.signal(Signal::HUP);
    assert_eq!([b.healthy(&ids[1]), a.healthy(&ids[0])], ids);
}

#[test]
fn a_configuration_behind_a_link_is_followed() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", ""), ("b", "")]);
    plugin.configure(&[("a", "")], "");
    let elsewhere = tempfile::TempDir::new().unwrap();
    let real = elsewhere.path().join("real.yaml");
    fs::copy(plugin.path("kms.yaml"), &real).unwrap();
    fs::remove_file(plugin.path("kms.yaml")).unwrap();
    std::os::unix::fs::symlink(&real, plugin.path("kms.yaml")).unwrap();
    plugin.start();
    Client::of(&plugin.socket("a")).healthy("");
    let text = fs::read_to_string(&real).unwrap();
    let other = text.split_once("keys:\n").unwrap().1.replace("a.", "b.").replace("name: a", "name: b");
    fs::write(&real, text + &other).unwrap();
    plugin.signal(Signal::HUP);
    Client::of(&plugin.socket("b")).healthy("");
}

#[test]
fn a_configuration_that_becomes_a_fifo_stops_no_key() {
    let mut plugin = Plugin::new(&[("a", "")]);
    let health = plugin.path("health.sock");
    plugin.configure(&[("a", "")], &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    plugin.start();
    until("the key works", LIMIT, || is_ready(&health)).unwrap();
    mknodat(CWD, plugin.path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    fs::rename(plugin.path("fifo"), plugin.path("kms.yaml")).unwrap();
    plugin.signal(Signal::HUP);
    until("it is reported", LIMIT, || {
        let log = plugin.log();
        if log.contains("cannot read the configuration: not a file of at most 1 MiB") { Ok(()) } else { Err(log) }
    })
    .unwrap();
    assert_eq!(is_ready(&health), Ok(()));
}

/// Writes until nothing more is taken without waiting; how much that was.
fn fill(pipe: &mut std::io::PipeWriter) -> usize {
    let mut length = 0;
    while poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&Timespec::default())).unwrap() > 0 {
        length += pipe.write(&[b'.'; 4096]).unwrap();
    }
    length
}

#[test]
fn a_log_that_nobody_reads_stops_no_key_and_what_it_lacks_is_counted() {
    let mut plugin = Plugin::new(&[("a", "")]);
    let health = plugin.path("health.sock");
    plugin.configure(&[("a", "")], &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    let (mut log, mut writer) = std::io::pipe().unwrap();
    let filled = fill(&mut writer);
    plugin.start_with_log(writer);
    until("the key works", LIMIT, || is_ready(&health)).unwrap();
    log.read_exact(&mut vec![0; filled]).unwrap();
    plugin.signal(Signal::TERM);
    assert_eq!(plugin.wait().code(), Some(0));
    let mut lines = String::new();
    log.read_to_string(&mut lines).unwrap();
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    // The process is confined; it serves a key; the key works.
    assert_eq!(
        (first["message"].as_str(), first["unwritten"].as_u64()),
        (Some("ending: requests under way are finished"), Some(3))
    );
    assert_eq!(lines.matches("unwritten").count(), 1, "{lines}");
}

#[test]
fn a_socket_that_somebody_removed_is_created_again() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let keys = [("a", ""), ("b", "")];
    let mut plugin = Plugin::new(&keys);
    let health = plugin.path("health.sock");
    plugin.configure(&keys, &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    plugin.start();
    let [mut a, mut b] = ["a", "b"].map(|key| Client::of(&plugin.socket(key)));
    let ids = [a.healthy(""), b.healthy("")];
    let other = fs::metadata(plugin.socket("b")).unwrap().ino();
    for socket in [plugin.socket("a"), health.clone()] {
        fs::remove_file(&socket).unwrap();
        until("it is there again", LIMIT, || fs::metadata(&socket).map(drop).map_err(|error| error.to_string()))
            .unwrap();
    }
    assert!(get(&health, "/livez").starts_with("HTTP/1.1 200"));
    assert_eq!([Client::of(&plugin.socket("a")).healthy(""), a.healthy("")], [ids[0].clone(), ids[0].clone()]);
    assert_eq!((b.healthy(""), fs::metadata(plugin.socket("b")).unwrap().ino()), (ids[1].clone(), other));
}

#[test]
fn a_directory_of_sockets_that_was_created_again_is_reported_and_served_after_a_restart() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", "")]);
    let (sockets, text) = (plugin.path("sockets"), fs::read_to_string(plugin.path("kms.yaml")).unwrap());
    let socket = sockets.join("a.sock");
    let moved = text.replace(&plugin.socket("a").display().to_string(), &socket.display().to_string());
    fs::write(plugin.path("kms.yaml"), moved).unwrap();
    fs::create_dir(&sockets).unwrap();
    plugin.start();
    let id = Client::of(&socket).healthy("");
    fs::remove_dir_all(&sockets).unwrap();
    fs::create_dir(&sockets).unwrap();
    until("it is reported", LIMIT, || {
        let log = plugin.log();
        let cause = "Permission denied (os error 13). Its directory must exist and be writable for this process; if it was \
            created again since the start of the plugin, restart the plugin";
        if log.contains(cause) { Ok(()) } else { Err(log) }
    })
    .unwrap();
    plugin.signal(Signal::TERM);
    assert_eq!(plugin.wait().code(), Some(0));
    plugin.start();
    assert_eq!(Client::of(&socket).healthy(""), id);
}

#[test]
fn a_socket_that_another_process_took_over_is_reported_and_served_again_when_it_is_free() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let mut plugin = Plugin::new(&[("a", "")]);
    let health = plugin.path("health.sock");
    plugin.configure(&[("a", "")], &format!("health: {{listen: 'unix://{}'}}\n", health.display()));
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    // As plugins do that unlink whatever they find.
    let other = UnixListener::bind(plugin.path("other.sock")).unwrap();
    fs::rename(plugin.path("other.sock"), plugin.socket("a")).unwrap();
    until("it is reported", LIMIT, || {
        let ready = get(&health, "/readyz");
        let is_told = ready.starts_with("HTTP/1.1 503") && ready.contains("\na is not served: another process serves ");
        if is_told { Ok(()) } else { Err(ready) }
    })
    .unwrap();
    assert!(!get(&health, "/readyz").contains("a ok"));
    let metrics = get(&health, "/metrics");
    let healthy: Vec<&str> = metrics.lines().filter(|line| line.starts_with("machineadm_kms_healthy{")).collect();
    assert_eq!(healthy, ["machineadm_kms_healthy{key=\"a\"} 0"]);
    assert_eq!(client.healthy(""), id, "who has connected before is served on");
    drop(other);
    until("it is served again", LIMIT, || {
        let ready = get(&health, "/readyz");
        if ready.ends_with("\na ok\n") { Ok(()) } else { Err(ready) }
    })
    .unwrap();
    assert_eq!(Client::of(&plugin.socket("a")).healthy(""), id);
}

#[test]
fn a_secret_behind_a_link_is_read_after_the_kubelet_has_replaced_it() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let fake = FakeAwsKms::start();
    let mount = tempfile::TempDir::new().unwrap();
    let turn = |version: &str, id: &str| {
        let text = format!("[default]\naws_access_key_id = {id}\naws_secret_access_key = of-{id}\n");
        fs::create_dir(mount.path().join(version)).unwrap();
        fs::write(mount.path().join(version).join("shared"), text).unwrap();
        symlink(version, mount.path().join("..new")).unwrap();
        fs::rename(mount.path().join("..new"), mount.path().join("..data")).unwrap();
        fake.state().accounts.clear();
        fake.admit(id, &format!("of-{id}"), None);
    };
    turn("..1", "AKIDONE");
    symlink("..data/shared", mount.path().join("shared")).unwrap();
    let links = tempfile::TempDir::new().unwrap();
    symlink(mount.path().join("shared"), links.path().join("credentials")).unwrap();
    let credentials = json!({"sharedFile": {"path": links.path().join("credentials")}});
    let mut plugin = with_key("aws", &aws(&fake, &credentials));
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    assert!(plugin.log().contains("\"landlock\":\"enforced"), "{}", plugin.log());
    turn("..2", "AKIDTWO");
    fs::remove_dir_all(mount.path().join("..1")).unwrap();
    let sealed = client.ask(&json!({"do": "encrypt", "data": encode(b"seed")}));
    assert_eq!((error(&sealed), sealed["keyID"].as_str()), ("", Some(id.as_str())));
    // Other settings of the same key need no restart either.
    let text = fs::read_to_string(plugin.path("kms.yaml")).unwrap();
    fs::write(plugin.path("kms.yaml"), text.replace("\"name\":\"a\"", "\"epoch\":1,\"name\":\"a\"")).unwrap();
    plugin.signal(Signal::HUP);
    client.healthy(&id);
}

#[test]
fn health_is_served_on_a_port_and_a_port_that_is_taken_is_refused() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let port = Port::free().unwrap();
    let address = format!("127.0.0.1:{}", port.number());
    let further = format!("health: {{listen: '{address}'}}\n");
    let [mut plugin, other] = [(); 2].map(|()| Plugin::new(&[("a", "")]));
    plugin.configure(&[("a", "")], &further);
    other.configure(&[("a", "")], &further);
    plugin.start();
    Client::of(&plugin.socket("a")).healthy("");
    let get = |path| ask(TcpStream::connect(&address).unwrap(), path);
    assert!(get("/livez").starts_with("HTTP/1.1 200") && get("/readyz").ends_with("a ok\n"));
    let refused = other.command().output().unwrap();
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(told.contains(&format!("cannot listen on {address} for health: ")), "{told}");
    assert!(!other.socket("a").exists(), "nothing is left behind");
}

#[test]
fn health_that_moves_is_served_at_its_earlier_address_until_it_is_at_the_new_one() {
    let mut plugin = Plugin::new(&[("a", "")]);
    let (health, port) = (plugin.path("health.sock"), Port::free().unwrap());
    let [local, everywhere] = ["127.0.0.1", "0.0.0.0"].map(|host| format!("{host}:{}", port.number()));
    let listen = |address: &str| format!("health: {{listen: '{address}'}}\n");
    plugin.configure(&[("a", "")], &listen(&format!("unix://{}", health.display())));
    plugin.start();
    until("the key works", LIMIT, || is_ready(&health)).unwrap();

    let taken = TcpListener::bind(&local).unwrap();
    plugin.configure(&[("a", "")], &listen(&local));
    plugin.signal(Signal::HUP);
    until("the port is refused", LIMIT, || {
        let log = plugin.log();
        if log.contains(&format!("cannot listen on {local} for health: ")) { Ok(()) } else { Err(log) }
    })
    .unwrap();
    assert_eq!(is_ready(&health), Ok(()));
    drop(taken);
    let is_ready_at_port = || {
        let ready = ask(TcpStream::connect(&local).map_err(|error| error.to_string())?, "/readyz");
        if ready.ends_with("\na ok\n") { Ok(()) } else { Err(ready) }
    };
    until("it is served at the port", LIMIT, is_ready_at_port).unwrap();
    until("it has left the socket", LIMIT, || if health.exists() { Err("not yet".to_owned()) } else { Ok(()) })
        .unwrap();

    // The same port of all addresses is free only when the earlier one has ended.
    plugin.configure(&[("a", "")], &listen(&everywhere));
    plugin.signal(Signal::HUP);
    until("it is served at all addresses", LIMIT, || {
        let listening = fs::read_to_string("/proc/net/tcp").unwrap();
        if listening.contains(&format!(" 00000000:{:04X} ", port.number())) { Ok(()) } else { Err(plugin.log()) }
    })
    .unwrap();
    assert_eq!(is_ready_at_port(), Ok(()));
}

#[test]
fn a_call_that_is_under_way_at_sigterm_is_answered() {
    testbed::needs!(Clocks, Pinned(&KMS_CLIENT));
    let Served { mut plugin, service: Service::Aws(fake) } = Served::aws() else { panic!("not AWS") };
    plugin.start();
    let mut client = Client::of(&plugin.socket("a"));
    let id = client.healthy("");
    let sealed = client.ask(&json!({"do": "encrypt", "data": encode(b"seed")}));
    let before = fake.requests().len();
    // While its state is held, the fake answers nothing.
    let held = fake.state();
    let ciphertext = sealed["data"].as_str().unwrap().to_owned();
    let asked = std::thread::spawn(move || {
        let request =
            json!({"do": "decrypt", "data": sealed["data"], "keyID": id, "annotations": sealed["annotations"]});
        client.ask(&request)
    });
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        until(what, LIMIT, || if is_so() { Ok(()) } else { Err("not yet".to_owned()) }).unwrap();
    };
    wait("the call is under way", &|| {
        fake.requests()[before..].iter().any(|seen| String::from_utf8_lossy(&seen.body).contains(&ciphertext))
    });
    plugin.signal(Signal::TERM);
    wait("the plugin ends", &|| plugin.log().contains("ending: requests under way are finished"));
    drop(held);
    let opened = asked.join().unwrap();
    assert_eq!((error(&opened), data(&opened)), ("", b"seed".to_vec()));
    assert_eq!(plugin.wait().code(), Some(0));
    assert!(!plugin.socket("a").exists());
}
