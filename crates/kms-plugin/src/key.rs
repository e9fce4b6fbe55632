//! One key: its service, what the last probe found, and its limits.
use crate::configuration::KeySettings;
use crate::driver::QuickCalls;
use crate::grpc::VERSION_ANNOTATION;
use crate::log::{self, Level};
use crate::metrics::Metrics;
use crate::probe::{Probed, probe};
use crate::replaced_ids::ReplacedIds;
use crate::retries::{Budget, pause_after};
use crate::single_flight::SingleFlight;
use crate::workers::Workers;
use kms::{Failure, FailureKind, KeyId, KeyService, Sealed};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot, watch};
use tokio::time::timeout;
use zeroize::Zeroizing;

/// From one probe of a key that works to the next, from start to start: a rotation is reported within 15 s also where the
/// service is slow.
const PROBE_EVERY: Duration = Duration::from_secs(10);
/// From the end of a probe to the start of the next.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// How old a probe may be that Status still answers from.
const PROBE_LIMIT: Duration = Duration::from_secs(30);
/// How long Status waits for the first probe; kube-apiserver itself waits for 3 s by default.
const FIRST_PROBE: Duration = Duration::from_secs(2);
/// Calls of one key that its service makes at once. A call that hangs keeps its place, so that memory is bounded.
const CALLS: usize = 16;
/// Requests to encrypt or decrypt at once, with those that wait. An API server, which works on 600 requests at once by
/// default, asks for each of them after its start. Further ones are refused at once, so that Status never waits behind them.
pub(crate) const TURNS: usize = 1024;
/// What a call takes that the driver makes itself: a token in the machine, or keys in a file.
const QUICK: Duration = Duration::from_micros(200);
/// How long a call waits for the first thread; a service that is slower gets more of them.
const ADD_THREAD_AFTER: Duration = Duration::from_millis(10);
/// Pauses before the first and the second retry of a call.
const RETRY_AFTER: &[Duration] = &[Duration::from_millis(50), Duration::from_millis(200)];

/// What the last probe found.
#[derive(Debug, Clone)]
pub struct Health {
    /// The key id, or why there is none now.
    pub result: Result<KeyId, Failure>,
    /// The last id that a probe found, whether or not the key works now.
    pub last_id: Option<KeyId>,
    /// When the probe ended.
    pub probed: Instant,
}

/// The answer to a Decrypt, which identical requests share.
type Opened = Result<Arc<Zeroizing<Vec<u8>>>, Failure>;

/// One key.
pub struct Key {
    pub(crate) settings: KeySettings,
    pub(crate) metrics: Metrics,
    service: Arc<dyn KeyService>,
    health: watch::Sender<Option<Health>>,
    wake: Notify,
    calls: Arc<Semaphore>,
    turns: Semaphore,
    workers: Workers,
    /// Whom to have quick calls made.
    driver: Option<Arc<QuickCalls>>,
    pace: Arc<Pace>,
    retries: Budget,
    /// Lines for failed calls, and how many had none.
    lines: Budget,
    unlogged: AtomicU64,
    replaced: ReplacedIds,
    decrypts: SingleFlight<Opened>,
}

impl Key {
    /// A key with its settings, not probed yet, whose quick calls the driver makes.
    pub(crate) fn new(settings: KeySettings, driver: Arc<QuickCalls>) -> Arc<Self> {
        let service = settings.backend.service();
        Self::of(settings, service, Some(driver))
    }

    /// The same with another service, and perhaps without a driver.
    fn of(settings: KeySettings, service: Arc<dyn KeyService>, driver: Option<Arc<QuickCalls>>) -> Arc<Self> {
        Arc::new(Self {
            settings,
            service,
            metrics: Metrics::default(),
            health: watch::Sender::new(None),
            wake: Notify::new(),
            calls: Arc::new(Semaphore::new(CALLS)),
            turns: Semaphore::new(TURNS),
            workers: Workers::new(CALLS),
            driver,
            pace: Arc::default(),
            retries: Budget::default(),
            lines: Budget::default(),
            unlogged: AtomicU64::default(),
            replaced: ReplacedIds::default(),
            decrypts: SingleFlight::default(),
        })
    }

    /// What Status answers from: the last probe, or a failure if it is too old. Waits for the first probe only.
    pub async fn health(&self) -> Health {
        // A request under way, which the end of the key waits for. Status is never refused for want of a turn.
        let _turn = self.turns.try_acquire();
        self.health_once_probed().await
    }

    async fn health_once_probed(&self) -> Health {
        if self.health.borrow().is_none() {
            let mut seen = self.health.subscribe();
            // Without one by then, that is the failure.
            let _ = timeout(FIRST_PROBE, seen.wait_for(Option::is_some)).await;
        }
        self.last_health()
    }

    /// The same without waiting.
    pub(crate) fn last_health(&self) -> Health {
        let Some(health) = self.health.borrow().clone() else {
            let failure = Failure::new(FailureKind::Unreachable, "the first probe has not ended yet");
            return Health { result: Err(failure), last_id: None, probed: Instant::now() };
        };
        let age = health.probed.elapsed();
        if age <= PROBE_LIMIT {
            return health;
        }
        let message = format!("the last probe ended {}s ago", age.as_secs());
        Health { result: Err(Failure::new(FailureKind::Unreachable, message)), ..health }
    }

    /// Encrypts with the key that Status reports, and with no other.
    pub(crate) async fn encrypt(&self, plaintext: Zeroizing<Vec<u8>>) -> Result<(Sealed, KeyId), Failure> {
        let _turn = self.turn("encrypt")?;
        let health = self.health_once_probed().await;
        let reported = match (health.last_id, health.result) {
            (Some(id), _) => id,
            (None, Err(failure)) => return Err(failure),
            (None, Ok(id)) => id,
        };
        let (context, plaintext) = (reported.clone(), Arc::new(plaintext));
        let sealed =
            self.call("encrypt", move |service| service.encrypt(&plaintext, context.as_str().as_bytes())).await?;
        if sealed.version.id(self.settings.epoch) != reported {
            self.wake.notify_one();
            let message = "the key was rotated a moment ago: ask Status for the new key id, then encrypt again";
            return Err(Failure::new(FailureKind::Unreachable, message));
        }
        if sealed.ciphertext.len() > kms::CIPHERTEXT_LIMIT {
            let message = format!("the ciphertext has {} bytes: kube-apiserver accepts 1024", sealed.ciphertext.len());
            return Err(Failure::invalid(message));
        }
        Ok((sealed, reported))
    }

    /// Decrypts with the key that the id names, and with no other: the id must be that of this version and epoch.
    pub(crate) async fn decrypt(&self, ciphertext: Vec<u8>, id: String, version: String, epoch: u64) -> Opened {
        let _turn = self.turn("decrypt")?;
        let request =
            [ciphertext.as_slice(), id.as_bytes(), version.as_bytes(), &epoch.to_be_bytes()].map(<[u8]>::to_vec);
        let parts: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
        self.decrypts
            .run(&parts, || {
                self.call("decrypt", move |service| {
                    if service.named(&version)?.id(epoch).as_str() != id {
                        let message = "the key id is not that of the version and epoch in the annotations";
                        return Err(Failure::invalid(message));
                    }
                    service.decrypt(&ciphertext, &version, id.as_bytes()).map(Arc::new)
                })
            })
            .await
    }

    /// Decrypts what another plugin wrote with this key and without annotations of ours.
    pub(crate) async fn decrypt_of_other_plugin(&self, ciphertext: Vec<u8>, id: String) -> Opened {
        let _turn = self.turn("decrypt")?;
        let request = [ciphertext.as_slice(), id.as_bytes()].map(<[u8]>::to_vec);
        let parts: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
        let ask = || {
            self.call("decrypt", move |service| {
                let opened = service.decrypt_of_other_plugin(&ciphertext, &id);
                opened.unwrap_or_else(|| Err(no_annotations())).map(Arc::new)
            })
        };
        self.decrypts.run(&parts, ask).await
    }

    /// Probes the key again and again, until the task is aborted.
    pub(crate) async fn probe_forever(self: Arc<Self>) {
        let (mut last, mut failures) = (None::<Probed>, 0);
        loop {
            let began = Instant::now();
            match self.probe_once(last.clone()).await {
                Ok(probed) => {
                    failures = 0;
                    self.publish(Ok(probed.id.clone()));
                    self.log_caution(last.as_ref(), &probed);
                    last = Some(probed);
                }
                Err(failure) => {
                    failures += 1;
                    self.publish(Err(failure));
                }
            }
            self.pause(failures, began.elapsed()).await;
        }
    }

    /// The time until the next probe, after so many that failed, or after one that succeeded and took so long. A call that
    /// failed ends it early; not while the key is known to fail, where each call fails and would ask a throttled service
    /// for more.
    async fn pause(&self, failures: u32, took: Duration) {
        if failures > 0 {
            return tokio::time::sleep(pause_after(failures)).await;
        }
        tokio::time::sleep(SHORTEST_PAUSE).await;
        let rest = PROBE_EVERY.saturating_sub(took + SHORTEST_PAUSE);
        let _ = timeout(rest, self.wake.notified()).await;
    }

    /// One probe, in a place among the calls of kube-apiserver: a key whose calls all hang does not work, even where one
    /// more would be answered.
    async fn probe_once(&self, last: Option<Probed>) -> Result<Probed, Failure> {
        let (began, limit) = (Instant::now(), self.settings.timeout.saturating_mul(3));
        let result = match timeout(limit, Arc::clone(&self.calls).acquire_owned()).await {
            Ok(Ok(place)) => self.probe_in(place, last, limit).await,
            _ => Err(all_hang(limit)),
        };
        self.metrics.count("probe", word(&result), began.elapsed());
        result
    }

    /// The probe itself. While it hangs, it is reported as such, always in the same words, so that the log has them once;
    /// no second one is started beside it.
    async fn probe_in(
        &self,
        place: OwnedSemaphorePermit,
        last: Option<Probed>,
        limit: Duration,
    ) -> Result<Probed, Failure> {
        let service = Arc::clone(&self.service);
        let KeySettings { epoch, timeout: call_limit, .. } = self.settings;
        let mut probing = tokio::task::spawn_blocking(move || {
            let _place = place;
            probe(service.as_ref(), epoch, call_limit, last.as_ref())
        });
        loop {
            match timeout(limit, &mut probing).await {
                Ok(result) => return result.unwrap_or_else(|_| Err(ended())),
                Err(_) => self.publish(Err(no_answer(limit))),
            }
        }
    }

    fn publish(&self, result: Result<KeyId, Failure>) {
        let before = self.health.borrow().clone();
        let last_id =
            result.as_ref().ok().cloned().or_else(|| before.as_ref().and_then(|before| before.last_id.clone()));
        self.log_change(before.as_ref(), &result);
        self.health.send_replace(Some(Health { result, last_id, probed: Instant::now() }));
    }

    /// Logs what an operator must know of the key, once for each id.
    fn log_caution(&self, last: Option<&Probed>, probed: &Probed) {
        if let Some(caution) = probed.caution.as_ref().filter(|_| last.is_none_or(|last| last.id != probed.id)) {
            let members = json!({"key": self.settings.name, "keyId": probed.id.as_str(), "cause": caution});
            log::line(Level::Warning, "the key works with a restriction", members);
        }
    }

    fn log_change(&self, before: Option<&Health>, result: &Result<KeyId, Failure>) {
        let name = &self.settings.name;
        // Also where it did not work in between.
        if let (Some(last), Ok(id)) = (before.and_then(|before| before.last_id.as_ref()), result)
            && last != id
        {
            let members = json!({"key": name, "keyId": id.as_str(), "before": last.as_str()});
            match self.replaced.note(last, id) {
                true => log::line(
                    Level::Warning,
                    "the key went back to an earlier key id: if it stays there, raise epoch",
                    members,
                ),
                false => log::line(Level::Info, "the key was rotated", members),
            }
        }
        match (before, result) {
            (Some(Health { result: Ok(_), .. }), Ok(_)) => {}
            (_, Ok(id)) => log::line(Level::Info, "the key works", json!({"key": name, "keyId": id.as_str()})),
            (Some(Health { result: Err(old), .. }), Err(failure)) if old == failure => {}
            (_, Err(failure)) => {
                let members = json!({"key": name, "kind": failure.kind.word(), "cause": failure.message});
                log::line(Level::Error, "the key does not work", members);
            }
        }
    }

    /// Lets a request in, unless too many are under way. What is refused is counted and not logged: it comes in hundreds.
    fn turn(&self, operation: &'static str) -> Result<SemaphorePermit<'_>, Failure> {
        self.turns.try_acquire().map_err(|_| {
            let failure = throttled(TURNS);
            self.metrics.count(operation, failure.kind.word(), Duration::ZERO);
            failure
        })
    }

    /// Requests that were let in and are not answered.
    pub(crate) fn requests(&self) -> usize {
        TURNS - self.turns.available_permits()
    }

    /// Waits until there are none. No further one is let in meanwhile, and as long as what is returned lives.
    pub(crate) async fn no_request(&self) -> Option<SemaphorePermit<'_>> {
        let all = self.turns.acquire_many(u32::try_from(TURNS).unwrap_or(u32::MAX)).await;
        // Nobody closes the semaphore.
        all.ok()
    }

    /// Calls the service on a thread, within its time, with retries from the budget.
    async fn call<T, F>(&self, operation: &'static str, call: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Fn(&dyn KeyService) -> Result<T, Failure> + Send + Sync + 'static,
    {
        let began = Instant::now();
        let call = Arc::new(call);
        let mut result = self.call_once(&call).await;
        for pause in RETRY_AFTER {
            let again = result.as_ref().err().is_some_and(|failure| failure.kind.is_worth_a_retry());
            if !again || began.elapsed() >= self.settings.timeout || !self.retries.take() {
                break;
            }
            tokio::time::sleep(*pause).await;
            result = self.call_once(&call).await;
        }
        self.metrics.count(operation, word(&result), began.elapsed());
        if let Err(failure) = &result
            && failure.kind != FailureKind::InvalidRequest
        {
            // The probe decides whether the key works; one failed call does not.
            self.wake.notify_one();
            self.log_failed_call(operation, failure);
        }
        result
    }

    /// Logs a failed call, as long as there are not too many of them; metrics count all.
    fn log_failed_call(&self, operation: &str, failure: &Failure) {
        if !self.lines.take() {
            self.unlogged.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut members = json!({"key": self.settings.name, "operation": operation, "kind": failure.kind.word(), "cause": failure.message});
        let unlogged = self.unlogged.swap(0, Ordering::Relaxed);
        if unlogged > 0 {
            members["unlogged"] = json!(unlogged);
        }
        log::line(Level::Warning, "a call failed", members);
    }

    async fn call_once<T, F>(&self, call: &Arc<F>) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Fn(&dyn KeyService) -> Result<T, Failure> + Send + Sync + 'static,
    {
        let limit = self.settings.timeout;
        let Ok(Ok(place)) = timeout(limit, Arc::clone(&self.calls).acquire_owned()).await else {
            return Err(throttled(CALLS));
        };
        let is_alone = self.calls.available_permits() + 1 == CALLS;
        let (service, pace, call) = (Arc::clone(&self.service), Arc::clone(&self.pace), Arc::clone(call));
        let (done, mut answer) = oneshot::channel();
        let call = Box::new(move || {
            let result = pace.measured(|| call(service.as_ref()));
            // Before the answer, so that whoever has it and calls again is alone.
            drop(place);
            // Who asked may have given up.
            drop(done.send(result));
        });
        match &self.driver {
            Some(driver) if is_alone && self.pace.is_quick() => driver.submit(call),
            _ => self.workers.submit(call),
        }
        let answered = async {
            if let Ok(answered) = timeout(ADD_THREAD_AFTER, &mut answer).await {
                return answered;
            }
            self.workers.add_thread();
            answer.await
        };
        match timeout(limit, answered).await {
            Ok(result) => result.unwrap_or_else(|_| Err(ended())),
            Err(_) => Err(no_answer(limit)),
        }
    }
}

/// How long the last call took.
#[derive(Debug, Default)]
struct Pace(AtomicBool);

impl Pace {
    /// Makes a call and notes how long it takes.
    fn measured<T>(&self, call: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = call();
        self.0.store(began.elapsed() <= QUICK, Ordering::Relaxed);
        result
    }

    /// Whether the next call is expected to take microseconds.
    fn is_quick(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A Decrypt that nothing of ours goes with, and that is not of a plugin whose data can be read.
fn no_annotations() -> Failure {
    Failure::invalid(format!(
        "the annotation {VERSION_ANNOTATION} is missing, and the data is not of another plugin for this key"
    ))
}

fn word<T>(result: &Result<T, Failure>) -> &'static str {
    result.as_ref().err().map_or("ok", |failure| failure.kind.word())
}

fn throttled(already: usize) -> Failure {
    Failure::new(FailureKind::Throttled, format!("{already} calls wait for the key service already"))
}

/// A call, or a round trip, that takes too long.
pub(crate) fn no_answer(after: Duration) -> Failure {
    Failure::new(
        FailureKind::Unreachable,
        format!("the key service has not answered after {:.1}s", after.as_secs_f64()),
    )
}

fn all_hang(since: Duration) -> Failure {
    let message = format!(
        "{CALLS} calls to the key service have not ended for {:.1}s, and no other can start: restart the plugin if this lasts",
        since.as_secs_f64()
    );
    Failure::new(FailureKind::Unreachable, message)
}

/// A call whose thread has ended before it.
pub(crate) fn ended() -> Failure {
    Failure::new(
        FailureKind::Unreachable,
        "the call ended without an answer: the system has no thread for it, or this is a defect of the plugin",
    )
}

#[cfg(test)]
pub(crate) mod tests;
