//! The running plugin: keys on their sockets, as the configuration file says now.
use crate::cli;
use crate::configuration::{Configuration, HealthAddress, KeySettings};
use crate::confinement::Confinement;
use crate::connections;
use crate::driver::QuickCalls;
use crate::grpc::{MESSAGE_LIMIT, Service};
use crate::health_server::{HealthServer, Serving, Shared};
use crate::key::Key;
use crate::log::{self, Level};
use crate::paths::Directories;
use crate::socket::{Socket, SocketFile};
use crate::v2::key_management_service_server::KeyManagementServiceServer;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// How often the configuration file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long requests under way may take when a key or the process ends.
const DRAIN: Duration = Duration::from_secs(5);
/// How long clients have to read that the server ends, and the last answers. One that reads nothing is not waited for.
const NOTICE: Duration = Duration::from_millis(100);

/// Serves until SIGTERM or SIGINT. An error is why it could not start: no key can be served, or not its health. One key that
/// cannot be served, as after a reboot that has changed something, does not stop the others.
pub(crate) async fn serve(
    path: PathBuf,
    configuration: Configuration,
    confinement: Confinement,
    calls: Arc<QuickCalls>,
) -> Result<(), String> {
    let members = json!({"landlock": confinement.landlock, "seccomp": confinement.seccomp});
    log::line(Level::Info, "the process is confined", members);
    let no_signals = |error: std::io::Error| format!("cannot wait for signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
    let mut reload = signal(SignalKind::hangup()).map_err(no_signals)?;
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut plugin = Plugin::new(confinement, calls);
    let problems = plugin.follow(&configuration).await;
    let has_health = plugin.health.is_some() || configuration.health.is_none();
    if plugin.served.is_empty() || !has_health {
        plugin.stop().await;
        return Err(problems.join("; "));
    }
    let (mut seen, mut last_valid) = (Ok(configuration.clone()), configuration);
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = reload.recv() => {}
            _ = look.tick() => {}
        }
        let found = cli::read(&path);
        if found != seen {
            match &found {
                Ok(configuration) => {
                    last_valid = configuration.clone();
                    log::line(Level::Info, "the configuration has changed", json!({}));
                }
                Err(problems) => {
                    let message = "the changed configuration is not valid: the last valid one stays in effect";
                    log::line(Level::Error, message, json!({"problems": problems}));
                }
            }
            seen = found;
        }
        plugin.follow(&last_valid).await;
    }
    log::line(Level::Info, "ending: requests under way are finished", json!({}));
    plugin.stop().await;
    Ok(())
}

/// What runs now.
struct Plugin {
    confinement: Confinement,
    calls: Arc<QuickCalls>,
    served: Vec<ServedKey>,
    serving: Shared,
    health: Option<HealthServer>,
    /// What could not be done at the last look.
    problems: Vec<String>,
}

impl Plugin {
    /// One that serves nothing yet.
    fn new(confinement: Confinement, calls: Arc<QuickCalls>) -> Self {
        let (serving, served, problems) = (Shared::default(), Vec::new(), Vec::new());
        Self { confinement, calls, served, serving, health: None, problems }
    }

    /// Brings what runs to what is configured; a key whose settings are the same is not touched. Returns what could not be
    /// done, which the next look tries again.
    async fn follow(&mut self, wanted: &Configuration) -> Vec<String> {
        let mut refused = self.refused(wanted);
        // A key whose new settings need a restart of the plugin is served with its old ones until then.
        let is_wanted = |served: &ServedKey| {
            let settings = &served.key.settings;
            let is_one = wanted.keys.contains(settings) || refused.contains_key(&settings.name);
            is_one && !served.has_ended() && !matches!(served.socket.file(), SocketFile::Lost)
        };
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut self.served).into_iter().partition(is_wanted);
        self.served = stay;
        stop(go, DRAIN).await;
        let (mut problems, mut unserved) = (Vec::new(), Vec::new());
        for settings in &wanted.keys {
            let name = &settings.name;
            if self.served.iter().any(|served| served.key.settings == *settings) {
                continue;
            }
            match refused.remove(name).map_or_else(|| ServedKey::start(settings, &self.calls), Err) {
                Ok(served) => self.served.push(served),
                Err(problem) => {
                    if !self.served.iter().any(|served| served.key.settings.name == *name) {
                        unserved.push((name.clone(), problem.clone()));
                    }
                    problems.push(format!("key {name}: {problem}"));
                }
            }
        }
        let taken = self.taken();
        problems.extend(taken.iter().map(|(name, problem)| format!("key {name}: {problem}")));
        unserved.extend(taken);
        let is_served = |key: &Arc<Key>| !unserved.iter().any(|(name, _)| *name == key.settings.name);
        let keys = self.served.iter().map(|served| Arc::clone(&served.key)).filter(is_served).collect();
        *self.serving.lock().unwrap_or_else(PoisonError::into_inner) = Serving { keys, unserved };
        problems.extend(self.follow_health(wanted.health.as_ref()).await);
        // Each look finds those that last.
        for problem in problems.iter().filter(|problem| !self.problems.contains(problem)) {
            log::line(Level::Error, "cannot serve what is configured", json!({"cause": problem}));
        }
        self.problems.clone_from(&problems);
        problems
    }

    /// Names of keys whose sockets others have replaced, and who.
    fn taken(&self) -> Vec<(String, String)> {
        let by_whom = |served: &ServedKey| match served.socket.file() {
            SocketFile::Taken(error) => Some((served.key.settings.name.clone(), error.to_string())),
            SocketFile::Ours | SocketFile::Lost => None,
        };
        self.served.iter().filter_map(by_whom).collect()
    }

    /// The new settings that need what the process has given up, by the name of the key, and why they are refused.
    fn refused(&self, wanted: &Configuration) -> BTreeMap<String, String> {
        let is_new = |settings: &&KeySettings| !self.served.iter().any(|served| served.key.settings == **settings);
        let refusal = |settings: &KeySettings| {
            let problem = self.confinement.refuses(&Directories::of_key(settings))?;
            Some((settings.name.clone(), problem))
        };
        wanted.keys.iter().filter(is_new).filter_map(refusal).collect()
    }

    async fn follow_health(&mut self, wanted: Option<&HealthAddress>) -> Option<String> {
        let is_followed = match (&self.health, wanted) {
            (Some(health), Some(address)) => health.is_at(address),
            (health, wanted) => health.is_none() && wanted.is_none(),
        };
        if is_followed {
            return None;
        }
        if let Some(refused) = self.confinement.refuses(&Directories::of_health(wanted)) {
            return Some(format!("health: {refused}"));
        }
        let Some(address) = wanted else {
            self.stop_health().await;
            return None;
        };
        // Health is served at the earlier address until it is at the new one, where that can be.
        if self.health.as_ref().is_some_and(|health| health.excludes(address)) {
            self.stop_health().await;
        }
        match HealthServer::start(address, Arc::clone(&self.serving)).await {
            Ok(health) => {
                self.stop_health().await;
                self.health = Some(health);
                None
            }
            Err(problem) => Some(problem),
        }
    }

    async fn stop_health(&mut self) {
        if let Some(health) = self.health.take() {
            health.stop().await;
        }
    }

    async fn stop(&mut self) {
        self.stop_health().await;
        stop(std::mem::take(&mut self.served), DRAIN).await;
    }
}

/// Stops keys, all at the same time; their requests under way have until the limit.
async fn stop(keys: Vec<ServedKey>, limit: Duration) {
    let stopping: Vec<_> = keys.into_iter().map(|served| tokio::spawn(served.stop(limit))).collect();
    for stopped in stopping {
        let _ = stopped.await;
    }
}

/// A key on its socket.
struct ServedKey {
    key: Arc<Key>,
    probing: AbortHandle,
    server: JoinHandle<()>,
    end: oneshot::Sender<()>,
    socket: Socket,
}

impl ServedKey {
    fn start(settings: &KeySettings, calls: &Arc<QuickCalls>) -> Result<Self, String> {
        Self::serve(settings, || Key::new(settings.clone(), Arc::clone(calls)))
    }

    /// Creates the socket, then the key.
    fn serve(settings: &KeySettings, key: impl FnOnce() -> Arc<Key>) -> Result<Self, String> {
        let (socket, listener) = Socket::open(&settings.socket, settings.owner).map_err(|error| error.to_string())?;
        let listener = UnixListener::from_std(listener).map_err(|error| error.to_string())?;
        let key = key();
        let probing = tokio::spawn(Arc::clone(&key).probe_forever()).abort_handle();
        let (end, ended) = oneshot::channel();
        let service = KeyManagementServiceServer::new(Service(Arc::clone(&key)))
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT);
        let server = tokio::spawn(connections::serve(listener, service, ended));
        let members = json!({"key": settings.name, "socket": settings.socket.display().to_string()});
        log::line(Level::Info, "serving a key", members);
        Ok(Self { key, probing, server, end, socket })
    }

    /// Whether one of its tasks has panicked, as where the system has no thread left for a probe.
    fn has_ended(&self) -> bool {
        self.server.is_finished() || self.probing.is_finished()
    }

    /// Lets requests under way finish, then removes the socket.
    async fn stop(self, limit: Duration) {
        let Self { key, probing, server, end, socket } = self;
        // The server may have ended by itself.
        let _ = end.send(());
        let unanswered = drain(&key, server, limit).await;
        probing.abort();
        drop(socket);
        let level = if unanswered == 0 { Level::Info } else { Level::Warning };
        log::line(level, "no longer serving a key", json!({"key": key.settings.name, "unanswered": unanswered}));
    }
}

/// Waits until a server that ends has no connection, or none with a request, and closes what is left. Returns how many
/// requests were not answered within the limit.
async fn drain(key: &Key, mut server: JoinHandle<()>, limit: Duration) -> usize {
    let no_request = async {
        sleep(NOTICE).await;
        // What is asked from now on is refused, and so answered too.
        let _none = key.no_request().await;
        sleep(NOTICE).await;
    };
    let drained = timeout(limit, async {
        tokio::select! {
            _ = &mut server => {}
            () = no_request => {}
        }
    });
    let is_drained = drained.await.is_ok();
    server.abort();
    if is_drained { 0 } else { key.requests() }
}

#[cfg(test)]
mod tests;
