//! As much of HTTP/2 (RFC 9113) as a load of gRPC calls needs: a request is two frames that are encoded once, and of an
//! answer only its message is read. `h2` takes as much CPU for a call as a plugin does, and would be what is measured.
use prost::Message;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How long an answer may take.
const LIMIT: Duration = Duration::from_secs(20);
/// What a peer may send before it is told to go on.
const WINDOW: u32 = 65_535;
const LARGEST_WINDOW: u32 = 0x7fff_ffff;
/// Length, kind, flags and stream of a frame.
const FRAME: usize = 9;
/// Whether a message is compressed, and its length.
const PREFIX: usize = 5;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// A call as it is sent, but for its stream.
pub(super) struct Request {
    bytes: Vec<u8>,
    /// Where the frame of the message begins.
    message: usize,
}

impl Request {
    pub(super) fn new(method: &str, message: &impl Message) -> Self {
        let path = format!("/v2.KeyManagementService/{method}");
        // By HPACK's static table: `:method: POST`, `:scheme: http`, and texts for `:path`, `:authority` and `content-type`.
        let mut head = vec![0x83, 0x86];
        let texts = [(&[0x04][..], path.as_str()), (&[0x01], "localhost"), (&[0x0f, 0x10], "application/grpc")];
        for (name, value) in texts {
            head.extend_from_slice(name);
            head.extend_from_slice(&text(value));
        }
        head.push(0);
        head.extend([text("te"), text("trailers")].concat());
        let message = message.encode_to_vec();
        let body = [&[0][..], &length(&message), &message].concat();
        let head = frame(HEADERS, END_HEADERS, &head);
        Self { message: head.len(), bytes: [head, frame(DATA, END_STREAM, &body)].concat() }
    }
}

/// The message of a call that succeeded.
pub(super) struct Answer {
    pub(super) stream: u32,
    pub(super) message: Vec<u8>,
}

/// A connection on one thread.
pub(super) struct Connection {
    socket: UnixStream,
    next: u32,
    /// What the server lets us send.
    window: u32,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    /// Messages of which the end was not read yet.
    partial: Vec<(u32, Vec<u8>)>,
}

impl Connection {
    pub(super) fn open(socket: &Path) -> Result<Self, String> {
        let socket = UnixStream::connect(socket).map_err(shown)?;
        socket.set_read_timeout(Some(LIMIT)).map_err(shown)?;
        let window = frame(WINDOW_UPDATE, 0, &(LARGEST_WINDOW - WINDOW).to_be_bytes());
        let unsent = [PREFACE, &frame(SETTINGS, 0, &[]), &window].concat();
        Ok(Self { socket, next: 1, window: WINDOW, unsent, unread: Vec::new(), partial: Vec::new() })
    }

    /// Sends a call, at the latest when answers are read; gives its stream.
    pub(super) fn ask(&mut self, request: &Request) -> Result<u32, String> {
        let (stream, start) = (self.next, self.unsent.len());
        self.next += 2;
        self.unsent.extend_from_slice(&request.bytes);
        for at in [start, start + request.message] {
            self.unsent[at + 5..at + FRAME].copy_from_slice(&stream.to_be_bytes());
        }
        let size = request.bytes.len() - request.message - FRAME;
        self.window = u32::try_from(size)
            .ok()
            .and_then(|size| self.window.checked_sub(size))
            .ok_or("the server does not let us send as much as it has not answered")?;
        Ok(stream)
    }

    /// Waits for the server, and gives the answers that are whole by then, which may be none.
    pub(super) fn answers(&mut self) -> Result<Vec<Answer>, String> {
        self.socket.write_all(&self.unsent).map_err(shown)?;
        self.unsent.clear();
        let mut bytes = [0; 1 << 16];
        let size = self.socket.read(&mut bytes).map_err(shown)?;
        if size == 0 {
            return Err("the server has closed the connection".to_owned());
        }
        let mut unread = std::mem::take(&mut self.unread);
        unread.extend_from_slice(&bytes[..size]);
        let (mut at, mut answers) = (0, Vec::new());
        while let Some((head, payload, end)) = split(&unread[at..]) {
            answers.extend(self.take(head, payload)?);
            at += end;
        }
        unread.drain(..at);
        self.unread = unread;
        Ok(answers)
    }

    /// Takes one frame, which may be the last of an answer.
    fn take(&mut self, [kind, flags, stream @ ..]: [u8; 6], payload: &[u8]) -> Result<Option<Answer>, String> {
        let stream = u32::from_be_bytes(stream);
        match kind {
            DATA => match self.partial.iter_mut().find(|(own, _)| *own == stream) {
                Some((_, message)) => message.extend_from_slice(payload),
                None => self.partial.push((stream, payload.to_vec())),
            },
            SETTINGS if flags & ACK == 0 => self.unsent.extend(frame(SETTINGS, ACK, &[])),
            PING if flags & ACK == 0 => self.unsent.extend(frame(PING, ACK, payload)),
            WINDOW_UPDATE if stream == 0 => {
                let more = payload.try_into().map(u32::from_be_bytes).map_err(shown)?;
                self.window = self.window.saturating_add(more);
            }
            RST_STREAM | GOAWAY => return Err("the server has ended a call or the connection".to_owned()),
            _ => {}
        }
        if kind != HEADERS || flags & END_STREAM == 0 {
            return Ok(None);
        }
        // A call that fails has no message, but for one that fails after it.
        let found = self.partial.iter().position(|(own, _)| *own == stream).ok_or("a call failed")?;
        let (_, message) = self.partial.swap_remove(found);
        let is_whole = message.get(1..PREFIX) == Some(&length(&message[PREFIX.min(message.len())..])[..]);
        match is_whole {
            true => Ok(Some(Answer { stream, message: message[PREFIX..].to_vec() })),
            false => Err("an answer is not one message".to_owned()),
        }
    }
}

/// The first frame of some bytes: kind, flags and stream, what it holds, and where it ends.
fn split(bytes: &[u8]) -> Option<([u8; 6], &[u8], usize)> {
    let (&[a, b, c, ref head @ ..], rest) = bytes.split_first_chunk::<FRAME>()?;
    let size = u32::from_be_bytes([0, a, b, c]) as usize;
    Some((*head, rest.get(..size)?, FRAME + size))
}

/// A frame of no stream.
fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    [&length(payload)[1..], &[kind, flags, 0, 0, 0, 0], payload].concat()
}

/// A text of HPACK, as it is.
fn text(value: &str) -> Vec<u8> {
    [&length(value.as_bytes())[3..], value.as_bytes()].concat()
}

/// The length, which is that of some hundred bytes at most.
fn length(bytes: &[u8]) -> [u8; 4] {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes()
}

fn shown(error: impl ToString) -> String {
    error.to_string()
}
