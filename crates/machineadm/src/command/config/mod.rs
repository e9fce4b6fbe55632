//! `machineadm config`: kubeadm's configuration files and its ConfigMap.
pub(crate) mod arguments;
mod cluster_map;
mod convert;
mod defaults;
mod edit_map;
mod import;
mod import_source;
mod input;
mod losses;
mod map_diff;
mod validate;

use crate::command_error::CommandError;
use arguments::Config;
use host::contract::Exit;
pub(crate) use input::with_directories;
use kubeadm::{ApiVersion, Target};

/// Runs what is asked for.
pub(crate) fn run(asked: &Config) -> Result<Exit, CommandError> {
    match asked {
        Config::Convert(asked) => convert::run(asked),
        Config::Validate(asked) => validate::run(asked),
        Config::Defaults(asked) => defaults::run(asked),
        Config::EditMap(asked) => edit_map::run(asked),
        Config::Import(asked) => import::run(asked),
    }
}

/// The Kubernetes version as typed, and the kubeadm API that is written for it.
fn target(version: &str, api: Option<&str>) -> Result<Target, CommandError> {
    let unknown = |error| CommandError::invalid(format!("--kubernetes-version {version}: {error}"));
    let target = Target::new(version).map_err(unknown)?;
    let Some(name) = api else { return Ok(target) };
    let name = name.strip_prefix("kubeadm.k8s.io/").unwrap_or(name);
    let known = || CommandError::invalid("--api-version must be one of v1beta1, v1beta2, v1beta3, v1beta4 and v1");
    let api = ApiVersion::named(name).ok_or_else(known)?;
    target.with_api(api).map_err(|error| CommandError::invalid(error.to_string()))
}
