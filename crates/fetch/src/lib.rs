//! One https exchange under limits: for remote configuration, passphrases, discovery and the API server.
//!
//! A [`Client`] is made from [`Settings`]: whom to trust, who one is, which addresses are allowed, how long and how much.
//! [`Client::send`] takes a [`Request`] and gives an [`Answer`] or an [`Error`] with one variant per cause.
//! [`Client::receive`] passes a large body on as it comes, to a [`Receiver`].
//! It blocks, and must not be called from asynchronous code.
//!
//! What may be secret (headers, bodies, a URL's query, a proxy's password) is in no error and no `Debug`.
//! Bodies are gathered in memory that is overwritten when it goes; the buffers inside hyper and rustls, through which
//! they come, are not.
mod answer;
mod client;
mod clock;
mod connect;
mod connection;
mod error;
mod identity;
mod proxy;
mod reach;
mod receive;
mod redirect;
mod request;
pub mod retry;
mod settings;
mod shown;
mod tls;
mod unverified;

pub use answer::Answer;
pub use client::Client;
pub use error::{CertificateFault, Error, ProxyFault, Result, Stage};
pub use identity::{Identity, certificates};
pub use proxy::{Bypass, Proxy};
pub use reach::{Place, Reach};
pub use receive::{ContentRange, Opening, Pace, Receiver, Wish};
pub use request::{Body, Method, Request};
pub use rustls_pki_types::CertificateDer;
pub use settings::{Limits, Settings, Trust};
pub use shown::shown;
pub use url::Url;
