//! A client of KMS v2 that takes little CPU, so that it is the plugin that a load measures and not who asks.
//!
//! It sends requests that were encoded before, over one HTTP/2 connection and on one thread, and decodes every answer:
//! one that is not healthy, or decrypts something else, ends the load.
use super::{Call, Load};
use h2::client::SendRequest;
use http::Request;
use prost::Message;
use prost::bytes::Bytes;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::UnixStream;

/// Different data of each worker, so that no plugin can answer two requests at once.
const TEXTS: u8 = 16;
/// What kube-apiserver has encrypted: a seed of 32 bytes, here two bytes again and again.
const SEED: usize = 32;
/// Whether a message is compressed, and its length.
const PREFIX: usize = 5;

#[derive(Message)]
struct StatusResponse {
    #[prost(string, tag = "2")]
    healthz: String,
}

#[derive(Message)]
struct EncryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    plaintext: Vec<u8>,
}

#[derive(Message)]
struct EncryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    key_id: String,
    #[prost(map = "string, bytes", tag = "3")]
    annotations: HashMap<String, Vec<u8>>,
}

#[derive(Message)]
struct DecryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    ciphertext: Vec<u8>,
    #[prost(string, tag = "3")]
    key_id: String,
    #[prost(map = "string, bytes", tag = "4")]
    annotations: HashMap<String, Vec<u8>>,
}

#[derive(Message)]
struct DecryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    plaintext: Vec<u8>,
}

/// Calls from so many workers over one connection.
pub(super) fn load(socket: &Path, call: Call, workers: u8, limit: Duration) -> Result<Load, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(shown)?;
    runtime.block_on(async {
        let stream = UnixStream::connect(socket).await.map_err(shown)?;
        let (sender, connection) = h2::client::handshake(stream).await.map_err(shown)?;
        // Every call notices what goes wrong with it.
        drop(tokio::spawn(connection));
        let mut questions = Vec::new();
        for worker in 0..workers {
            questions.push(Question::several(&sender, call, worker).await?);
        }
        let began = Instant::now();
        let tasks: Vec<_> = questions
            .into_iter()
            .map(|questions| tokio::spawn(ask_until(sender.clone(), questions, began + limit)))
            .collect();
        let mut times = Vec::new();
        for task in tasks {
            times.extend(task.await.map_err(shown)??);
        }
        Ok(Load::of(times, began.elapsed()))
    })
}

/// Asks one after the other until the time is over.
async fn ask_until(
    sender: SendRequest<Bytes>,
    questions: Vec<Question>,
    end: Instant,
) -> Result<Vec<Duration>, String> {
    let mut times = Vec::new();
    for question in questions.iter().cycle() {
        let began = Instant::now();
        if began >= end {
            break;
        }
        let answer = ask(&sender, question.head.clone(), question.body.clone()).await?;
        times.push(began.elapsed());
        question.judge(&answer)?;
    }
    Ok(times)
}

/// A request, and what its answer must be.
struct Question {
    call: Call,
    head: Request<()>,
    body: Bytes,
    plaintext: Vec<u8>,
}

impl Question {
    /// What one worker asks in turn.
    async fn several(sender: &SendRequest<Bytes>, call: Call, worker: u8) -> Result<Vec<Self>, String> {
        if call == Call::Status {
            return Ok(vec![Self { call, head: head("Status")?, body: framed(&()), plaintext: Vec::new() }]);
        }
        let mut questions = Vec::new();
        for text in 0..TEXTS {
            let plaintext = [worker, text].repeat(SEED / 2);
            let encrypt = framed(&EncryptRequest { plaintext: plaintext.clone() });
            let answer = ask(sender, head("Encrypt")?, encrypt).await?;
            let EncryptResponse { ciphertext, key_id, annotations } = EncryptResponse::decode(answer).map_err(shown)?;
            let body = framed(&DecryptRequest { ciphertext, key_id, annotations });
            questions.push(Self { call, head: head("Decrypt")?, body, plaintext });
        }
        Ok(questions)
    }

    fn judge(&self, answer: &[u8]) -> Result<(), String> {
        let is_right = match self.call {
            Call::Status => StatusResponse::decode(answer).map_err(shown)?.healthz == "ok",
            Call::Decrypt => DecryptResponse::decode(answer).map_err(shown)?.plaintext == self.plaintext,
        };
        if is_right { Ok(()) } else { Err(format!("{:?} was answered wrongly", self.call)) }
    }
}

/// The head of a request.
fn head(method: &str) -> Result<Request<()>, String> {
    let head = Request::post(format!("http://localhost/v2.KeyManagementService/{method}"));
    head.header("content-type", "application/grpc").header("te", "trailers").body(()).map_err(shown)
}

/// One call, for the message of its answer.
async fn ask(sender: &SendRequest<Bytes>, head: Request<()>, body: Bytes) -> Result<Bytes, String> {
    let mut sender = sender.clone().ready().await.map_err(shown)?;
    let (answer, mut sending) = sender.send_request(head, false).map_err(shown)?;
    sending.send_data(body, true).map_err(shown)?;
    let mut body = answer.await.map_err(shown)?.into_body();
    let mut message = Bytes::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.map_err(shown)?;
        body.flow_control().release_capacity(chunk.len()).map_err(shown)?;
        message = if message.is_empty() { chunk } else { [message, chunk].concat().into() };
    }
    let trailers = body.trailers().await.map_err(shown)?.unwrap_or_default();
    match trailers.get("grpc-status").map(|status| status.as_bytes()) {
        Some(b"0") if message.len() >= PREFIX => Ok(message.slice(PREFIX..)),
        _ => Err(format!("the call failed: {trailers:?}")),
    }
}

/// A message with gRPC's prefix.
fn framed(message: &impl Message) -> Bytes {
    let message = message.encode_to_vec();
    // Requests are some hundred bytes long.
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[0][..], &length, &message].concat().into()
}

fn shown(error: impl ToString) -> String {
    error.to_string()
}
