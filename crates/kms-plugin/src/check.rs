//! `--check`: one round trip through each key, without a socket.
use crate::configuration::Configuration;
use crate::key::{ended, no_answer};
use crate::probe::{Probed, probe};
use kms::{Failure, KeyService};
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How many times the timeout of one call a round trip may take, which asks several times and may log in before.
const TIMEOUTS: u32 = 10;

/// Prints one line for each key; whether all work.
pub(crate) fn check(configuration: &Configuration) -> bool {
    let mut all_work = true;
    for key in &configuration.keys {
        match round_trip(key.backend.service(), key.epoch, key.timeout) {
            Ok(probed) => {
                print_line(format_args!("{}: encrypts and decrypts, key id {}", key.name, probed.id));
                probed.caution.iter().for_each(|caution| print_line(format_args!("{}: warning: {caution}", key.name)));
            }
            Err(failure) => {
                all_work = false;
                print_line(format_args!("{}: {failure}", key.name));
            }
        }
    }
    all_work
}

/// Prints a line. Its reader may have gone, as `head` does: the exit code says the same.
fn print_line(line: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// On a thread, which is left behind if it does not end: the module of a token, or a file system, may never answer.
fn round_trip(service: Arc<dyn KeyService>, epoch: u64, timeout: Duration) -> Result<Probed, Failure> {
    let (done, result) = channel();
    // Nobody waits any more for one that answers too late.
    thread::spawn(move || drop(done.send(probe(service.as_ref(), epoch, timeout, None))));
    let limit = timeout.saturating_mul(TIMEOUTS);
    result.recv_timeout(limit).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => Err(no_answer(limit)),
        RecvTimeoutError::Disconnected => Err(ended()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kms::{FailureKind, KeyVersion, Sealed};
    use zeroize::Zeroizing;

    /// A service that never answers.
    struct Silent;

    impl KeyService for Silent {
        fn current(&self) -> Result<KeyVersion, Failure> {
            loop {
                thread::park();
            }
        }

        fn encrypt(&self, _: &[u8], _: &[u8]) -> Result<Sealed, Failure> {
            Err(Failure::invalid("not asked for"))
        }

        fn decrypt(&self, _: &[u8], _: &str, _: &[u8]) -> Result<Zeroizing<Vec<u8>>, Failure> {
            Err(Failure::invalid("not asked for"))
        }

        fn named(&self, _: &str) -> Result<KeyVersion, Failure> {
            self.current()
        }
    }

    #[test]
    fn a_service_that_never_answers_ends_the_check_of_its_key() {
        let failure = round_trip(Arc::new(Silent), 0, Duration::from_millis(10)).unwrap_err();
        assert_eq!(failure, Failure::new(FailureKind::Unreachable, "the key service has not answered after 0.1s"));
    }
}
