//! HTTP/2 with the clients of one socket, which carries gRPC.
use crate::grpc::{MESSAGE_LIMIT, Service};
use crate::key::TURNS;
use crate::log::{self, Level};
use crate::v2::key_management_service_server::KeyManagementServiceServer;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use serde_json::json;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tonic::codegen::Service as _;

/// Connections of one socket at once; further ones wait. kube-apiserver has one for each provider that names the socket, and
/// twice as many while it reads its EncryptionConfiguration again.
const CONNECTIONS: usize = 128;
/// Requests of one connection at once: more than a key lets in, so that Status never waits.
const REQUESTS: u32 = TURNS as u32 + 256;
/// What one request may have on its way, in bytes, and all of a connection together.
const REQUEST_WINDOW: u32 = MESSAGE_LIMIT as u32;
const CONNECTION_WINDOW: u32 = 4 * REQUEST_WINDOW;
/// After a connection that could not be accepted, for want of descriptors for example.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `end`; then the requests under way are finished. Connections end with this future.
pub(crate) async fn serve(
    listener: UnixListener,
    service: KeyManagementServiceServer<Service>,
    end: oneshot::Receiver<()>,
) {
    let (graceful, mut connections, mut end) = (GracefulShutdown::new(), JoinSet::new(), pin!(end));
    let refused = AcceptFailures::default();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    refused.end();
                    connections.spawn(connection(stream, service.clone(), graceful.watcher()));
                }
                Err(error) => {
                    refused.note("cannot accept a connection", &error);
                    tokio::time::sleep(PAUSE).await;
                }
            },
            Some(_) = connections.join_next() => {}
            _ = &mut end => break,
        }
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Connections that could not be accepted, one after the other: of some ten in a second the first one is logged.
#[derive(Default)]
pub(crate) struct AcceptFailures(AtomicBool);

impl AcceptFailures {
    /// Notes one; whether it was logged.
    pub(crate) fn note(&self, message: &str, error: &std::io::Error) -> bool {
        let is_first = !self.0.swap(true, Ordering::Relaxed);
        if is_first {
            log::line(Level::Warning, message, json!({"cause": error.to_string()}));
        }
        is_first
    }

    /// A connection was accepted.
    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

async fn connection(stream: UnixStream, service: KeyManagementServiceServer<Service>, watcher: Watcher) {
    let mut http = http2::Builder::new(TokioExecutor::new());
    // gRPC has no use for a date.
    http.auto_date_header(false)
        .max_concurrent_streams(REQUESTS)
        .initial_stream_window_size(REQUEST_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW);
    let answer = service_fn(move |request| service.clone().call(request));
    // A client that goes away is none of our business.
    let _ = watcher.watch(http.serve_connection(TokioIo::new(stream), answer)).await;
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::key::tests::{encrypt, hang, key_within, probe_now, stored, turns_left};
    use crate::v2::StatusRequest;
    use h2::client::{ResponseFuture, SendRequest};
    use hyper::Request;
    use hyper::body::Bytes;
    use prost::Message;
    use std::path::PathBuf;
    use tempfile::TempDir;
    use tokio::time::timeout;

    pub(crate) const LIMIT: Duration = Duration::from_secs(20);

    /// A key on a socket.
    struct Served {
        directory: TempDir,
        service: Service,
        _end: oneshot::Sender<()>,
    }

    impl Served {
        async fn start() -> Self {
            let directory = TempDir::new().unwrap();
            let (_, service) = key_within(LIMIT);
            probe_now(&service, None).await;
            let listener = UnixListener::bind(directory.path().join("k.sock")).unwrap();
            let (end, ended) = oneshot::channel();
            let own = Service(std::sync::Arc::clone(&service.0));
            tokio::spawn(serve(listener, KeyManagementServiceServer::new(own), ended));
            Self { directory, service, _end: end }
        }

        fn socket(&self) -> PathBuf {
            self.directory.path().join("k.sock")
        }
    }

    /// Sends a call; whoever wants it waits for its answer.
    pub(crate) async fn send(sender: &SendRequest<Bytes>, method: &str, message: &impl Message) -> ResponseFuture {
        let head = Request::post(format!("http://localhost/v2.KeyManagementService/{method}"));
        let head = head.header("content-type", "application/grpc").header("te", "trailers").body(()).unwrap();
        let message = message.encode_to_vec();
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        let ready = timeout(LIMIT, sender.clone().ready()).await.expect("the connection takes one more request");
        let (answer, mut body) = ready.unwrap().send_request(head, false).unwrap();
        body.send_data([&[0][..], &length, &message].concat().into(), true).unwrap();
        answer
    }

    /// The code of a call that is refused; nothing for one that is answered.
    pub(crate) async fn code(answer: ResponseFuture) -> Option<String> {
        let answer = timeout(LIMIT, answer).await.expect("an answer").unwrap();
        answer.headers().get("grpc-status").map(|code| code.to_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn status_is_answered_beside_all_decrypts_that_may_wait_also_identical_ones() {
        let served = Served::start().await;
        let sealed = encrypt(&served.service, b"seed").await.unwrap();
        let stream = UnixStream::connect(served.socket()).await.unwrap();
        let (sender, connection) = h2::client::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        let places = hang(&served.service).await;
        let mut waiting = Vec::new();
        for _ in 0..TURNS {
            waiting.push(send(&sender, "Decrypt", &stored(&sealed)).await);
        }
        assert_eq!(code(send(&sender, "Status", &StatusRequest {}).await).await, None);
        let all_wait = async {
            while turns_left(&served.service) > 0 {
                tokio::task::yield_now().await;
            }
        };
        timeout(LIMIT, all_wait).await.expect("all of them wait");
        let further = send(&sender, "Decrypt", &stored(&sealed)).await;
        assert_eq!(code(further).await.as_deref(), Some("8"), "ResourceExhausted");
        assert_eq!(code(send(&sender, "Status", &StatusRequest {}).await).await, None);
        drop(places);
        for answer in waiting {
            assert_eq!(code(answer).await, None);
        }
    }

    /// Waits until the server has sent what every connection opens with.
    pub(crate) async fn accepted(stream: &UnixStream) {
        while stream.try_read(&mut [0; 9]).is_err() {
            stream.readable().await.unwrap();
        }
    }

    #[test]
    fn connections_that_cannot_be_accepted_are_logged_once_until_one_is() {
        let (failures, error) = (AcceptFailures::default(), std::io::Error::other("as the test says"));
        let logged = || failures.note("cannot accept a connection", &error);
        assert_eq!([logged(), logged(), logged()], [true, false, false]);
        failures.end();
        assert!(failures.note("cannot accept a connection", &error));
    }

    #[tokio::test]
    async fn a_connection_beyond_the_limit_waits_until_another_one_ends() {
        let served = Served::start().await;
        let mut others = Vec::new();
        for _ in 0..CONNECTIONS {
            let stream = UnixStream::connect(served.socket()).await.unwrap();
            timeout(LIMIT, accepted(&stream)).await.expect("it is served");
            others.push(stream);
        }
        let further = UnixStream::connect(served.socket()).await.unwrap();
        assert!(timeout(Duration::from_millis(200), accepted(&further)).await.is_err(), "it waits");
        drop(others.pop());
        timeout(LIMIT, accepted(&further)).await.expect("it is served");
    }
}
