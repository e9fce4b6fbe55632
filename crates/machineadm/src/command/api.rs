//! The cluster that a command works on: its kubeconfig, a connection, and objects to and from JSON.
use super::token::arguments::Connection;
use crate::command_error::CommandError;
use cluster::{ApiServer, Error, Kubeconfig, Timeouts, Value};
use engine::outcome::chain;
use fetch::Proxy;
use host::linux::input::{self, Care};
use objects::{Object, SMALL_FILE_LIMIT};
use serde::de::DeserializeOwned;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Where kubeadm puts the administrator's.
const ADMIN: &str = objects::kubernetes_paths::ADMIN_KUBECONFIG;

/// The kubeconfig that was named, else the one that kubeadm would use.
pub(super) fn kubeconfig(connection: &Connection) -> Result<Kubeconfig, CommandError> {
    // An empty name is none, as kubeadm has it.
    let named = connection.kubeconfig.as_ref().filter(|path| !path.as_os_str().is_empty());
    let places = match named {
        Some(path) => vec![path.clone()],
        None => places(std::env::var_os("KUBECONFIG"), std::env::var_os("HOME")),
    };
    let path = places.iter().find(|path| path.exists()).or(places.first());
    let path = path.cloned().unwrap_or_else(|| ADMIN.into());
    load(&path, connection.context.as_deref()).map_err(|error| error.with_remedies(remedy(named, &places)))
}

/// Reads a kubeconfig. One that other users can write may name a server and credentials, as with kubectl, but no program.
fn load(path: &Path, context: Option<&str>) -> Result<Kubeconfig, CommandError> {
    let invalid = |error: Error| CommandError::invalid(chain(&error));
    // An absolute name, since `-` is no standard input here.
    let name = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let untrusted = match input::read(&name.to_string_lossy(), Care::Applying, SMALL_FILE_LIMIT as u64) {
        Ok(bytes) => return Kubeconfig::read_context(&bytes, path, context).map_err(invalid),
        Err(error) => error,
    };
    let kubeconfig = Kubeconfig::load_context(path, context).map_err(invalid)?;
    match kubeconfig.exec {
        None => Ok(kubeconfig),
        Some(_) => {
            let text = format!("the exec plugin of the kubeconfig is not started: {}", chain(&untrusted));
            Err(CommandError::invalid(text).with_remedies(untrusted.advice()))
        }
    }
}

/// Where kubeadm looks, in its order: the first that is there counts.
fn places(listed: Option<OsString>, home: Option<OsString>) -> Vec<PathBuf> {
    let is_said = |value: &OsString| !value.is_empty();
    let listed = listed.filter(is_said).map(|list| std::env::split_paths(&list).collect::<Vec<_>>());
    let at_home = || home.filter(is_said).map(|home| Path::new(&home).join(".kube/config")).into_iter().collect();
    let mut places: Vec<_> = listed.unwrap_or_else(at_home);
    places.retain(|path| !path.as_os_str().is_empty());
    places.push(ADMIN.into());
    places
}

/// What helps when nothing is where it was looked for.
fn remedy(named: Option<&PathBuf>, places: &[PathBuf]) -> Option<String> {
    if named.is_some() || places.iter().any(|path| path.exists()) {
        return None;
    }
    let places: Vec<_> = places.iter().map(|path| path.display().to_string()).collect();
    Some(format!(
        "pass a kubeconfig with --kubeconfig FILE or $KUBECONFIG; none of these files exists: {}",
        places.join(", ")
    ))
}

/// A connection that reports on standard error when it has to wait. Exec plugins and the proxy of the environment are
/// used as by kubectl.
pub(super) fn connect(kubeconfig: Kubeconfig) -> Result<ApiServer, CommandError> {
    connect_within(kubeconfig, Timeouts::default())
}

/// The same with other timeouts.
pub(super) fn connect_within(kubeconfig: Kubeconfig, timeouts: Timeouts) -> Result<ApiServer, CommandError> {
    let kubeconfig = kubeconfig.or_proxy(Proxy::of_environment(|name| std::env::var(name).ok()));
    let kubeconfig = kubeconfig.authenticated(&mut |line| tell!("  | {line}")).map_err(|error| failed(&error))?;
    let server = ApiServer::connect(kubeconfig, timeouts);
    let server = server.map_err(|error| CommandError::usage(chain(&error)))?;
    Ok(server.telling(|waiting| {
        tell!("{}; retrying for {} s", chain(waiting.last), waiting.left.as_secs());
    }))
}

/// The system's generator.
pub(crate) fn entropy(buffer: &mut [u8]) -> std::io::Result<()> {
    host::linux::entropy(buffer).map_err(|error| std::io::Error::other(chain(&error)))
}

/// What the cluster said, as a failure.
pub(super) fn failed(error: &Error) -> CommandError {
    CommandError::failed(said(error))
}

/// What the cluster said, with its causes.
pub(super) fn said(error: &Error) -> String {
    chain(error)
}

/// JSON whose texts are overwritten when it goes.
pub(super) struct Wiped(pub(super) Value);

impl Drop for Wiped {
    fn drop(&mut self) {
        objects::wipe(&mut self.0);
    }
}

impl std::ops::Deref for Wiped {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

/// An object as the API server reads it.
pub(super) fn body(object: &Object) -> Result<Wiped, CommandError> {
    let body = serde_json::to_value(object).map(Wiped);
    body.map_err(|_| CommandError::failed("an object cannot be written as JSON"))
}

/// An object as we read it. What the parser says could quote a value.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, CommandError> {
    let value = Wiped(value);
    let read = T::deserialize(&value.0);
    read.map_err(|_| CommandError::failed("the API server returned an object of another kind"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubeconfig_is_looked_for_where_kubeadm_looks() {
        let places = |listed: &str, home: &str| {
            let said = |text: &str| (!text.is_empty()).then(|| text.into());
            let found = places(said(listed), said(home));
            found.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(places("", "/h"), "/h/.kube/config /etc/kubernetes/admin.conf");
        assert_eq!(places("/a::/b", "/h"), "/a /b /etc/kubernetes/admin.conf");
        assert_eq!(places(":", ""), "/etc/kubernetes/admin.conf");
    }
}
