//! Keys on a service that does what the test says.
use super::*;
use crate::configuration::{Backend, OnOutage};
use crate::grpc::{Service, code};
use crate::v2::key_management_service_server::KeyManagementService;
use crate::v2::{DecryptRequest, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse};
use kms::KeyVersion;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use tokio::task::JoinSet;
use tonic::{Code, Request, Status};

/// A key service that fails as the test says. Its ciphertext is the version, then the text inverted.
#[derive(Default)]
pub(crate) struct Scripted(Mutex<Script>);

#[derive(Default, Clone)]
struct Script {
    version: u8,
    current: Option<FailureKind>,
    encrypt: Option<FailureKind>,
    decrypt: Option<FailureKind>,
    /// Encrypts with another version than `current` tells.
    is_rotated_in_between: bool,
    /// Is rotated by the next Encrypt, before it encrypts.
    rotates_at_encrypt: bool,
    /// What each ciphertext has beside version and text, in bytes.
    padding: usize,
    encrypts: usize,
    /// Decrypts to something else.
    spoils: bool,
    /// How long an Encrypt and a Decrypt take.
    takes: [Duration; 2],
}

impl Scripted {
    fn set(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn script(&self) -> Script {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn version(number: u8) -> KeyVersion {
    KeyVersion { provider: "scripted", key: "key".to_owned(), version: number.to_string() }
}

fn fail(kind: Option<FailureKind>) -> Result<(), Failure> {
    kind.map_or(Ok(()), |kind| Err(Failure::new(kind, "as the test says")))
}

impl KeyService for Scripted {
    fn current(&self) -> Result<KeyVersion, Failure> {
        let script = self.script();
        fail(script.current)?;
        Ok(version(script.version))
    }

    fn encrypt(&self, plaintext: &[u8], _: &[u8]) -> Result<Sealed, Failure> {
        self.set(|script| {
            script.encrypts += 1;
            script.version += u8::from(std::mem::take(&mut script.rotates_at_encrypt));
        });
        let script = self.script();
        std::thread::sleep(script.takes[0]);
        fail(script.encrypt)?;
        let number = script.version + u8::from(script.is_rotated_in_between);
        let padding = vec![0; script.padding];
        let ciphertext = [&[number], plaintext, &padding].concat().iter().map(|byte| !byte).collect();
        Ok(Sealed { ciphertext, version: version(number) })
    }

    fn decrypt(&self, ciphertext: &[u8], wanted: &str, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
        std::thread::sleep(self.script().takes[1]);
        fail(self.script().decrypt)?;
        let plain: Vec<u8> = ciphertext.iter().map(|byte| !byte).collect();
        match plain.split_first() {
            Some((number, text)) if number.to_string() == wanted => {
                let flip = u8::from(self.script().spoils);
                let text = &text[..text.len() - self.script().padding];
                Ok(Zeroizing::new(text.iter().map(|byte| byte ^ flip).collect()))
            }
            _ => Err(Failure::invalid("another version")),
        }
    }

    fn named(&self, wanted: &str) -> Result<KeyVersion, Failure> {
        let number = wanted.parse().map_err(|_| Failure::invalid("no number"))?;
        Ok(version(number))
    }
}

pub(crate) fn key(on_outage: OnOutage) -> (Arc<Scripted>, Service) {
    key_with(on_outage, Duration::from_secs(2), None)
}

/// A key whose calls may take so long.
pub(crate) fn key_within(timeout: Duration) -> (Arc<Scripted>, Service) {
    key_with(OnOutage::Error, timeout, None)
}

/// A key whose socket is not created yet.
pub(crate) fn key_on(socket: PathBuf, timeout: Duration) -> Service {
    Service(Key::of(KeySettings { socket, timeout, ..settings() }, Arc::new(Scripted::default()), None))
}

fn settings() -> KeySettings {
    KeySettings {
        name: "k".to_owned(),
        socket: "/none".into(),
        owner: None,
        epoch: 3,
        on_outage: OnOutage::Error,
        timeout: Duration::from_secs(2),
        backend: Backend::File { path: "/none".into() },
    }
}

fn key_with(on_outage: OnOutage, timeout: Duration, driver: Option<Arc<QuickCalls>>) -> (Arc<Scripted>, Service) {
    let settings = KeySettings { on_outage, timeout, ..settings() };
    let scripted = Arc::new(Scripted::default());
    let service = Arc::clone(&scripted) as Arc<dyn KeyService>;
    (scripted, Service(Key::of(settings, service, driver)))
}

/// One turn of the prober, without its pauses.
pub(crate) async fn probe_now(service: &Service, last: Option<Probed>) -> Option<Probed> {
    let result = service.0.probe_once(last).await;
    service.0.publish(result.as_ref().map(|probed| probed.id.clone()).map_err(Clone::clone));
    result.ok()
}

async fn status(service: &Service) -> Result<StatusResponse, Status> {
    service.status(Request::new(StatusRequest {})).await.map(tonic::Response::into_inner)
}

pub(crate) async fn encrypt(service: &Service, plaintext: &[u8]) -> Result<EncryptResponse, Status> {
    let request = EncryptRequest { plaintext: plaintext.to_vec(), uid: "u".to_owned() };
    service.encrypt(Request::new(request)).await.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn status_names_each_kind_of_failure_and_no_outage_is_answered_with_ok() {
    for kind in FailureKind::ALL {
        for on_outage in [OnOutage::Error, OnOutage::Continue] {
            let (scripted, service) = key(on_outage);
            let last = probe_now(&service, None).await;
            let healthy = status(&service).await.unwrap();
            assert_eq!((healthy.version.as_str(), healthy.healthz.as_str()), ("v2", "ok"));
            scripted.set(|script| (script.encrypt, script.decrypt) = (Some(*kind), Some(*kind)));
            probe_now(&service, last).await;
            let want = format!("key k: {kind}: as the test says");
            match (status(&service).await, on_outage) {
                (Err(status), OnOutage::Error) => assert_eq!((status.code(), status.message()), (code(*kind), &*want)),
                (Ok(answer), OnOutage::Continue) => {
                    assert_eq!((answer.healthz, answer.key_id), (want, healthy.key_id));
                }
                (other, _) => panic!("{kind} with {on_outage:?}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_key_that_never_worked_is_an_error_in_both_modes() {
    for on_outage in [OnOutage::Error, OnOutage::Continue] {
        let (scripted, service) = key(on_outage);
        scripted.set(|script| script.encrypt = Some(FailureKind::Disabled));
        probe_now(&service, None).await;
        assert_eq!(status(&service).await.unwrap_err().code(), Code::FailedPrecondition);
        assert_eq!(encrypt(&service, b"seed").await.unwrap_err().code(), Code::FailedPrecondition);
    }
}

#[tokio::test]
async fn a_key_that_decrypts_and_no_longer_encrypts_is_not_healthy() {
    let (scripted, service) = key(OnOutage::Error);
    let last = probe_now(&service, None).await;
    for kind in [FailureKind::AccessDenied, FailureKind::Disabled, FailureKind::PendingDeletion] {
        scripted.set(|script| script.encrypt = Some(kind));
        probe_now(&service, last.clone()).await;
        let message = status(&service).await.unwrap_err().message().to_owned();
        let want = format!("decrypts-only: the key still decrypts and no longer encrypts ({kind}: as the test says)");
        assert_eq!(message, format!("key k: {want}"));
    }
}

#[tokio::test]
async fn a_key_whose_description_alone_is_refused_is_not_said_to_encrypt_no_longer() {
    let (scripted, service) = key(OnOutage::Error);
    let last = probe_now(&service, None).await;
    scripted.set(|script| script.current = Some(FailureKind::AccessDenied));
    probe_now(&service, last).await;
    let told = status(&service).await.unwrap_err();
    assert_eq!((told.code(), told.message()), (Code::PermissionDenied, "key k: access-denied: as the test says"));
}

#[tokio::test]
async fn a_key_that_decrypts_to_something_else_is_not_healthy() {
    let (scripted, service) = key(OnOutage::Error);
    scripted.set(|script| script.spoils = true);
    probe_now(&service, None).await;
    let told = status(&service).await.unwrap_err();
    assert_eq!(told.message(), "key k: decrypts-only: the key does not decrypt what it has encrypted");
}

#[tokio::test]
async fn a_key_that_was_not_probed_for_long_is_not_healthy() {
    let (_, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    for (age, is_healthy) in [(PROBE_LIMIT / 2, true), (PROBE_LIMIT + Duration::from_secs(1), false)] {
        let probed = Instant::now().checked_sub(age).expect("the machine has run for longer");
        service.0.health.send_modify(|health| health.as_mut().unwrap().probed = probed);
        assert_eq!(status(&service).await.is_ok(), is_healthy, "{age:?}");
    }
    let told = status(&service).await.unwrap_err();
    assert_eq!(told.code(), Code::Unavailable);
    assert!(told.message().starts_with("key k: unreachable: the last probe ended "), "{told}");
}

#[tokio::test]
async fn a_key_whose_ciphertexts_are_too_long_for_kube_apiserver_is_not_healthy() {
    for (padding, is_healthy) in [(1024 - 33, true), (1024 - 32, false)] {
        let (scripted, service) = key(OnOutage::Error);
        scripted.set(|script| script.padding = padding);
        probe_now(&service, None).await;
        let (encrypted, told) = (encrypt(&service, &[7; 32]).await, status(&service).await);
        assert_eq!((encrypted.is_ok(), told.is_ok()), (is_healthy, is_healthy), "{told:?} {encrypted:?}");
    }
}

#[tokio::test]
async fn an_encrypt_with_another_version_than_status_reports_is_refused() {
    let (scripted, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    scripted.set(|script| script.is_rotated_in_between = true);
    let refused = encrypt(&service, b"seed").await.unwrap_err();
    assert!(refused.message().contains("the key was rotated a moment ago"), "{refused:?}");
    scripted.set(|script| (script.is_rotated_in_between, script.version) = (false, 1));
    let before = status(&service).await.unwrap().key_id;
    assert!(encrypt(&service, b"seed").await.is_err());
    probe_now(&service, None).await;
    let after = status(&service).await.unwrap().key_id;
    assert_ne!(before, after);
    assert_eq!(encrypt(&service, b"seed").await.unwrap().key_id, after);
}

#[tokio::test]
async fn a_rotation_during_a_probe_is_reported_and_is_no_failure() {
    let (scripted, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    let before = status(&service).await.unwrap().key_id;
    scripted.set(|script| script.rotates_at_encrypt = true);
    probe_now(&service, None).await;
    let after = status(&service).await.unwrap().key_id;
    assert_eq!((before, after), (version(0).id(3).to_string(), version(1).id(3).to_string()));
    scripted.set(|script| script.is_rotated_in_between = true);
    probe_now(&service, None).await;
    assert!(status(&service).await.unwrap_err().message().ends_with("the key was rotated during the probe"));
}

#[tokio::test]
async fn a_key_whose_calls_all_hang_is_not_healthy() {
    let (_, service) = key_within(Duration::from_millis(500));
    probe_now(&service, None).await;
    let places = hang(&service).await;
    probe_now(&service, None).await;
    assert_eq!(encrypt(&service, b"seed").await.unwrap_err().code(), Code::ResourceExhausted);
    let told = status(&service).await.unwrap_err();
    assert_eq!(told.code(), Code::Unavailable);
    assert!(
        told.message().starts_with("key k: unreachable: 16 calls to the key service have not ended for "),
        "{told}"
    );
    drop(places);
    probe_now(&service, None).await;
    assert!(status(&service).await.is_ok() && encrypt(&service, b"seed").await.is_ok());
}

#[tokio::test]
async fn a_probe_that_hangs_is_one_failure_however_long_it_hangs() {
    const LIMIT: Duration = Duration::from_millis(100);
    let (scripted, service) = key_within(LIMIT);
    scripted.set(|script| script.takes = [LIMIT * 12, Duration::ZERO]);
    let (key, mut seen) = (Arc::clone(&service.0), service.0.health.subscribe());
    let probing = tokio::spawn(async move { key.probe_once(None).await });
    let mut told = Vec::new();
    while !probing.is_finished() {
        if timeout(LIMIT, seen.changed()).await.is_ok() {
            told.push(status(&service).await.unwrap_err().message().to_owned());
        }
    }
    told.dedup();
    assert_eq!(told, ["key k: unreachable: the key service has not answered after 0.3s"]);
}

#[tokio::test]
async fn a_key_whose_calls_take_longer_than_kube_apiserver_waits_is_not_healthy() {
    const SLOW: Duration = Duration::from_millis(200);
    for (takes, what) in [([SLOW, Duration::ZERO], "encrypt"), ([Duration::ZERO, SLOW], "decrypt")] {
        let (scripted, service) = key_within(SLOW / 2);
        scripted.set(|script| script.takes = takes);
        probe_now(&service, None).await;
        let told = status(&service).await.unwrap_err();
        assert_eq!(told.code(), Code::Unavailable);
        assert!(told.message().contains(&format!("the key service takes longer than 100ms to {what}, ")), "{told}");
        assert!(told.message().ends_with("raise timeout here and in the EncryptionConfiguration"), "{told}");
    }
}

#[tokio::test]
async fn a_decrypt_is_pinned_to_the_version_and_epoch_that_its_id_names() {
    let (scripted, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    let sealed = encrypt(&service, b"seed").await.unwrap();
    let good = stored(&sealed);
    let decrypt = async |request: DecryptRequest| service.decrypt(Request::new(request)).await;
    scripted.set(|script| script.version = 9);
    assert_eq!(decrypt(good.clone()).await.unwrap().into_inner().plaintext, b"seed");
    let with = |name: &str, value: &[u8]| {
        let mut request = good.clone();
        let name = format!("{name}.kms.machineadm.cluster.x-k8s.io");
        assert!(request.annotations.insert(name, value.to_vec()).is_some());
        request
    };
    let bad = [
        DecryptRequest { key_id: version(0).id(4).as_str().to_owned(), ..good.clone() },
        DecryptRequest { annotations: Default::default(), ..good.clone() },
        DecryptRequest { ciphertext: Vec::new(), ..good.clone() },
        DecryptRequest { ciphertext: vec![1; 1025], ..good.clone() },
        with("version", b"1"),
        with("version", b"\xff"),
        with("epoch", b"03"),
        with("epoch", b"4"),
        with("epoch", b"-1"),
    ];
    for request in bad {
        let refused = decrypt(request.clone()).await.map(tonic::Response::into_inner).unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{request:?}");
    }
}

#[tokio::test]
async fn a_failed_call_is_retried_within_a_budget_and_wakes_the_probe() {
    let (scripted, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    scripted.set(|script| (script.encrypt, script.encrypts) = (Some(FailureKind::Throttled), 0));
    assert_eq!(encrypt(&service, b"seed").await.unwrap_err().code(), Code::ResourceExhausted);
    assert_eq!(scripted.script().encrypts, 3);
    timeout(Duration::from_secs(5), service.0.wake.notified()).await.expect("the probe is woken");
    for _ in 0..10 {
        assert!(encrypt(&service, b"seed").await.is_err());
    }
    let (calls, with_all_retries) = (scripted.script().encrypts, 33);
    assert!(calls < with_all_retries, "{calls} calls");
    scripted.set(|script| (script.encrypt, script.encrypts) = (Some(FailureKind::AccessDenied), 0));
    assert!(encrypt(&service, b"seed").await.is_err());
    assert_eq!(scripted.script().encrypts, 1, "what a retry can't mend is not retried");
}

#[tokio::test]
async fn a_call_that_has_taken_its_time_is_not_retried() {
    const LIMIT: Duration = Duration::from_millis(500);
    let (scripted, service) = key_within(LIMIT);
    probe_now(&service, None).await;
    scripted.set(|script| (script.takes, script.encrypts) = ([3 * LIMIT, Duration::ZERO], 0));
    assert_eq!(encrypt(&service, b"seed").await.unwrap_err().code(), Code::Unavailable);
    let calls = scripted.script().encrypts;
    assert!(calls <= 1, "{calls} calls");
}

#[tokio::test]
async fn a_request_that_cannot_be_done_neither_wakes_the_probe_nor_fills_the_log() {
    let (scripted, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    scripted.set(|script| (script.encrypt, script.encrypts) = (Some(FailureKind::InvalidRequest), 0));
    assert_eq!(encrypt(&service, b"seed").await.unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(scripted.script().encrypts, 1);
    assert!(timeout(Duration::ZERO, service.0.wake.notified()).await.is_err(), "the probe is not woken");
    let lines = (0..100).take_while(|_| service.0.lines.take()).count();
    assert!(lines >= 10, "{lines} of 10 lines are left");
    scripted.set(|script| script.encrypt = Some(FailureKind::AccessDenied));
    assert!(encrypt(&service, b"seed").await.is_err());
    assert!(timeout(Duration::ZERO, service.0.wake.notified()).await.is_ok());
}

#[tokio::test]
async fn a_failed_call_ends_the_pause_of_a_key_that_works_and_no_pause_after_a_failed_probe() {
    let (_, service) = key(OnOutage::Error);
    for (failures, least, most) in [(0, SHORTEST_PAUSE, PROBE_EVERY), (2, pause_after(2), Duration::MAX)] {
        service.0.wake.notify_one();
        let began = Instant::now();
        service.0.pause(failures, Duration::ZERO).await;
        assert!((least..most).contains(&began.elapsed()), "{failures}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn the_pause_after_a_slow_probe_is_shorter_so_that_a_rotation_is_reported_in_time() {
    let (_, service) = key(OnOutage::Error);
    for took in [PROBE_EVERY - 2 * SHORTEST_PAUSE, 2 * PROBE_EVERY] {
        let began = Instant::now();
        service.0.pause(0, took).await;
        assert!((SHORTEST_PAUSE..PROBE_EVERY / 2).contains(&began.elapsed()), "{took:?}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_failure_never_holds_the_plaintext() {
    let (scripted, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    assert_eq!(encrypt(&service, b"").await.unwrap_err().code(), Code::InvalidArgument);
    let long = encrypt(&service, &[b'x'; 1024]).await.unwrap_err();
    assert_eq!(long.message(), "invalid-request: the ciphertext has 1025 bytes: kube-apiserver accepts 1024");
    assert_eq!(encrypt(&service, &[b'x'; 1023]).await.unwrap().ciphertext.len(), 1024);
    let hopeless = encrypt(&service, &[b'x'; 1025]).await.unwrap_err();
    assert_eq!(hopeless.message(), "invalid-request: the plaintext has 1025 bytes: 1 to 1024 are allowed");
    assert_eq!(scripted.script().encrypts, 3, "the service is not asked for what cannot be done");
}

#[tokio::test]
async fn the_driver_makes_the_only_call_of_a_key_that_answered_quickly_and_no_other() {
    let driver = Arc::new(QuickCalls::default());
    let (_, service) = key_with(OnOutage::Error, Duration::from_secs(2), Some(Arc::clone(&driver)));
    probe_now(&service, None).await;
    // Nobody plays the driver here: what is answered, a thread of the key has called.
    assert!(encrypt(&service, b"no pace is known yet").await.is_ok());
    service.0.pace.0.store(true, Ordering::Relaxed);
    let drive = async {
        let call = driver.next(std::time::Instant::now()).await;
        assert!(encrypt(&service, b"beside another call").await.is_ok());
        call();
    };
    let (alone, ()) = timeout(Duration::from_secs(20), async { tokio::join!(encrypt(&service, b"alone"), drive) })
        .await
        .expect("the driver is asked");
    assert!(alone.is_ok());
    service.0.pace.0.store(false, Ordering::Relaxed);
    assert!(encrypt(&service, b"slow").await.is_ok());
}

#[tokio::test]
async fn a_key_that_ends_lets_no_request_in_after_its_last_one() {
    let (_, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    let none = service.0.no_request().await;
    assert_eq!(encrypt(&service, b"seed").await.unwrap_err().code(), Code::ResourceExhausted);
    assert!(status(&service).await.is_ok());
    drop(none);
    assert!(encrypt(&service, b"seed").await.is_ok());
}

/// The request to decrypt what was encrypted.
pub(crate) fn stored(sealed: &EncryptResponse) -> DecryptRequest {
    let EncryptResponse { ciphertext, key_id, annotations } = sealed.clone();
    DecryptRequest { ciphertext, uid: String::new(), key_id, annotations }
}

/// Takes the places of all calls, as calls that never return do.
pub(crate) async fn hang(service: &Service) -> OwnedSemaphorePermit {
    Arc::clone(&service.0.calls).acquire_many_owned(u32::try_from(CALLS).unwrap()).await.unwrap()
}

/// How many more requests the key lets in.
pub(crate) fn turns_left(service: &Service) -> usize {
    service.0.turns.available_permits()
}

#[tokio::test]
async fn as_many_different_decrypts_as_an_api_server_asks_for_at_once_are_all_answered() {
    /// What kube-apiserver works on at once: --max-requests-inflight and --max-mutating-requests-inflight.
    const AT_ONCE: u16 = 400 + 200;
    let (_, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    let (service, mut all, mut asked) = (Arc::new(service), Vec::new(), JoinSet::new());
    for number in 0..AT_ONCE {
        all.push((number, encrypt(&service, &number.to_be_bytes()).await.unwrap()));
    }
    for (number, sealed) in all {
        let service = Arc::clone(&service);
        asked.spawn(async move { (number, service.decrypt(Request::new(stored(&sealed))).await) });
    }
    for (number, opened) in asked.join_all().await {
        assert_eq!(opened.unwrap().into_inner().plaintext, number.to_be_bytes());
    }
}

#[tokio::test]
async fn a_call_that_was_answered_has_left_its_place() {
    let (_, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    for number in 0..2000 {
        assert!(encrypt(&service, b"seed").await.is_ok());
        assert_eq!(service.0.calls.available_permits(), CALLS, "after {number} calls");
    }
}

#[tokio::test]
async fn calls_beyond_those_that_may_wait_are_refused_at_once_and_status_is_not() {
    let (_, service) = key(OnOutage::Error);
    probe_now(&service, None).await;
    let others = service.0.turns.try_acquire_many(u32::try_from(TURNS).unwrap()).unwrap();
    // The calls of others never end, so that this one would wait for ever.
    let refused = encrypt(&service, b"seed").await.unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted);
    assert!(refused.message().ends_with("1024 calls wait for the key service already"), "{refused}");
    assert!(status(&service).await.is_ok());
    drop(others);
    assert!(encrypt(&service, b"seed").await.is_ok());
}
