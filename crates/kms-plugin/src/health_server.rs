//! livez, readyz and metrics over HTTP, on a port or a unix socket.
use crate::configuration::HealthAddress;
use crate::key::Key;
use crate::log::{self, Level};
use crate::metrics::{self, line};
use crate::socket::Socket;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// Connections at once.
const CONNECTIONS: usize = 16;
/// How long a client may take for its request.
const REQUEST_LIMIT: Duration = Duration::from_secs(5);

/// The keys that are served now.
pub(crate) type Keys = Arc<Mutex<Vec<Arc<Key>>>>;

/// Serves health until the task is aborted.
pub(crate) async fn start(address: &HealthAddress, keys: Keys) -> Result<JoinHandle<()>, String> {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    match address {
        HealthAddress::Tcp(address) => {
            let listener = TcpListener::bind(address).await;
            let listener = listener.map_err(|error| format!("cannot listen on {address} for health: {error}"))?;
            Ok(tokio::spawn(async move {
                loop {
                    let accepted = listener.accept().await.map(|(stream, _)| stream);
                    serve(accepted, &places, &keys).await;
                }
            }))
        }
        HealthAddress::Unix(path) => {
            let (socket, listener) = Socket::open(path, None).map_err(|error| error.to_string())?;
            let listener = UnixListener::from_std(listener).map_err(|error| error.to_string())?;
            Ok(tokio::spawn(async move {
                let _socket = socket;
                loop {
                    let accepted = listener.accept().await.map(|(stream, _)| stream);
                    serve(accepted, &places, &keys).await;
                }
            }))
        }
    }
}

async fn serve<S>(accepted: std::io::Result<S>, places: &Arc<Semaphore>, keys: &Keys)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (stream, place) = match (accepted, Arc::clone(places).acquire_owned().await) {
        (Ok(stream), Ok(place)) => (stream, place),
        (Err(error), _) => {
            log::line(Level::Warning, "cannot accept a connection for health", json!({"cause": error.to_string()}));
            return tokio::time::sleep(Duration::from_millis(100)).await;
        }
        (_, Err(_)) => return,
    };
    let keys = Arc::clone(keys);
    tokio::spawn(async move {
        let _place = place;
        let answer = service_fn(move |request| {
            let keys = keys.lock().unwrap_or_else(PoisonError::into_inner).clone();
            async move { Ok::<_, Infallible>(answer(&request, &keys).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(REQUEST_LIMIT).max_buf_size(8 << 10).keep_alive(false);
        // A client that goes away is none of our business.
        let _ = http.serve_connection(TokioIo::new(stream), answer).await;
    });
}

async fn answer(request: &Request<Incoming>, keys: &[Arc<Key>]) -> Response<Full<Bytes>> {
    if request.method() != Method::GET {
        return text(StatusCode::METHOD_NOT_ALLOWED, "GET only\n".to_owned());
    }
    match request.uri().path() {
        "/livez" => text(StatusCode::OK, "ok\n".to_owned()),
        "/readyz" => ready(keys).await,
        "/metrics" => text(StatusCode::OK, metrics(keys).await),
        path => match keys.iter().find(|key| path.strip_prefix("/readyz/") == Some(&key.settings.name)) {
            Some(key) => ready(std::slice::from_ref(key)).await,
            None => text(StatusCode::NOT_FOUND, "livez, readyz, readyz/KEY, metrics\n".to_owned()),
        },
    }
}

async fn ready(keys: &[Arc<Key>]) -> Response<Full<Bytes>> {
    let (mut status, mut body) = (StatusCode::OK, String::new());
    for key in keys {
        match key.health().await.result {
            Ok(_) => line(&mut body, format_args!("{} ok", key.settings.name)),
            Err(failure) => {
                status = StatusCode::SERVICE_UNAVAILABLE;
                line(&mut body, format_args!("{} {failure}", key.settings.name));
            }
        }
    }
    text(status, body)
}

async fn metrics(keys: &[Arc<Key>]) -> String {
    let mut body = metrics::HEAD.to_owned();
    for key in keys {
        let (name, health) = (&key.settings.name, key.health().await);
        let is_healthy = u8::from(health.result.is_ok());
        line(&mut body, format_args!("machineadm_kms_healthy{{key=\"{name}\"}} {is_healthy}"));
        if let Err(failure) = &health.result {
            let kind = failure.kind.word();
            line(&mut body, format_args!("machineadm_kms_failure{{key=\"{name}\",kind=\"{kind}\"}} 1"));
        }
        if let Some(id) = &health.last_id {
            line(&mut body, format_args!("machineadm_kms_key_info{{key=\"{name}\",key_id=\"{id}\"}} 1"));
        }
        let age = health.probed.elapsed().as_secs_f64();
        line(&mut body, format_args!("machineadm_kms_probe_age_seconds{{key=\"{name}\"}} {age}"));
        key.metrics.write(name, &mut body);
    }
    body
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response
}
