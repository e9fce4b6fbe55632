//! The end of keys: what is waited for, what is not, and which keys are served anew.
use super::*;
use crate::connections::tests::{LIMIT, accepted, code, send};
use crate::key::tests::{encrypt, hang, key_on, probe_now, stored, turns_left};
use crate::v2::{DecryptRequest, EncryptRequest, StatusRequest};
use h2::client::{ResponseFuture, SendRequest};
use hyper::body::Bytes;
use std::path::Path;
use tempfile::TempDir;
use tokio::net::UnixStream;

/// A limit that no test waits for.
const NEVER: Duration = Duration::from_secs(3600);

/// A key on a socket in this directory, and what it has encrypted.
async fn served(directory: &TempDir, name: &str) -> (ServedKey, Service, DecryptRequest) {
    let service = key_on(directory.path().join(name), LIMIT);
    let served = ServedKey::serve(&service.0.settings, || Arc::clone(&service.0)).unwrap();
    probe_now(&service, None).await;
    let stored = stored(&encrypt(&service, b"seed").await.unwrap());
    (served, service, stored)
}

/// A client as kube-apiserver is one: it answers pings.
async fn client(socket: &Path) -> SendRequest<Bytes> {
    let (sender, connection) = h2::client::handshake(UnixStream::connect(socket).await.unwrap()).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// A client that has connected and sends nothing more than these bytes.
async fn silent(socket: &Path, bytes: &[u8]) -> UnixStream {
    let stream = UnixStream::connect(socket).await.unwrap();
    timeout(LIMIT, accepted(&stream)).await.expect("it is served");
    assert_eq!(stream.try_write(bytes).unwrap(), bytes.len());
    stream
}

/// A request that waits for a place among the calls.
async fn under_way(sender: &SendRequest<Bytes>, service: &Service, stored: &DecryptRequest) -> ResponseFuture {
    let before = turns_left(service);
    let answer = send(sender, "Decrypt", stored).await;
    wait_until("the request is let in", || turns_left(service) < before).await;
    answer
}

async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    timeout(LIMIT, waiting).await.expect(what);
}

/// What HTTP/2 opens with: the preface and empty settings.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

#[tokio::test]
async fn connections_without_a_request_do_not_delay_the_end_whether_or_not_they_answer() {
    let directory = TempDir::new().unwrap();
    let (served, service, _) = served(&directory, "k").await;
    let socket = service.0.settings.socket.clone();
    let _idle = client(&socket).await;
    let _silent = [silent(&socket, b"").await, silent(&socket, &PREFACE[..10]).await, silent(&socket, PREFACE).await];
    timeout(LIMIT, stop(vec![served], NEVER)).await.expect("the key ends");
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_request_under_way_is_answered_before_the_end_and_other_keys_do_not_wait_for_it() {
    let directory = TempDir::new().unwrap();
    let (busy, service, stored) = served(&directory, "busy").await;
    let (idle, other, _) = served(&directory, "idle").await;
    let (sockets, places) =
        ([service.0.settings.socket.clone(), other.0.settings.socket.clone()], hang(&service).await);
    let _silent = silent(&sockets[0], b"").await;
    let sender = client(&sockets[0]).await;
    let answer = under_way(&sender, &service, &stored).await;
    let stopping = tokio::spawn(stop(vec![busy, idle], NEVER));
    wait_until("the other key has ended", || !sockets[1].exists()).await;
    wait_until("the end waits for the request", || turns_left(&service) == 0).await;
    assert!(sockets[0].exists() && !stopping.is_finished());
    drop(places);
    assert_eq!(code(answer).await, None, "it is answered");
    timeout(LIMIT, stopping).await.expect("the key ends").unwrap();
    assert!(!sockets[0].exists());
}

#[tokio::test]
async fn requests_that_wait_for_the_first_probe_are_answered_before_the_end() {
    let directory = TempDir::new().unwrap();
    let service = key_on(directory.path().join("k"), LIMIT);
    let (socket, _places) = (service.0.settings.socket.clone(), hang(&service).await);
    let served = ServedKey::serve(&service.0.settings, || Arc::clone(&service.0)).unwrap();
    let (sender, before) = (client(&socket).await, turns_left(&service));
    let encrypt = EncryptRequest { plaintext: b"seed".to_vec(), uid: String::new() };
    let answers =
        [send(&sender, "Status", &StatusRequest {}).await, send(&sender, "Encrypt", &encrypt).await].map(code);
    wait_until("both are let in", || turns_left(&service) == before - 2).await;
    let stopping = tokio::spawn(stop(vec![served], NEVER));
    for answer in answers {
        assert_eq!(answer.await.as_deref(), Some("14"), "Unavailable");
    }
    timeout(LIMIT, stopping).await.expect("the key ends").unwrap();
}

#[tokio::test]
async fn a_request_that_is_not_answered_within_the_limit_is_counted() {
    let directory = TempDir::new().unwrap();
    let (served, service, stored) = served(&directory, "k").await;
    let _places = hang(&service).await;
    let sender = client(&service.0.settings.socket).await;
    let _answer = under_way(&sender, &service, &stored).await;
    let ServedKey { key, server, end, .. } = served;
    end.send(()).unwrap();
    // Long enough for the end to wait for the request.
    assert_eq!(drain(&key, server, 3 * NOTICE).await, 1);
}

#[tokio::test]
async fn a_key_that_nobody_probes_or_serves_any_more_is_served_anew() {
    let directory = TempDir::new().unwrap();
    let here = directory.path().display();
    let text = format!(
        "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\nkeys:\n\
        - {{name: a, socket: {here}/a, file: {{path: {here}/keys}}}}\n"
    );
    let configuration = Configuration::parse(&text).unwrap();
    let confinement = Confinement { left: None, landlock: "off", seccomp: "off" };
    let mut plugin = Plugin::new(confinement, Arc::default());
    assert!(plugin.follow(&configuration).await.is_empty());
    let probing = plugin.served[0].probing.clone();
    probing.abort();
    wait_until("the probe has ended", || probing.is_finished()).await;
    assert!(plugin.follow(&configuration).await.is_empty());
    assert!(plugin.served.iter().all(|served| !served.probing.is_finished()));
    plugin.served[0].server.abort();
    wait_until("nobody serves its socket", || plugin.served[0].server.is_finished()).await;
    assert!(plugin.follow(&configuration).await.is_empty());
    assert!(plugin.served.iter().all(|served| !served.has_ended()));
    plugin.stop().await;
}
