//! `machineadm certs upload`: from this node's files to the Secret, and what that risks.
use super::{
    SECRET,
    arguments::Upload as Asked,
    failures::{Caller, CopyFailure, missing},
    key, layout, warn_of_skew,
};
use crate::{
    command::{api, configuration_file, duration, small_file, token::arguments::Connection},
    command_error::CommandError,
    context::silent_machine,
    show::{self, cleanup_wait::CleanupLine, count},
};
use certs::{
    CertificateKey,
    canary::{Cleanup, LONGEST_PATIENCE},
};
use cluster::{
    ApiServer,
    kubeadm_certs::{Layout, MissingCleanup, NoLayout, Upload, Uploaded},
};
use engine::certificate_files;
use host::contract::Exit;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn run(asked: &Asked, connection: &Connection, root: &Path) -> Result<Exit, CommandError> {
    small_file::one_standard_input(&[
        ("--certificate-key-file", &asked.key.certificate_key_file),
        ("--config", &asked.config),
    ])?;
    let documents = configuration_file::read(asked.config.as_deref())?;
    if documents.join.is_some() && documents.init.is_none() {
        let text = "--config has a JoinConfiguration: an upload reads certificateKey of an InitConfiguration";
        return Err(CommandError::invalid(text));
    }
    let configured = documents.init.as_ref().and_then(|init| init.certificate_key.as_ref());
    if let (Some(name), Some(_)) = (&asked.config, configured) {
        small_file::warn_if_others_read("--config", name, "the certificate key");
    }
    let given = key::given(&asked.key, configured)?;
    if asked.skip_certificate_key_print && given.is_none() {
        let text =
            "--skip-certificate-key-print requires a certificate key: a generated key that is not printed is lost";
        return Err(CommandError::usage(text).with_remedy("pass --certificate-key-file, or certificateKey in --config"));
    }
    let patience = duration("--cleanup-timeout", &asked.cleanup_timeout)?;
    if patience.as_nanos() > u128::from(LONGEST_PATIENCE.as_nanoseconds().unsigned_abs()) {
        return Err(CommandError::invalid(format!("--cleanup-timeout must be at most {LONGEST_PATIENCE}")));
    }
    let directory = layout::directory(asked.cert_dir.as_ref())?;
    let machine = silent_machine(root)?;
    let server = api::connect(api::kubeconfig(connection)?)?;
    let mut layout = match layout::of_documents(&documents)? {
        Some(layout) => layout,
        None => layout_of(&server)?,
    };
    layout.directory = directory.unwrap_or(layout.directory);
    let key = given.map_or_else(key::generated, Ok)?;
    let mut line = CleanupLine::default();
    let uploaded = server.upload_certs(Upload {
        files: &layout.files,
        found: certificate_files::found(&machine, &layout.files, &layout.directory),
        key: &key,
        missing_cleanup: match asked.accept_missing_cleanup {
            true => MissingCleanup::Accepted,
            false => MissingCleanup::Refused,
        },
        patience,
        entropy: &api::entropy,
        waiting: &mut |wait| line.show(wait),
    });
    drop(line);
    let uploaded = uploaded
        .map_err(|error| CopyFailure::of_upload(&error, &layout.directory, &asked.cleanup_timeout, Caller::Command))?;
    let now = server.time().map_err(|error| api::failed(&error))?;
    tell(&uploaded, &asked.cleanup_timeout);
    warn!("{}", risk(&uploaded));
    print(&uploaded, now, (!asked.skip_certificate_key_print).then_some(&key), asked)?;
    Ok(Exit::Done)
}

/// A cluster that kubeadm did not create has the usual files, or its user says which.
fn layout_of(server: &ApiServer) -> Result<Layout, CommandError> {
    match server.certs_layout().map_err(|error| api::failed(&error))? {
        Err(NoLayout::NoMap) => Ok(Layout::usual()),
        layout => layout.map_err(|error| CommandError::failed(error.to_string())),
    }
}

/// What people should know of an upload that a run of documents has done.
pub(crate) fn tell_of_run(uploaded: &Uploaded, within: &str) {
    tell(uploaded, within);
    warn!("{}", risk(uploaded));
}

/// What people should know beside the key.
fn tell(uploaded: &Uploaded, within: &str) {
    warn_of_skew(uploaded.skew);
    if uploaded.cleanup != Cleanup::Works {
        let (what, _) = missing(uploaded.cleanup, within);
        warn!("{what}: delete the certificates with `machineadm certs delete` when they are no longer needed");
    }
    let files = count(uploaded.entries.len(), "entry").replace("entrys", "entries");
    if uploaded.cleanup != Cleanup::Works {
        return tell!("Secret {SECRET} {} with {files}; the cluster does not delete it", verb(uploaded));
    }
    tell!("Secret {SECRET} {} with {files}; the cluster deletes it at {}", verb(uploaded), uploaded.expires);
    if let Some(token) = &uploaded.ttl.limited_by {
        tell!("this is half of the time that is left of the join token \"{token}\"");
    }
}

fn verb(uploaded: &Uploaded) -> &'static str {
    if uploaded.replaced { "replaced" } else { "created" }
}

/// The residual risk, in the specification's terms.
fn risk(uploaded: &Uploaded) -> String {
    let end = match uploaded.cleanup {
        Cleanup::Works => uploaded.expires.to_string(),
        Cleanup::TokenCleanerMissing | Cleanup::GarbageCollectorMissing => "the Secret is deleted by hand,".to_owned(),
    };
    format!(
        "until {end} anyone who has this certificate key and can read the Secret {SECRET} gets the private keys of the \
         cluster; a copy of the Secret that is read before its deletion can be decrypted with the key at any later time"
    )
}

/// The key alone goes to standard output. `now` is the API server's time.
fn print(uploaded: &Uploaded, now: Timestamp, key: Option<&CertificateKey>, asked: &Asked) -> Result<(), CommandError> {
    let digits = key.map(CertificateKey::expose_digits);
    match (asked.output, digits) {
        (None, None) => Ok(()),
        (None, Some(digits)) => show::print_whole(format!("{}\n", digits.as_str())),
        (Some(output), digits) => {
            let mut value = value(uploaded, now);
            if let Some(digits) = digits {
                value["certificateKey"] = digits.as_str().into();
            }
            show::machine_readable(&value, output)
        }
    }
}

fn value(uploaded: &Uploaded, now: Timestamp) -> Value {
    let Uploaded { owner, ttl, expires, replaced, cleanup, entries, .. } = uploaded;
    let cleanup = match cleanup {
        Cleanup::Works => "works",
        Cleanup::TokenCleanerMissing => "tokenCleanerMissing",
        Cleanup::GarbageCollectorMissing => "garbageCollectorMissing",
    };
    let mut value = json!({
        "secret": SECRET,
        "entries": entries,
        "owner": owner.id.as_str(),
        "expires": expires.to_string(),
        "secondsLeft": expires.since(now).as_nanoseconds() / 1_000_000_000,
        "replaced": replaced,
        "cleanup": cleanup,
        "risk": risk(uploaded),
    });
    if let Some(token) = &ttl.limited_by {
        value["limitedBy"] = token.as_str().into();
    }
    value
}
