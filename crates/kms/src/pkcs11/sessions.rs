//! Sessions with a token: opened and logged in when they are needed, used again, and replaced when they are lost.
use super::failures::{Recovery, TokenError};
use super::module::{Generation, Module};
use super::{Pkcs11Settings, Pkcs11Token, pin};
use crate::{Failure, FailureKind};
use cryptoki::context::Pkcs11;
use cryptoki::error::{Error, RvError};
use cryptoki::object::ObjectHandle;
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A session that is logged in, and the serial number of its token.
#[derive(Debug)]
pub(super) struct TokenSession {
    pub(super) session: Session,
    pub(super) serial: String,
}

/// The sessions of one key.
#[derive(Debug)]
pub(super) struct Sessions {
    settings: Pkcs11Settings,
    module: Arc<Module>,
    pool: Mutex<Pool>,
}

/// What is valid as long as the module is not restarted.
#[derive(Debug, Default)]
struct Pool {
    generation: Generation,
    idle: Vec<TokenSession>,
    /// Keys that were found, by their version.
    handles: BTreeMap<String, ObjectHandle>,
}

impl Sessions {
    pub(super) fn new(settings: Pkcs11Settings) -> Self {
        let module = Module::at(&settings.module);
        Self { settings, module, pool: Mutex::default() }
    }

    pub(super) fn settings(&self) -> &Pkcs11Settings {
        &self.settings
    }

    /// Does some work in a session. Where that fails since sessions or the device were lost, once more in new ones.
    pub(super) fn run<T>(&self, work: impl Fn(&TokenSession) -> Result<T, TokenError>) -> Result<T, Failure> {
        let mut tried = Recovery::Nothing;
        loop {
            let mut seen = 0;
            let error = match self.attempt(&work, &mut seen) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let next = error.recovery();
            if next <= tried {
                return Err(error.into_failure());
            }
            self.forget();
            if next == Recovery::NewStart {
                self.module.restart(seen);
            }
            tried = next;
        }
    }

    /// The key of a version, where an earlier call has found it.
    pub(super) fn found(&self, version: &str) -> Option<ObjectHandle> {
        self.pool().handles.get(version).copied()
    }

    /// Notes which key has a version.
    pub(super) fn note(&self, version: &str, handle: ObjectHandle) {
        self.pool().handles.insert(version.to_owned(), handle);
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attempt<T>(
        &self,
        work: impl Fn(&TokenSession) -> Result<T, TokenError>,
        seen: &mut Generation,
    ) -> Result<T, TokenError> {
        self.module.with(|library, generation| {
            *seen = generation;
            let open = match self.take(generation) {
                Some(open) => open,
                None => self.open(library)?,
            };
            let result = work(&open);
            match &result {
                Ok(_) => self.pool().idle.push(open),
                // What is wrong with it is not known: it is not used again.
                Err(_) => drop(open.session.close()),
            }
            result
        })
    }

    /// A session that is free. What an earlier start of the module opened is gone with it.
    fn take(&self, generation: Generation) -> Option<TokenSession> {
        let mut pool = self.pool();
        if pool.generation != generation {
            *pool = Pool { generation, ..Pool::default() };
        }
        pool.idle.pop()
    }

    /// Closes free sessions and forgets handles.
    fn forget(&self) {
        let idle = {
            let mut pool = self.pool();
            pool.handles.clear();
            (pool.generation, std::mem::take(&mut pool.idle))
        };
        close(&self.module, idle);
    }

    fn open(&self, library: &Pkcs11) -> Result<TokenSession, TokenError> {
        let slot = self.slot(library)?;
        let serial = library.get_token_info(slot)?.serial_number().to_owned();
        // Closed by hand: after a restart of the module the same number may be another session.
        let session = library.open_ro_session_no_drop(slot)?;
        match self.log_in(&session, &serial) {
            Ok(()) => Ok(TokenSession { session, serial }),
            Err(error) => {
                drop(session.close());
                Err(error)
            }
        }
    }

    fn slot(&self, library: &Pkcs11) -> Result<Slot, TokenError> {
        let slots = library.get_slots_with_token()?;
        let module = self.settings.module.display();
        let absent = |what: String| {
            let message = format!("{module} has {what}: connect the token, or correct the configuration");
            TokenError::Absent(Failure::new(FailureKind::Unreachable, message))
        };
        match &self.settings.token {
            Pkcs11Token::Slot(number) => {
                let found = slots.into_iter().find(|slot| slot.id() == *number);
                found.ok_or_else(|| absent(format!("no token in slot {number}")))
            }
            Pkcs11Token::Label(label) => {
                let has_label = |slot: &Slot| library.get_token_info(*slot).is_ok_and(|token| token.label() == label);
                let found: Vec<Slot> = slots.into_iter().filter(has_label).collect();
                match found.as_slice() {
                    [slot] => Ok(*slot),
                    [] => Err(absent(format!("no token with the label {label}"))),
                    _ => Err(absent(format!("{} tokens with the label {label}", found.len()))),
                }
            }
        }
    }

    /// Logs in, for all sessions of this process with the token; one of them may have done so.
    fn log_in(&self, session: &Session, serial: &str) -> Result<(), TokenError> {
        let refused = self.module.refused_pin(serial);
        let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
        let file = &self.settings.pin_file;
        let pin = pin::read(file).map_err(TokenError::Known)?;
        let denied = |cause: &str| {
            let message = format!("{cause}. Correct the PIN in {}", file.display());
            TokenError::Known(Failure::new(FailureKind::AccessDenied, message))
        };
        if refused.as_ref() == Some(&pin) {
            return Err(denied(
                "the token has refused the PIN, which is not tried again so that the token is not locked",
            ));
        }
        match session.login(UserType::User, Some(&AuthPin::from(pin.expose().as_str()))) {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => {
                *refused = None;
                Ok(())
            }
            Err(Error::Pkcs11(RvError::PinIncorrect | RvError::PinInvalid | RvError::PinLenRange, _)) => {
                *refused = Some(pin);
                Err(denied("the token refuses the PIN"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Sessions {
    /// On a thread: a device that does not answer must not stop whoever removes the key.
    fn drop(&mut self) {
        let pool = std::mem::take(&mut *self.pool());
        let module = Arc::clone(&self.module);
        if !pool.idle.is_empty() {
            std::thread::spawn(move || close(&module, (pool.generation, pool.idle)));
        }
    }
}

/// Closes sessions, if the module still is the one that opened them.
fn close(module: &Module, (generation, idle): (Generation, Vec<TokenSession>)) {
    let closed = module.with(|_, now| {
        for open in idle.into_iter().filter(|_| now == generation) {
            // A session that was lost cannot be closed either.
            let _ = open.session.close();
        }
        Ok(())
    });
    // Without a module there are no sessions.
    drop(closed);
}
