//! `machineadm token create`: everything is checked before the first Secret is made.
use super::{
    arguments::Create,
    effect,
    join_command::{CertificateKey, Invitation},
    tried, wanted,
};
use crate::{command::api, context::fail, show};
use cluster::{ApiServer, Created};
use discovery::{TokenSettings, Usage, token_secret};
use host::contract::Exit;
use jiff::Timestamp;
use objects::{Object, Secret};

pub(super) fn run(asked: &Create) -> Result<Exit, Exit> {
    let tokens = wanted::tokens(asked, Timestamp::now())?;
    let key = asked.certificate_key.as_deref().map(CertificateKey::read).transpose()?;
    let kubeconfig = api::kubeconfig(&asked.connection.kubeconfig)?;
    let invitation = match asked.print_join_command {
        true => Some(Invitation::of(&kubeconfig)?),
        false => None,
    };
    let server = api::connect(kubeconfig)?;
    let mut exit = Exit::Done;
    for settings in &tokens {
        match create(&server, settings, asked.dry_run) {
            Ok(()) => told(settings, asked.dry_run, invitation.as_ref(), key.as_ref()),
            Err(failed) => exit = failed,
        }
    }
    Ok(exit)
}

/// Makes one token. One with the same id is an error, unless it is the very same.
fn create(server: &ApiServer, settings: &TokenSettings, dry_run: bool) -> Result<(), Exit> {
    let object = Object::from(settings.secret());
    let body = api::body(&object)?;
    let created = server.create(&object.collection(), &body, effect(dry_run)).map_err(|error| api::failed(&error))?;
    match created {
        Created::Created(made) => {
            drop(api::Wiped(made));
            Ok(())
        }
        Created::Exists { .. } => existing(server, &object.path(), settings),
    }
}

/// The answer to an earlier try may have been lost, or the same command ran before.
fn existing(server: &ApiServer, path: &str, wanted: &TokenSettings) -> Result<(), Exit> {
    let live = server.get(path).map_err(|error| api::failed(&error))?;
    let live = live.map(api::read::<Secret>).transpose()?;
    let same = live
        .as_ref()
        .and_then(|secret| TokenSettings::read(secret).ok())
        .is_some_and(|live| TokenSettings { expires: wanted.expires, ..live } == *wanted);
    if same { Ok(()) } else { Err(fail(&format!("a token with id \"{}\" already exists", wanted.token.id))) }
}

/// The token alone on standard output; what it risks on standard error.
fn told(settings: &TokenSettings, dry_run: bool, invitation: Option<&Invitation>, key: Option<&CertificateKey>) {
    if dry_run {
        let name = token_secret::name(&settings.token.id);
        eprintln!("Secret {}/{name} would be created{}", token_secret::NAMESPACE, tried(true));
        return;
    }
    match invitation {
        Some(invitation) => show::print(&invitation.command(&settings.token, key)),
        None => show::print(&format!("{}\n", settings.token.expose().as_str())),
    }
    if settings.usages.contains(Usage::Authentication.name()) {
        eprintln!("warning: {} whoever holds this token can claim to be a node of this cluster", until(settings));
    }
    if invitation.is_some() && !settings.usages.contains(Usage::Signing.name()) {
        eprintln!("warning: this token may not sign, so that a machine can't discover the cluster with it");
    }
}

fn until(settings: &TokenSettings) -> String {
    match settings.expires {
        None => "for ever, or until it is deleted,".to_owned(),
        Some(moment) => {
            let text = moment.to_string();
            format!("until {} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
        }
    }
}
