//! A PKCS#11 module: loaded once per process, whoever uses it, and started again when its device was lost.
use super::failures::TokenError;
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Function, Pkcs11};
use cryptoki::error::{Error, RvError};
use secret::Secret;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Between two starts of a module: a token that stays away must not disturb the keys of other tokens all the time.
const RESTART_EVERY: Duration = Duration::from_secs(5);

/// Counts the starts of a module. Handles of an earlier start mean nothing, or something else.
pub(super) type Generation = u64;

/// One module. Its functions are called under a read lock, so that nobody restarts it beneath a call.
#[derive(Debug)]
pub(super) struct Module {
    path: PathBuf,
    state: RwLock<State>,
    refused: Mutex<BTreeMap<String, Arc<RefusedPin>>>,
}

/// The PIN that a token has refused, if it has. Tokens lock themselves after a few wrong ones, so it is not tried again,
/// whichever key needs it. Whoever logs in holds the lock.
type RefusedPin = Mutex<Option<Secret<String>>>;

#[derive(Debug, Default)]
struct State {
    /// Loaded once: modules do not expect to be unloaded.
    library: Option<Pkcs11>,
    is_running: bool,
    generation: Generation,
    started: Option<Instant>,
}

impl Module {
    /// The module at this path; it is loaded when it is first called. A library counts its initialization per process, so
    /// that all keys of one share it.
    pub(super) fn at(path: &Path) -> Arc<Self> {
        static MODULES: Mutex<BTreeMap<PathBuf, Arc<Module>>> = Mutex::new(BTreeMap::new());
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        let module = modules.entry(path.clone());
        Arc::clone(
            module.or_insert_with(|| Arc::new(Self { path, state: RwLock::default(), refused: Mutex::default() })),
        )
    }

    /// What the token with this serial number has refused, for all keys on it, also those that a reload replaces.
    pub(super) fn refused_pin(&self, serial: &str) -> Arc<RefusedPin> {
        let mut tokens = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tokens.entry(serial.to_owned()).or_default())
    }

    /// Calls the module, which is started if it does not run.
    pub(super) fn with<T>(
        &self,
        call: impl FnOnce(&Pkcs11, Generation) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        self.start()?;
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        match &state.library {
            Some(library) if state.is_running => call(library, state.generation),
            // Between the two locks somebody ended it: that is retried.
            _ => Err(TokenError::Call(Error::Pkcs11(RvError::CryptokiNotInitialized, Function::Initialize))),
        }
    }

    /// Ends the module and starts it again, unless somebody did since `seen`, or calls of others are under way, or the last
    /// start is too recent. Some modules find a device only then.
    pub(super) fn restart(&self, seen: Generation) {
        let Ok(mut state) = self.state.try_write() else { return };
        let is_recent = state.started.is_some_and(|at| at.elapsed() < RESTART_EVERY);
        if state.generation != seen || is_recent {
            return;
        }
        if let Some(library) = state.library.clone().filter(|_| state.is_running) {
            // One that cannot end is started anew all the same.
            let _ = library.finalize();
        }
        state.is_running = false;
    }

    fn start(&self) -> Result<(), TokenError> {
        if self.state.read().unwrap_or_else(PoisonError::into_inner).is_running {
            return Ok(());
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.is_running {
            return Ok(());
        }
        let library = match &state.library {
            Some(library) => library.clone(),
            None => Pkcs11::new(&self.path).map_err(|error| TokenError::load(&self.path, &error))?,
        };
        match library.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
            Err(error) => return Err(TokenError::load(&self.path, &error)),
        }
        state.library = Some(library);
        state.is_running = true;
        state.generation += 1;
        state.started = Some(Instant::now());
        Ok(())
    }
}
