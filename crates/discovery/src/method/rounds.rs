//! Asking several places in turn, again and again, until one is trusted or time is up.
use super::{
    network::{Event, Network, Patience, Roots, Unreached},
    outcome::{Attempt, NotTrusted, Refusal},
};
use crate::endpoint::Endpoint;
use objects::ConfigMap;
use std::time::Duration;

/// The network, until a moment of its clock.
pub(crate) struct Until<'a> {
    net: &'a mut dyn Network,
    end: Duration,
}

impl<'a> Until<'a> {
    /// For this long from now on.
    pub(crate) fn within(net: &'a mut dyn Network, time: Duration) -> Self {
        let end = net.elapsed() + time;
        Self { net, end }
    }

    pub(crate) fn cluster_info(&mut self, endpoint: &Endpoint, roots: Roots<'_>) -> Result<ConfigMap, Unreached> {
        let left = self.left();
        self.net.cluster_info(endpoint, roots, left)
    }

    pub(crate) fn document(&mut self, url: &str) -> Result<Vec<u8>, Unreached> {
        let left = self.left();
        self.net.document(url, left)
    }

    fn left(&self) -> Duration {
        self.end.saturating_sub(self.net.elapsed())
    }

    fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}

/// Asks every place in turn. No answer ends the waiting: whoever stands between could give it, a server that starts
/// answers many things before it answers right, and a cluster-info may be in the middle of a change.
pub(crate) fn rounds<P: ToString, T>(
    places: &[P],
    net: &mut dyn Network,
    patience: Patience,
    mut ask: impl FnMut(&P, &mut Until<'_>) -> Result<T, Refusal>,
) -> Result<T, NotTrusted> {
    let start = net.elapsed();
    let mut all = Until::within(net, patience.total);
    let mut attempts = Vec::new();
    loop {
        if let Some(found) = round(places, &mut all, &mut attempts, &mut ask) {
            return Ok(found);
        }
        let after = patience.every.min(all.left());
        if after.is_zero() {
            return Err(NotTrusted { attempts, spent: all.net.elapsed().saturating_sub(start) });
        }
        all.net.tell(Event::Again { after });
        all.net.pause(after);
    }
}

/// One round. Each place has its share of the time, so that the first one can't use up the last one's.
fn round<P: ToString, T>(
    places: &[P],
    all: &mut Until<'_>,
    attempts: &mut Vec<Attempt>,
    ask: &mut impl FnMut(&P, &mut Until<'_>) -> Result<T, Refusal>,
) -> Option<T> {
    for (index, place) in places.iter().enumerate() {
        if attempts.len() == places.len() && all.is_over() {
            return None;
        }
        let share = all.left() / u32::try_from(places.len() - index).unwrap_or(u32::MAX);
        let mut until = Until::within(&mut *all.net, share);
        let name = place.to_string();
        until.net.tell(Event::Trying { place: &name });
        match ask(place, &mut until) {
            Ok(found) => return Some(found),
            // What was cut short says less than what was said before.
            Err(_) if index < attempts.len() && until.is_over() => {}
            Err(refusal) => refused(Attempt { place: name, refusal }, index, attempts, until.net),
        }
    }
    None
}

/// Keeps a refusal, and tells it at once: the next place may take long, or be the right one.
fn refused(attempt: Attempt, index: usize, attempts: &mut Vec<Attempt>, net: &mut dyn Network) {
    if attempts.get(index) != Some(&attempt) {
        let Attempt { place, refusal } = &attempt;
        net.tell(Event::Refused { place, text: &refusal.to_string(), next_step: refusal.next_step() });
    }
    match attempts.get_mut(index) {
        Some(before) => *before = attempt,
        None => attempts.push(attempt),
    }
}
