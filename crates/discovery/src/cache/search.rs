//! Discovery on a machine that may keep a cluster already, all of it within one time.
use super::{Cached, Consent, Refused};
use crate::{
    Discovered, Method, NotTrusted,
    method::{Files, Network, Patience, Pinning, discover},
};
use jiff::Timestamp;

/// What to look for, and what it would take the place of.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// How.
    pub method: &'a Method,
    /// What is kept, if what is found is to be kept in its place.
    pub kept: Option<&'a Cached>,
    /// Whether somebody agrees to roots that aren't pinned.
    pub consent: Consent,
    /// How long.
    pub patience: Patience,
}

/// Nothing was found that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// No cluster could be trusted.
    NotTrusted(NotTrusted),
    /// One could, but it may not take the place of the one that is kept.
    NotReplaced(Refused),
}

impl Search<'_> {
    /// What there is to keep.
    pub fn run(&self, files: &mut dyn Files, net: &mut dyn Network, now: Timestamp) -> Result<Cached, NotFound> {
        let begun = net.elapsed();
        let found = discover(self.method, files, net, self.patience).map_err(NotFound::NotTrusted)?;
        let found = Cached::of(self.method, found, now);
        let Some(kept) = self.kept else { return Ok(found) };
        let left = self.patience.after(net.elapsed().saturating_sub(begun));
        kept.succeeded_by(found, self.consent, net, left).map_err(NotFound::NotReplaced)
    }
}

impl Cached {
    /// The pins that hold for later are those that were given, one of which was found among the roots; else none.
    fn of(method: &Method, found: Discovered, now: Timestamp) -> Self {
        let pins = match method {
            Method::Token { pinning: Pinning::Pins(pins), .. } => pins.clone(),
            Method::Token { .. } | Method::File { .. } => Vec::new(),
        };
        Self { kubeconfig: found.kubeconfig, pins, proof: found.proof, updated: now.into() }
    }
}
