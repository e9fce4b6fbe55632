//! Files that documents fetch, over https: resumed, retried under one deadline, and never larger than a limit.
use crate::provider;
use documents::{
    Rights,
    v1alpha1::{AddressRight, Programs, without_secrets},
};
use engine::{Download, Downloads, Transfer, outcome::chain};
use fetch::{
    Client, Opening, Pace, Place, Receiver, Request, Wish,
    retry::{Backoff, GaveUp, RealClock, Retry, Transient, Waiting, retrying},
};
use host::Draft;
use secret::Secret;
use std::time::Duration;

/// The largest file; archives of images have a few GB at most.
const LARGEST: u64 = 16 << 30;
/// How long a server may send nothing.
const STALL: Duration = Duration::from_secs(60);

/// Fetches files over https.
pub(crate) struct HttpsDownloads<'a> {
    /// Called with each piece that comes.
    pub(crate) transferred: &'a dyn Fn(Transfer),
}

impl Downloads for HttpsDownloads<'_> {
    fn receive(&self, download: &Download<'_>, draft: &mut dyn Draft) -> host::Result<()> {
        let shown = without_secrets(download.uri.expose());
        let failed = |gave_up: GaveUp<NoFile>| failure(download.name, &shown, gave_up);
        let once = |error: fetch::Error| failed(GaveUp { attempts: 1, last: error.into(), wish: None });
        let client = Client::new(settings(download, &shown)).map_err(once)?;
        let mut progress = |waiting: &Waiting<'_, NoFile>| {
            tell!("machineadm: {}; retrying in {:.0} s", chain(waiting.last), waiting.pause.as_secs_f64().ceil());
        };
        let (first, most) = (Duration::from_secs(1), Duration::from_secs(30));
        let retry = Retry {
            backoff: Backoff { first, factor: 2, most, total: download.origin.timeout },
            jitter: u64::from(std::process::id()),
            clock: &RealClock::start(),
            progress: &mut progress,
        };
        retrying(retry, |left| self.attempt(&client, download, &mut *draft, left)).map_err(failed)
    }
}

impl HttpsDownloads<'_> {
    /// Asks for what the draft lacks.
    fn attempt(
        &self,
        client: &Client,
        download: &Download<'_>,
        draft: &mut dyn Draft,
        left: Duration,
    ) -> Result<(), NoFile> {
        let mut request = Request::get(download.uri.expose())?;
        if draft.size() > 0 {
            request = request.with_header("Range", Secret::new(format!("bytes={}-", draft.size())));
        }
        let mut receiving = Receiving { draft, total: None, failure: None, transferred: self.transferred };
        client.receive(&request, Pace { total: left, stall: STALL }, &mut receiving)?;
        receiving.failure.map_or(Ok(()), Err)
    }
}

/// A draft that an answer fills.
struct Receiving<'a> {
    draft: &'a mut dyn Draft,
    total: Option<u64>,
    failure: Option<NoFile>,
    transferred: &'a dyn Fn(Transfer),
}

impl Receiving<'_> {
    fn begin(&mut self, opening: &Opening) -> Result<(), NoFile> {
        let Opening { status, length, range, retry_after } = opening;
        self.total = match (status, range) {
            // All of it: the server does not send parts, or none was asked for.
            (200, _) => {
                if self.draft.size() > 0 {
                    self.draft.clear()?;
                }
                *length
            }
            (206, Some(range)) if range.first == self.draft.size() => range.total,
            // What is there is longer than the file, or the part is another one: from the beginning.
            (206 | 416, _) if self.draft.size() > 0 => {
                self.draft.clear()?;
                return Err(NoFile::OtherPart);
            }
            _ => return Err(NoFile::Status { status: *status, wait: *retry_after }),
        };
        match self.total.is_some_and(|total| total > LARGEST) {
            true => Err(NoFile::TooLarge),
            false => Ok(()),
        }
    }

    fn add(&mut self, data: &[u8]) -> Result<(), NoFile> {
        if self.draft.size() + data.len() as u64 > LARGEST {
            return Err(NoFile::TooLarge);
        }
        self.draft.append(data)?;
        (self.transferred)(Transfer { received: self.draft.size(), total: self.total });
        Ok(())
    }

    fn wish(&mut self, done: Result<(), NoFile>) -> Wish {
        self.failure = done.err();
        if self.failure.is_none() { Wish::More } else { Wish::Enough }
    }
}

impl Receiver for Receiving<'_> {
    fn opens(&mut self, opening: &Opening) -> Wish {
        let begun = self.begin(opening);
        self.wish(begun)
    }

    fn takes(&mut self, data: &[u8]) -> Wish {
        let added = self.add(data);
        self.wish(added)
    }
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
enum NoFile {
    #[error(transparent)]
    Fetch(#[from] fetch::Error),
    #[error("the server returned {status}")]
    Status { status: u16, wait: Option<Duration> },
    #[error("the server sent another part than the one that was asked for")]
    OtherPart,
    #[error("the file is larger than 16 GiB")]
    TooLarge,
    #[error(transparent)]
    Draft(#[from] host::Error),
}

impl Transient for NoFile {
    fn is_transient(&self) -> bool {
        match self {
            Self::Fetch(error) => error.is_transient(),
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..),
            Self::OtherPart => true,
            Self::TooLarge | Self::Draft(_) => false,
        }
    }

    fn wait(&self) -> Option<Duration> {
        match self {
            Self::Status { wait, .. } => *wait,
            _ => None,
        }
    }

    fn is_timeout(&self) -> bool {
        matches!(self, Self::Fetch(error) if error.is_timeout())
    }
}

fn failure(name: &str, shown: &str, gave_up: GaveUp<NoFile>) -> host::Error {
    let in_vain = gave_up.in_vain();
    let GaveUp { attempts, last, .. } = gave_up;
    let last = match last {
        // A full disk has advice of its own.
        NoFile::Draft(error) => return error,
        last => last,
    };
    let right = match &last {
        NoFile::Fetch(fetch::Error::Forbidden { what: Place::Loopback, .. }) => Some("loopback"),
        NoFile::Fetch(fetch::Error::Forbidden { what: Place::LinkLocal | Place::Metadata, .. }) => Some("linkLocal"),
        _ => None,
    };
    let tries = if attempts > 1 { format!("; gave up after {attempts} attempts") } else { String::new() };
    host::Error::Unfit {
        what: name.to_owned(),
        why: format!("cannot be downloaded from {shown}: {}{in_vain}{tries}", chain(&last)),
        advice: match right {
            Some(right) => format!("the ProgramsConfig can allow it: `allow: [{right}]`"),
            None => "check the location and the server, then run again".to_owned(),
        },
    }
}

fn settings(download: &Download<'_>, shown: &str) -> fetch::Settings {
    let Programs { authorities, allow, timeout, bundles, proxy, .. } = download.origin;
    let request = documents::Request {
        uri: download.uri,
        shown,
        rights: AddressRight::rights(allow),
        redirect_rights: Rights::NONE,
        authorities,
        bundles,
        proxy: proxy.as_ref(),
        keep_as: None,
        limit: 0,
        timeout: *timeout,
    };
    provider::https_settings(&request, 0)
}
