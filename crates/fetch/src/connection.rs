//! One request over a connection, and its answer's body under a limit.
use crate::connect::HEAD;
use crate::error::is_disconnection;
use crate::proxy::basic;
use crate::redirect::Hop;
use crate::{Error, Request, Result, shown, tls};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use std::io;
use url::{Position, Url};
use zeroize::{Zeroize, Zeroizing};

/// The end of a connection that requests go into.
pub(crate) type Sender = SendRequest<Full<Bytes>>;

const USER_AGENT: &str = concat!("machineadm/", env!("CARGO_PKG_VERSION"));

/// The request for one hop, as hyper sends it.
pub(crate) fn outgoing(request: &Request, hop: &Hop) -> Result<hyper::Request<Full<Bytes>>> {
    let url = &hop.url;
    let mut out = hyper::Request::new(Full::new(Bytes::new()));
    *out.method_mut() = request.method.http();
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let reason = || "its path or query is not allowed".to_owned();
    *out.uri_mut() = target.parse().map_err(|_| Error::BadUrl { reason: reason() })?;
    let headers = out.headers_mut();
    for (name, value) in request.headers.iter().filter(|(name, _)| hop.carries(name)) {
        put(headers, name, value.expose())?;
    }
    put_basic(headers, url)?;
    put(headers, "host", &url[Position::BeforeHost..Position::AfterPort])?;
    put(headers, "user-agent", USER_AGENT)?;
    put(headers, "accept-encoding", "identity")?;
    if let Some(body) = request.body.as_ref().filter(|_| hop.is_known) {
        put(headers, "content-type", &body.content_type)?;
        *out.body_mut() = Full::new(Bytes::from_owner(body.bytes.clone()));
    }
    Ok(out)
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) -> Result<()> {
    let bad = || Error::BadHeader { name: name.to_owned() };
    let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?, value);
    Ok(())
}

fn put_basic(headers: &mut HeaderMap, url: &Url) -> Result<()> {
    match basic(url).filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
        Some(authorization) => put(headers, "authorization", authorization.expose()),
        None => Ok(()),
    }
}

/// Reads a body to its end, no more than `limit` bytes; one that is announced as larger is not read at all.
pub(crate) async fn body(mut incoming: Incoming, limit: usize, url: &Url) -> Result<Zeroizing<Vec<u8>>> {
    let too_large = || Error::TooLarge { url: shown(url), limit };
    let announced = usize::try_from(incoming.size_hint().lower()).ok().filter(|announced| *announced <= limit);
    let mut body = Zeroizing::new(Vec::with_capacity(announced.ok_or_else(too_large)?));
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame.map_err(|error| failure(url, &error))?.into_data() else { continue };
        if data.len() > limit - body.len() {
            return Err(too_large());
        }
        append(&mut body, &data);
        if let Ok(mut data) = data.try_into_mut() {
            data.as_mut().zeroize();
        }
    }
    Ok(body)
}

/// Appends without leaving a copy behind, as growing in place would.
fn append(body: &mut Zeroizing<Vec<u8>>, data: &[u8]) {
    if body.capacity() - body.len() < data.len() {
        let mut larger = Zeroizing::new(Vec::with_capacity((body.len() + data.len()).next_power_of_two()));
        larger.extend_from_slice(body);
        *body = larger;
    }
    body.extend_from_slice(data);
}

/// What hyper's errors mean. Its texts are not shown: they could hold what the server wrote.
pub(crate) fn failure(url: &Url, error: &hyper::Error) -> Error {
    let cause = io_cause(error);
    let gone =
        error.is_incomplete_message() || error.is_canceled() || error.is_closed() || error.is_body_write_aborted();
    // Clients have no other way to ask for this kind; a test notices if the words change.
    if error.is_parse() && error.to_string() == "message head is too large" {
        return Error::HeadersTooLarge { url: shown(url), limit: HEAD };
    }
    match cause {
        Some(cause) if is_disconnection(cause) => Error::EndedEarly { url: shown(url) },
        Some(cause) => match cause.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(inner) => tls::failure(url, io::Error::new(cause.kind(), inner.clone())),
            None => malformed(url),
        },
        None if gone => Error::EndedEarly { url: shown(url) },
        None => malformed(url),
    }
}

fn malformed(url: &Url) -> Error {
    Error::Malformed { url: shown(url), what: "it is not valid HTTP/1.1".to_owned() }
}

fn io_cause(error: &hyper::Error) -> Option<&io::Error> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            return Some(io);
        }
        cause = error.source();
    }
    None
}
