//! Identical requests at the same time ask the service once.
use aws_lc_rs::digest::{SHA256, digest};
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

/// The digest of a request.
type Request = [u8; 32];

/// Requests under way, by their digest; one that is answered is forgotten, so nothing is cached.
#[derive(Debug)]
pub(crate) struct SingleFlight<T>(Mutex<HashMap<Request, Arc<OnceCell<T>>>>);

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> SingleFlight<T> {
    /// The answer of `ask`, or that of an identical request under way.
    pub(crate) async fn run<F: Future<Output = T>>(&self, parts: &[&[u8]], ask: impl FnOnce() -> F) -> T {
        let request = request(parts);
        let cell = Arc::clone(self.cells().entry(request).or_default());
        let answer = cell.get_or_init(ask).await.clone();
        let mut cells = self.cells();
        if cells.get(&request).is_some_and(|own| Arc::ptr_eq(own, &cell)) {
            cells.remove(&request);
        }
        answer
    }

    fn cells(&self) -> std::sync::MutexGuard<'_, HashMap<Request, Arc<OnceCell<T>>>> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // What a caller left who went away before the answer.
        cells.retain(|_, cell| Arc::strong_count(cell) > 1);
        cells
    }
}

fn request(parts: &[&[u8]]) -> Request {
    let mut text = Vec::new();
    for part in parts {
        text.extend_from_slice(&(part.len() as u64).to_be_bytes());
        text.extend_from_slice(part);
    }
    let mut request = [0; 32];
    request.copy_from_slice(digest(&SHA256, &text).as_ref());
    request
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn identical_requests_ask_once_and_later_ones_again() {
        let (flights, asked) = (SingleFlight::default(), AtomicU32::new(0));
        let ask = async |of: &'static [u8]| {
            let answer = async || {
                tokio::task::yield_now().await;
                asked.fetch_add(1, Ordering::SeqCst)
            };
            flights.run(&[of], answer).await
        };
        let (a, b, c) = tokio::join!(ask(b"a"), ask(b"a"), ask(b"b"));
        assert_eq!((a, b, asked.load(Ordering::SeqCst)), (a, a, 2), "{c}");
        ask(b"a").await;
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        assert!(flights.0.lock().unwrap().is_empty());
    }
}
