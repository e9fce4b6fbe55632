//! One unary gRPC call over HTTP/2 on a unix socket, under a limit of size.
use crate::{Error, Result};
use h2::{RecvStream, client::SendRequest};
use http::{HeaderMap, Request};
use percent_encoding::percent_decode_str;
use prost::{Message, bytes::Bytes};
use std::{
    io,
    path::{Path, PathBuf},
};
use tokio::net::UnixStream;

/// The largest answer; the kubelet takes no more either.
const LARGEST: usize = 16 << 20;
/// The largest set of headers.
const HEADERS: u32 = 16 << 10;
/// How much may be on its way at once.
const WINDOW: u32 = 1 << 20;
/// Whether a message is compressed, and its length.
const PREFIX: usize = 5;
/// gRPC's numbers: OK, and UNIMPLEMENTED.
const OK: u32 = 0;
const UNIMPLEMENTED: u32 = 12;
/// The most of a runtime's own words that an error repeats.
const WORDS: usize = 400;

/// A connection to a runtime.
pub(crate) struct Connection {
    socket: PathBuf,
    sender: SendRequest<Bytes>,
}

impl Connection {
    /// Connects and greets.
    pub(crate) async fn open(socket: &Path) -> Result<Self> {
        let shown = || socket.display().to_string();
        let stream = UnixStream::connect(socket).await.map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => Error::NoSocket { socket: shown() },
            io::ErrorKind::ConnectionRefused => Error::Refused { socket: shown() },
            _ => Error::Connect { socket: shown(), source },
        })?;
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(WINDOW).max_header_list_size(HEADERS).enable_push(false);
        let greeted = builder.handshake(stream).await;
        let (sender, connection) = greeted.map_err(|error| not_grpc(socket, &error))?;
        // It ends with the runtime of `ask`; what goes wrong with it every call notices.
        drop(tokio::spawn(connection));
        Ok(Self { socket: socket.to_owned(), sender })
    }

    /// Calls a method, given as `package.Service/Method`, for the message of its answer.
    pub(crate) async fn call(&mut self, method: &'static str, ask: &impl Message) -> Result<Vec<u8>> {
        let failed = |error: &h2::Error| not_grpc(&self.socket, error);
        let request = Request::post(format!("http://localhost/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .map_err(|_| Error::Malformed { method, what: "its name is not valid" })?;
        let mut sender = self.sender.clone().ready().await.map_err(|error| failed(&error))?;
        let (answer, mut body) = sender.send_request(request, false).map_err(|error| failed(&error))?;
        body.send_data(framed(ask), true).map_err(|error| failed(&error))?;
        let (head, mut body) = answer.await.map_err(|error| failed(&error))?.into_parts();
        let is_grpc =
            head.headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
        if head.status != 200 || !is_grpc {
            let what = format!("HTTP status {} without gRPC", head.status.as_u16());
            return Err(Error::NotGrpc { socket: self.socket.display().to_string(), what });
        }
        // A refusal may come without a body, and its status with the head.
        judge(method, &head.headers)?;
        let bytes = read(&mut body, method).await.map_err(|error| error.unwrap_or_else(|error| failed(&error)))?;
        let trailers = body.trailers().await.map_err(|error| failed(&error))?;
        judge(method, &trailers.unwrap_or_default())?;
        unframed(&bytes, method).map(<[u8]>::to_vec)
    }
}

/// A message with gRPC's prefix.
fn framed(message: &impl Message) -> Bytes {
    let encoded = message.encode_to_vec();
    // Requests are a few bytes long.
    let length = u32::try_from(encoded.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[0][..], &length, &encoded].concat().into()
}

/// The message of an answer.
fn unframed<'a>(bytes: &'a [u8], method: &'static str) -> Result<&'a [u8]> {
    let malformed = |what| Error::Malformed { method, what };
    let Some(([flag, length @ ..], message)) = bytes.split_first_chunk::<PREFIX>() else {
        return Err(malformed("it is shorter than a message"));
    };
    if *flag != 0 {
        return Err(malformed("it is compressed"));
    }
    match usize::try_from(u32::from_be_bytes(*length)) {
        Ok(length) if length == message.len() => Ok(message),
        _ => Err(malformed("it is not one message")),
    }
}

/// Reads a body to its end.
async fn read(body: &mut RecvStream, method: &'static str) -> Result<Vec<u8>, Result<Error, h2::Error>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.map_err(Err)?;
        if chunk.len() > LARGEST - bytes.len() {
            return Err(Ok(Error::TooLarge { method, limit: LARGEST }));
        }
        body.flow_control().release_capacity(chunk.len()).map_err(Err)?;
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// What a status of gRPC means; without one, the rest has to tell.
fn judge(method: &'static str, headers: &HeaderMap) -> Result<()> {
    let text = |name| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let Some(code) = text("grpc-status") else { return Ok(()) };
    let code = code.parse().map_err(|_| Error::Malformed { method, what: "its gRPC status is not a number" })?;
    let message = text("grpc-message").unwrap_or_default();
    let message: String = percent_decode_str(&message).decode_utf8_lossy().chars().take(WORDS).collect();
    match code {
        OK => Ok(()),
        UNIMPLEMENTED => Err(Error::Unimplemented { method, message }),
        code => Err(Error::Status { method, code, message }),
    }
}

fn not_grpc(socket: &Path, error: &h2::Error) -> Error {
    Error::NotGrpc { socket: socket.display().to_string(), what: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::VersionResponse;

    const METHOD: &str = "a.Service/Method";

    fn headers(rows: &[(&'static str, &'static str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_message_survives_its_frame() {
        let version = VersionResponse { runtime_name: "containerd".into(), runtime_version: "2.4.2".into() };
        assert_eq!(VersionResponse::decode(unframed(&framed(&version), METHOD).unwrap()).unwrap(), version);
    }

    #[test]
    fn what_is_not_one_whole_message_is_refused() {
        for bytes in [&[][..], &[0, 0, 0, 0], &[0, 0, 0, 0, 9], &[1, 0, 0, 0, 0], &[0, 0, 0, 0, 1]] {
            assert!(matches!(unframed(bytes, METHOD), Err(Error::Malformed { .. })), "{bytes:?}");
        }
    }

    #[test]
    fn a_status_is_told_in_the_runtimes_own_words() {
        let refused = headers(&[("grpc-status", "2"), ("grpc-message", "no%20disk%0Aleft")]);
        let error = judge(METHOD, &refused).unwrap_err();
        assert!(error.to_string().ends_with("with gRPC status 2: no disk\nleft"), "{error}");
        let missing = headers(&[("grpc-status", "12"), ("grpc-message", "unknown service")]);
        assert!(judge(METHOD, &missing).unwrap_err().is_without_cri_v1());
        assert!(judge(METHOD, &headers(&[("grpc-status", "0")])).is_ok());
        assert!(judge(METHOD, &headers(&[("grpc-status", "x")])).is_err());
    }
}
