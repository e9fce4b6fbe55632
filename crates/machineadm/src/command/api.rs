//! The cluster that a command works on: its kubeconfig, a connection, and objects to and from JSON.
use super::wrong_use;
use crate::context::fail;
use cluster::{ApiServer, Error, Kubeconfig, Timeouts, Value};
use host::contract::Exit;
use machine::outcome::chain;
use objects::Object;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Where kubeadm puts the administrator's.
const ADMIN: &str = "/etc/kubernetes/admin.conf";

/// The kubeconfig that was named, else `$KUBECONFIG`, else the administrator's.
pub(super) fn kubeconfig(named: &Option<PathBuf>) -> Result<Kubeconfig, Exit> {
    let environment = std::env::var_os("KUBECONFIG").filter(|value| !value.is_empty()).map(PathBuf::from);
    let path = named.clone().or(environment).unwrap_or_else(|| ADMIN.into());
    Kubeconfig::load(&path).map_err(|error| {
        let hint = if path == Path::new(ADMIN) { "\nremedy: name a kubeconfig with --kubeconfig FILE" } else { "" };
        eprintln!("error: {}{hint}", chain(&error));
        Exit::Input
    })
}

/// A connection that says on standard error when it has to wait.
pub(super) fn connect(kubeconfig: Kubeconfig) -> Result<ApiServer, Exit> {
    let server = ApiServer::connect(kubeconfig, Timeouts::default()).map_err(|error| wrong_use(&chain(&error)))?;
    Ok(server.telling(|waiting| {
        eprintln!("{}; trying again for {} s", chain(waiting.last), waiting.left.as_secs());
    }))
}

/// Prints what the cluster said.
pub(super) fn failed(error: &Error) -> Exit {
    fail(&chain(error))
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
pub(super) fn body(object: &Object) -> Result<Wiped, Exit> {
    serde_json::to_value(object).map(Wiped).map_err(|_| fail("an object of ours can't be written as JSON"))
}

/// An object as we read it. What the parser says could quote a value.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, Exit> {
    let value = Wiped(value);
    T::deserialize(&value.0).map_err(|_| fail("the API server answered an object that is not of its kind"))
}
