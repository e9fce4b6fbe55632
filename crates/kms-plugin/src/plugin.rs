//! The running plugin: keys on their sockets, as the configuration file says now.
use crate::cli;
use crate::configuration::{Configuration, HealthAddress, KeySettings};
use crate::confinement::Confinement;
use crate::grpc::{MESSAGE_LIMIT, Service};
use crate::health_server::{self, Keys};
use crate::key::Key;
use crate::log::{self, Level};
use crate::paths::Directories;
use crate::socket::Socket;
use crate::v2::key_management_service_server::KeyManagementServiceServer;
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;

/// How often the configuration file is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long requests under way may take when a key or the process ends.
const DRAIN: Duration = Duration::from_secs(5);
/// Requests of one connection at once.
const REQUESTS: usize = 64;

/// Serves until SIGTERM or SIGINT. An error is why it could not start.
pub(crate) async fn serve(path: &Path, configuration: Configuration, confinement: Confinement) -> Result<(), String> {
    let members = json!({"landlock": confinement.landlock, "seccomp": confinement.seccomp});
    log::line(Level::Info, "the process is confined", members);
    let no_signals = |error: std::io::Error| format!("cannot wait for signals: {error}");
    let mut terminate = signal(SignalKind::terminate()).map_err(no_signals)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(no_signals)?;
    let mut reload = signal(SignalKind::hangup()).map_err(no_signals)?;
    let mut look = interval(LOOK_EVERY);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut plugin = Plugin { confinement, served: Vec::new(), keys: Keys::default(), health: None };
    let problems = plugin.follow(&configuration).await;
    if !problems.is_empty() {
        plugin.stop().await;
        return Err(problems.join("; "));
    }
    let mut wanted = Ok(configuration);
    loop {
        tokio::select! {
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            _ = reload.recv() => {}
            _ = look.tick() => {}
        }
        let found = cli::read(path);
        if found != wanted {
            match &found {
                Ok(_) => log::line(Level::Info, "the configuration has changed", json!({})),
                Err(problems) => {
                    let message = "the changed configuration is not valid: the last valid one stays in effect";
                    log::line(Level::Error, message, json!({"problems": problems}));
                }
            }
            wanted = found;
        }
        if let Ok(configuration) = &wanted {
            plugin.follow(configuration).await;
        }
    }
    log::line(Level::Info, "ending: requests under way are finished", json!({}));
    plugin.stop().await;
    Ok(())
}

/// What runs now.
struct Plugin {
    confinement: Confinement,
    served: Vec<ServedKey>,
    keys: Keys,
    health: Option<(HealthAddress, JoinHandle<()>)>,
}

impl Plugin {
    /// Brings what runs to what is configured; a key whose settings are the same is not touched. Returns what could not be
    /// done, which the next look tries again.
    async fn follow(&mut self, wanted: &Configuration) -> Vec<String> {
        let mut problems = Vec::new();
        let is_wanted = |served: &ServedKey| wanted.keys.contains(&served.key.settings) && !served.server.is_finished();
        let (stay, go): (Vec<_>, Vec<_>) = std::mem::take(&mut self.served).into_iter().partition(is_wanted);
        self.served = stay;
        for served in go {
            served.stop().await;
        }
        for settings in &wanted.keys {
            if self.served.iter().any(|served| served.key.settings == *settings) {
                continue;
            }
            let refused = self.confinement.refuses(&Directories::of_key(settings));
            match refused.map_or_else(|| ServedKey::start(settings), Err) {
                Ok(served) => self.served.push(served),
                Err(problem) => problems.push(format!("key {}: {problem}", settings.name)),
            }
        }
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) =
            self.served.iter().map(|served| Arc::clone(&served.key)).collect();
        problems.extend(self.follow_health(wanted.health.as_ref()).await);
        for problem in &problems {
            log::line(Level::Error, "cannot serve what is configured", json!({"cause": problem}));
        }
        problems
    }

    async fn follow_health(&mut self, wanted: Option<&HealthAddress>) -> Option<String> {
        if self.health.as_ref().map(|(address, _)| address) == wanted {
            return None;
        }
        if let Some((_, task)) = self.health.take() {
            task.abort();
            // Its address is free when it has ended.
            let _ = task.await;
        }
        match health_server::start(wanted?, Arc::clone(&self.keys)).await {
            Ok(task) => self.health = wanted.map(|address| (address.clone(), task)),
            Err(problem) => return Some(problem),
        }
        None
    }

    async fn stop(&mut self) {
        if let Some((_, task)) = self.health.take() {
            task.abort();
            let _ = task.await;
        }
        let stopping: Vec<_> = self.served.drain(..).map(|served| tokio::spawn(served.stop())).collect();
        for stopped in stopping {
            let _ = stopped.await;
        }
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
    fn start(settings: &KeySettings) -> Result<Self, String> {
        let (socket, listener) = Socket::open(&settings.socket, settings.owner).map_err(|error| error.to_string())?;
        let listener = UnixListener::from_std(listener).map_err(|error| error.to_string())?;
        let key = Key::new(settings.clone());
        let probing = tokio::spawn(Arc::clone(&key).probe_forever()).abort_handle();
        let (end, ended) = oneshot::channel();
        let service = KeyManagementServiceServer::new(Service(Arc::clone(&key)))
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT);
        let name = settings.name.clone();
        let server = tokio::spawn(async move {
            let mut server = Server::builder().concurrency_limit_per_connection(REQUESTS).max_concurrent_streams(256);
            let ended = async { drop(ended.await) };
            let served = server
                .add_service(service)
                .serve_with_incoming_shutdown(UnixListenerStream::new(listener), ended)
                .await;
            if let Err(error) = served {
                let members = json!({"key": name, "cause": error.to_string()});
                log::line(Level::Error, "the socket is no longer served", members);
            }
        });
        let members = json!({"key": settings.name, "socket": settings.socket.display().to_string()});
        log::line(Level::Info, "serving a key", members);
        Ok(Self { key, probing, server, end, socket })
    }

    /// Lets requests under way finish, then removes the socket.
    async fn stop(self) {
        let Self { key, probing, mut server, end, socket } = self;
        // The server may have ended by itself.
        let _ = end.send(());
        if timeout(DRAIN, &mut server).await.is_err() {
            server.abort();
        }
        probing.abort();
        drop(socket);
        log::line(Level::Info, "no longer serving a key", json!({"key": key.settings.name}));
    }
}
