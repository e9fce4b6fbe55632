//! The client: follows redirects, keeps a connection per authority, and ends in time.
use crate::answer::Head;
use crate::connect::Dial;
use crate::connection::{self, Sender};
use crate::proxy::Via;
use crate::redirect::{Hop, authority};
use crate::tls::Tls;
use crate::{Answer, Error, Limits, Method, Reach, Request, Result, Settings, Stage, shown};
use hyper::Response;
use hyper::body::Incoming;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// Sends requests. Keeps one open connection per authority and uses it again while the server keeps it too.
pub struct Client {
    /// There until the client goes.
    runtime: Option<Runtime>,
    tls: Tls,
    tls_server_name: Option<String>,
    reach: Reach,
    redirect_reach: Reach,
    limits: Limits,
    via: Option<Via>,
    idle: Mutex<HashMap<Key, Sender>>,
}

/// Host, port, and whether the connection was made as the client that we are.
type Key = ((String, u16), bool);

impl Client {
    /// A client; trust, identity and proxy are checked here.
    pub fn new(settings: Settings) -> Result<Self> {
        let Settings { trust, identity, tls_server_name, reach, redirect_reach, limits, proxy } = settings;
        let tls = Tls::new(&trust, identity.as_ref())?;
        let via = proxy.as_ref().map(Via::new).transpose()?;
        let runtime = Builder::new_current_thread().enable_io().enable_time().build().map_err(Error::Runtime)?;
        let (runtime, idle) = (Some(runtime), Mutex::default());
        Ok(Self { runtime, tls, tls_server_name, reach, redirect_reach, limits, via, idle })
    }

    /// Sends a request and reads its answer, whatever its status. GETs follow redirects, other methods don't.
    pub fn send(&self, request: &Request) -> Result<Answer> {
        self.send_within(request, self.limits.total)
    }

    /// The same with another limit for everything, such as what is left of a caller's own deadline.
    pub fn send_within(&self, request: &Request, total: Duration) -> Result<Answer> {
        self.within(request, total, async |progress| {
            let (answer, sender, hop) = self.open(request, progress).await?;
            progress.enter(Stage::Body);
            let answer = self.read(answer, &hop.url).await?;
            self.keep(&hop, sender);
            Ok(answer)
        })
    }

    /// Does work of a request, all of it in this time.
    pub(crate) fn within<T>(
        &self,
        request: &Request,
        total: Duration,
        work: impl AsyncFnOnce(&Progress) -> Result<T>,
    ) -> Result<T> {
        request.check()?;
        let progress = Progress { stage: Cell::new(Stage::Resolving), url: RefCell::new(request.url.clone()) };
        let Some(runtime) = &self.runtime else { return Err(Error::Runtime(std::io::ErrorKind::NotConnected.into())) };
        let work = async { tokio::time::timeout(total, work(&progress)).await };
        runtime.block_on(work).unwrap_or_else(|_| {
            Err(Error::Timeout { url: shown(&progress.url.borrow()), stage: progress.stage.get(), limit: total })
        })
    }

    /// The head of the answer, at the end of all redirects.
    pub(crate) async fn open(
        &self,
        request: &Request,
        progress: &Progress,
    ) -> Result<(Response<Incoming>, Sender, Hop)> {
        let mut hop = Hop::first(&request.url);
        loop {
            *progress.url.borrow_mut() = hop.url.clone();
            let (answer, sender) =
                self.exchange(request, &hop, progress).await.map_err(|error| hop.explained(error))?;
            if let Some(next) = self.next(request, &hop, &answer)? {
                hop = next;
                continue;
            }
            return Ok((answer, sender, hop));
        }
    }

    /// Keeps a connection whose answer was read to its end.
    pub(crate) fn keep(&self, hop: &Hop, sender: Sender) {
        self.idle().insert(key(hop), sender);
    }

    /// Where an answer redirects a request to.
    fn next(&self, request: &Request, hop: &Hop, answer: &Response<Incoming>) -> Result<Option<Hop>> {
        let redirects = matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308);
        if !redirects || request.method != Method::Get {
            return Ok(None);
        }
        hop.next(answer.headers(), self.limits.redirects)
    }

    /// One request and the head of its answer, over a kept connection or a new one.
    async fn exchange(
        &self,
        request: &Request,
        hop: &Hop,
        progress: &Progress,
    ) -> Result<(Response<Incoming>, Sender)> {
        let mut out = connection::outgoing(request, hop)?;
        let kept = self.idle().remove(&key(hop));
        if let Some(mut sender) = kept {
            progress.enter(Stage::Headers);
            // Lets the connection notice that the server has closed it meanwhile.
            tokio::task::yield_now().await;
            if sender.ready().await.is_ok() {
                match sender.try_send_request(out).await {
                    Ok(answer) => return Ok((answer, sender)),
                    Err(mut failed) => match failed.take_message() {
                        Some(unsent) => out = unsent,
                        None => out = again(request, hop, failed.error())?,
                    },
                }
            }
        }
        self.afresh(out, hop, progress).await
    }

    async fn afresh(&self, out: Outgoing, hop: &Hop, progress: &Progress) -> Result<(Response<Incoming>, Sender)> {
        let (config, server_name, reach) = match hop.is_known {
            true => (&self.tls.known, self.tls_server_name.as_deref(), self.reach),
            false => (&self.tls.stranger, None, self.redirect_reach),
        };
        let (via, Limits { connect: limit, total, .. }) = (self.via.as_ref(), self.limits);
        let dial = Dial { url: &hop.url, via, reach, limit, total, config: config.clone(), server_name };
        let mut sender = dial.connect(progress).await?;
        progress.enter(Stage::Headers);
        let answer = sender.send_request(out).await.map_err(|error| connection::failure(&hop.url, &error))?;
        Ok((answer, sender))
    }

    async fn read(&self, answer: Response<Incoming>, url: &Url) -> Result<Answer> {
        let (parts, incoming) = answer.into_parts();
        let Head { content_type, retry_after, date } = Head::read(&parts.headers, url)?;
        let body = connection::body(incoming, self.limits.body, url).await?;
        Ok(Answer { status: parts.status.as_u16(), content_type, retry_after, date, body, url: url.clone() })
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<Key, Sender>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Outgoing = hyper::Request<http_body_util::Full<hyper::body::Bytes>>;

/// A GET once more, when a kept connection broke under it: the server may have closed it just then.
fn again(request: &Request, hop: &Hop, error: &hyper::Error) -> Result<Outgoing> {
    match connection::failure(&hop.url, error) {
        Error::EndedEarly { .. } if request.method == Method::Get => connection::outgoing(request, hop),
        failure => Err(failure),
    }
}

fn key(hop: &Hop) -> Key {
    (authority(&hop.url), hop.is_known)
}

impl Drop for Client {
    fn drop(&mut self) {
        // A resolver that hangs must not hold up who no longer waits for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("reach", &self.reach).field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// What is going on, for the error when time is up.
pub(crate) struct Progress {
    stage: Cell<Stage>,
    url: RefCell<Url>,
}

impl Progress {
    pub(crate) fn enter(&self, stage: Stage) {
        self.stage.set(stage);
    }
}
