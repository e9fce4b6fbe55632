//! Asking several places in turn, again and again, until one is trusted, all are refused for good, or time is up.
use super::{
    network::{Event, Network, Patience},
    outcome::{Attempt, NotTrusted, Refusal},
};
use std::time::Duration;

/// Asks every place in turn. A refusal for good at one place stops neither the others nor later rounds: it may be
/// hostile, or be put right meanwhile. When all refuse for good, nothing is left to wait for.
pub(super) fn rounds<P: ToString, T>(
    places: &[P],
    net: &mut dyn Network,
    patience: Patience,
    mut ask: impl FnMut(&P, &mut dyn Network) -> Result<T, Refusal>,
) -> Result<T, NotTrusted> {
    let start = net.elapsed();
    let mut attempts: Vec<Attempt> = Vec::new();
    loop {
        for (index, place) in places.iter().enumerate() {
            if attempts.len() == places.len() && spent(net, start) >= patience.total {
                break;
            }
            match ask_and_tell(place, net, &mut ask) {
                Ok(found) => return Ok(found),
                Err(attempt) if index < attempts.len() => attempts[index] = attempt,
                Err(attempt) => attempts.push(attempt),
            }
        }
        let hopeless = attempts.iter().all(|attempt| attempt.refusal.is_final());
        if hopeless || spent(net, start) + patience.every > patience.total {
            return Err(NotTrusted { attempts, spent: spent(net, start) });
        }
        net.tell(Event::Again { after: patience.every });
        net.pause(patience.every);
    }
}

fn ask_and_tell<P: ToString, T>(
    place: &P,
    net: &mut dyn Network,
    ask: &mut impl FnMut(&P, &mut dyn Network) -> Result<T, Refusal>,
) -> Result<T, Attempt> {
    let name = place.to_string();
    net.tell(Event::Trying { place: &name });
    ask(place, net).map_err(|refusal| {
        net.tell(Event::Refused { place: &name, text: &refusal.to_string() });
        Attempt { place: name, refusal }
    })
}

fn spent(net: &dyn Network, start: Duration) -> Duration {
    net.elapsed().saturating_sub(start)
}
