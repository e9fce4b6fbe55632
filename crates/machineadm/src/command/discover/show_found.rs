//! A cluster that was found, for people and for programs.
use super::arguments::Form;
use crate::{
    cli::Output,
    command_error::CommandError,
    show::{self, count},
};
use discovery::{
    ClusterInfo, Pin,
    cache::{Cached, Refused},
};
use serde_json::json;

pub(super) fn print(cached: &Cached, form: Option<Form>) -> Result<(), CommandError> {
    match form {
        None => show::print_text(&text(cached)),
        Some(Form::Kubeconfig) => show::print(cached.kubeconfig()),
        Some(Form::Json) => show::machine_readable(&value(cached), Output::Json),
        Some(Form::Yaml) => show::machine_readable(&value(cached), Output::Yaml),
    }
}

/// Why something else is not kept, for programs; people have read it already.
pub(super) fn print_refused(refused: &Refused, form: Option<Form>) -> Result<(), CommandError> {
    let value = || json!({"refused": refused.to_string(), "unpinnedKeys": refused.keys()});
    match form {
        None | Some(Form::Kubeconfig) => Ok(()),
        Some(Form::Json) => show::machine_readable(&value(), Output::Json),
        Some(Form::Yaml) => show::machine_readable(&value(), Output::Yaml),
    }
}

fn text(cached: &Cached) -> String {
    let info = cached.info();
    format!("cluster   {}\nverified  {}\nCA        {}\n", info.server(), cached.proof(), roots(info))
}

fn roots(info: &ClusterInfo) -> String {
    let certificates = info.roots().certificates();
    match certificates.iter().map(|certificate| certificate.not_after).min() {
        None => "the system's CA certificates".to_owned(),
        Some(first) => format!("{}, valid until {}", count(certificates.len(), "certificate"), first.date()),
    }
}

fn value(cached: &Cached) -> serde_json::Value {
    let info = cached.info();
    let roots = info.roots().certificates().iter();
    let roots: Vec<_> = roots.map(|root| json!({"pin": Pin::of(root), "notAfter": root.not_after})).collect();
    json!({
        "server": info.server(),
        "tlsServerName": info.tls_server_name(),
        "roots": roots,
        "proof": cached.proof(),
        "proven": cached.proof().to_string(),
        "pins": cached.pins(),
        "updated": cached.updated(),
        "kubeconfig": cached.kubeconfig(),
    })
}
