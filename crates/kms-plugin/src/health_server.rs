//! livez, readyz and metrics over HTTP, on a port or a unix socket.
use crate::configuration::HealthAddress;
use crate::connections::AcceptFailures;
use crate::key::Key;
use crate::metrics::{self, line};
use crate::socket::{Socket, SocketFile};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Connections at once.
const CONNECTIONS: usize = 16;
/// How long a client may take to send its request and to read the answer. One that does neither must not keep its place
/// among the connections, without which the kubelet finds the plugin dead.
const CONNECTION_LIMIT: Duration = Duration::from_secs(5);

/// What is served now, and what of the configuration is not.
#[derive(Clone, Default)]
pub(crate) struct Serving {
    /// The keys on their sockets.
    pub(crate) keys: Vec<Arc<Key>>,
    /// Names of keys that have no socket, and why.
    pub(crate) unserved: Vec<(String, String)>,
}

/// The same, as the plugin changes it.
pub(crate) type Shared = Arc<Mutex<Serving>>;

/// What serves health, until it is stopped.
pub(crate) struct HealthServer {
    address: HealthAddress,
    task: JoinHandle<()>,
    /// The socket, where it is not a port.
    socket: Option<Socket>,
}

impl HealthServer {
    /// Serves at an address; an error is why that cannot be.
    pub(crate) async fn start(address: &HealthAddress, serving: Shared) -> Result<Self, String> {
        let (places, refused) = (Arc::new(Semaphore::new(CONNECTIONS)), AcceptFailures::default());
        let (task, socket) = match address {
            HealthAddress::Tcp(address) => {
                let listener = TcpListener::bind(address).await;
                let listener = listener.map_err(|error| format!("cannot listen on {address} for health: {error}"))?;
                let accept = async move {
                    loop {
                        let accepted = listener.accept().await.map(|(stream, _)| stream);
                        serve(accepted, &places, &serving, &refused).await;
                    }
                };
                (tokio::spawn(accept), None)
            }
            HealthAddress::Unix(path) => {
                let (socket, listener) = Socket::open(path, None).map_err(|error| error.to_string())?;
                let listener = UnixListener::from_std(listener).map_err(|error| error.to_string())?;
                let accept = async move {
                    loop {
                        let accepted = listener.accept().await.map(|(stream, _)| stream);
                        serve(accepted, &places, &serving, &refused).await;
                    }
                };
                (tokio::spawn(accept), Some(socket))
            }
        };
        Ok(Self { address: address.clone(), task, socket })
    }

    /// Whether it can be found at this address.
    pub(crate) fn is_at(&self, address: &HealthAddress) -> bool {
        let is_lost = self.socket.as_ref().is_some_and(|socket| matches!(socket.file(), SocketFile::Lost));
        self.address == *address && !is_lost
    }

    /// Whether nothing can listen at this address before this one ends.
    pub(crate) fn excludes(&self, address: &HealthAddress) -> bool {
        match (&self.address, address) {
            (HealthAddress::Tcp(own), HealthAddress::Tcp(other)) => own.port() == other.port(),
            (own, other) => own == other,
        }
    }

    /// Ends it; its address is free afterwards.
    pub(crate) async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

async fn serve<S>(accepted: std::io::Result<S>, places: &Arc<Semaphore>, serving: &Shared, refused: &AcceptFailures)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, place) = match (accepted, Arc::clone(places).acquire_owned().await) {
        (Ok(stream), Ok(place)) => (stream, place),
        (Err(error), _) => {
            refused.note("cannot accept a connection for health", &error);
            return tokio::time::sleep(Duration::from_millis(100)).await;
        }
        (_, Err(_)) => return,
    };
    refused.end();
    let serving = Arc::clone(serving);
    tokio::spawn(async move {
        let _place = place;
        let answer = service_fn(move |request| {
            let serving = serving.lock().unwrap_or_else(PoisonError::into_inner).clone();
            async move { Ok::<_, Infallible>(answer(&request, &serving)) }
        });
        let mut http = http1::Builder::new();
        http.max_buf_size(8 << 10).keep_alive(false);
        // A client that goes away is none of our business.
        let _ = timeout(CONNECTION_LIMIT, http.serve_connection(TokioIo::new(stream), answer)).await;
    });
}

fn answer(request: &Request<Incoming>, serving: &Serving) -> Response<Full<Bytes>> {
    if request.method() != Method::GET {
        return text(StatusCode::METHOD_NOT_ALLOWED, "GET only\n".to_owned());
    }
    match request.uri().path() {
        "/livez" => text(StatusCode::OK, "ok\n".to_owned()),
        "/readyz" => ready(serving),
        "/metrics" => text(StatusCode::OK, metrics(serving)),
        path => match path.strip_prefix("/readyz/").and_then(|name| serving.only(name)) {
            Some(one) => ready(&one),
            None => text(StatusCode::NOT_FOUND, "livez, readyz, readyz/KEY, metrics\n".to_owned()),
        },
    }
}

impl Serving {
    /// One key of the configuration, if it has this one.
    fn only(&self, name: &str) -> Option<Self> {
        let mut one = self.clone();
        one.keys.retain(|key| key.settings.name == name);
        one.unserved.retain(|(own, _)| own == name);
        (!one.keys.is_empty() || !one.unserved.is_empty()).then_some(one)
    }
}

fn ready(serving: &Serving) -> Response<Full<Bytes>> {
    let (mut status, mut body) = (StatusCode::OK, String::new());
    for key in &serving.keys {
        match key.last_health().result {
            Ok(_) => line(&mut body, format_args!("{} ok", key.settings.name)),
            Err(failure) => {
                status = StatusCode::SERVICE_UNAVAILABLE;
                line(&mut body, format_args!("{} {failure}", key.settings.name));
            }
        }
    }
    for (name, problem) in &serving.unserved {
        status = StatusCode::SERVICE_UNAVAILABLE;
        line(&mut body, format_args!("{name} is not served: {problem}"));
    }
    text(status, body)
}

/// The lines of each metric stand together, as Prometheus' format demands.
fn metrics(serving: &Serving) -> String {
    let all: Vec<_> = serving.keys.iter().map(|key| (key, key.last_health())).collect();
    let mut body = metrics::head("machineadm_kms_healthy");
    for (key, health) in &all {
        let (name, is_healthy) = (&key.settings.name, u8::from(health.result.is_ok()));
        line(&mut body, format_args!("machineadm_kms_healthy{{key=\"{name}\"}} {is_healthy}"));
    }
    for (name, _) in &serving.unserved {
        line(&mut body, format_args!("machineadm_kms_healthy{{key=\"{name}\"}} 0"));
    }
    body += &metrics::head("machineadm_kms_failure");
    for (key, health) in &all {
        if let Err(failure) = &health.result {
            let (name, kind) = (&key.settings.name, failure.kind.word());
            line(&mut body, format_args!("machineadm_kms_failure{{key=\"{name}\",kind=\"{kind}\"}} 1"));
        }
    }
    body += &metrics::head("machineadm_kms_key_info");
    for (key, health) in &all {
        if let Some(id) = &health.last_id {
            let name = &key.settings.name;
            line(&mut body, format_args!("machineadm_kms_key_info{{key=\"{name}\",key_id=\"{id}\"}} 1"));
        }
    }
    body += &metrics::head("machineadm_kms_probe_age_seconds");
    for (key, health) in &all {
        let (name, age) = (&key.settings.name, health.probed.elapsed().as_secs_f64());
        line(&mut body, format_args!("machineadm_kms_probe_age_seconds{{key=\"{name}\"}} {age}"));
    }
    body += &metrics::head(metrics::OPERATIONS);
    all.iter().for_each(|(key, _)| key.metrics.write(&key.settings.name, &mut body));
    body
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::OnOutage;
    use crate::key::tests::{key, probe_now};
    use http_body_util::BodyExt;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixStream;

    #[tokio::test]
    async fn a_client_that_sends_nothing_or_reads_nothing_leaves_its_place_to_others() {
        // More than any socket takes at once.
        let unserved = vec![("k".to_owned(), "x".repeat(16 << 20))];
        let serving = Arc::new(Mutex::new(Serving { keys: Vec::new(), unserved }));
        let places = Arc::new(Semaphore::new(2));
        let mut clients = Vec::new();
        for request in ["", "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"] {
            let (mut client, server) = UnixStream::pair().unwrap();
            client.write_all(request.as_bytes()).await.unwrap();
            serve(Ok(server), &places, &serving, &AcceptFailures::default()).await;
            clients.push(client);
        }
        assert_eq!(places.available_permits(), 0);
        let all = timeout(4 * CONNECTION_LIMIT, places.acquire_many(2)).await;
        assert!(all.is_ok(), "both places are free again");
    }

    #[tokio::test]
    async fn readyz_waits_for_no_key_that_was_not_probed_yet() {
        let [(_, probed), (_, not_yet)] = [(); 2].map(|()| key(OnOutage::Error));
        probe_now(&probed, None).await;
        let serving = Serving { keys: vec![not_yet.0, probed.0], unserved: Vec::new() };
        let response = ready(&serving);
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "k unreachable: the first probe has not ended yet\nk ok\n");
    }
}
