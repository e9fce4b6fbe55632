//! A client of KMS v2 that takes little CPU, so that it is the plugin that a load measures and not who asks.
//!
//! It sends requests that were encoded before, over one HTTP/2 connection and on one thread, and decodes every answer:
//! one that is not healthy, or decrypts something else, ends the load. It sends all that it has before it reads.
use super::frames::{Answer, Connection, Request};
use super::{Call, Load};
use prost::Message;
use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Different data of each worker, so that no plugin can answer two requests at once.
const TEXTS: u8 = 16;
/// What kube-apiserver has encrypted: a seed of 32 bytes, here two bytes again and again.
const SEED: usize = 32;

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

/// Calls from so many workers over one connection, each of which asks one thing after the other.
pub(super) fn load(socket: &Path, call: Call, workers: u8, limit: Duration) -> Result<Load, String> {
    let mut connection = Connection::open(socket)?;
    let questions: Vec<_> =
        (0..workers).map(|worker| Question::several(&mut connection, call, worker)).collect::<Result<_, _>>()?;
    let began = Instant::now();
    let mut waiting = Vec::new();
    for questions in &questions {
        waiting.push(Worker::start(&mut connection, questions)?);
    }
    let mut times = Vec::new();
    while !waiting.is_empty() {
        for Answer { stream, message } in connection.answers()? {
            let now = Instant::now();
            let found = waiting.iter().position(|worker| worker.stream == stream).ok_or("an answer to nothing")?;
            let worker = waiting.swap_remove(found);
            times.push(now - worker.asked);
            worker.questions[worker.at].judge(&message)?;
            if now < began + limit {
                waiting.push(worker.next(&mut connection, now)?);
            }
        }
    }
    Ok(Load::of(times, began.elapsed()))
}

/// A worker that waits for an answer.
struct Worker<'a> {
    questions: &'a [Question],
    at: usize,
    stream: u32,
    asked: Instant,
}

impl<'a> Worker<'a> {
    fn start(connection: &mut Connection, questions: &'a [Question]) -> Result<Self, String> {
        Ok(Self { questions, at: 0, stream: connection.ask(&questions[0].request)?, asked: Instant::now() })
    }

    fn next(self, connection: &mut Connection, asked: Instant) -> Result<Self, String> {
        let at = (self.at + 1) % self.questions.len();
        Ok(Self { at, stream: connection.ask(&self.questions[at].request)?, asked, ..self })
    }
}

/// A request, and what its answer must be.
struct Question {
    call: Call,
    request: Request,
    plaintext: Vec<u8>,
}

impl Question {
    /// What one worker asks in turn.
    fn several(connection: &mut Connection, call: Call, worker: u8) -> Result<Vec<Self>, String> {
        if call == Call::Status {
            return Ok(vec![Self { call, request: Request::new("Status", &()), plaintext: Vec::new() }]);
        }
        let mut questions = Vec::new();
        for text in 0..TEXTS {
            let plaintext = [worker, text].repeat(SEED / 2);
            let encrypt = Request::new("Encrypt", &EncryptRequest { plaintext: plaintext.clone() });
            connection.ask(&encrypt)?;
            let answer = loop {
                if let Some(answer) = connection.answers()?.pop() {
                    break answer.message;
                }
            };
            let sealed = EncryptResponse::decode(&*answer).map_err(|error| error.to_string())?;
            let EncryptResponse { ciphertext, key_id, annotations } = sealed;
            let request = Request::new("Decrypt", &DecryptRequest { ciphertext, key_id, annotations });
            questions.push(Self { call, request, plaintext });
        }
        Ok(questions)
    }

    fn judge(&self, answer: &[u8]) -> Result<(), String> {
        let is_right = match self.call {
            Call::Status => StatusResponse::decode(answer).is_ok_and(|status| status.healthz == "ok"),
            Call::Decrypt => DecryptResponse::decode(answer).is_ok_and(|opened| opened.plaintext == self.plaintext),
        };
        if is_right { Ok(()) } else { Err(format!("{:?} was answered wrongly", self.call)) }
    }
}
