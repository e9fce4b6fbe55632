//! `machineadm token delete`: by id, or by a whole token if its secret half is right.
use super::{arguments::Delete, effect, tried};
use crate::{
    command::{api, wrong_input},
    context::fail,
    show,
};
use cluster::{ApiServer, Deleted, Precondition};
use discovery::{BootstrapToken, TokenId, TokenSecret, token_secret};
use host::contract::Exit;
use objects::Secret;

/// How often others may change a token between our look and our deletion.
const TIMES: usize = 5;

/// Which token, and what proves that it is the one that was meant.
struct Meant {
    id: TokenId,
    secret: Option<TokenSecret>,
}

pub(super) fn run(asked: &Delete) -> Result<Exit, Exit> {
    let meant = asked.tokens.iter().enumerate().map(|(index, text)| meant(index, text));
    let (meant, problems): (Vec<_>, Vec<_>) = meant.partition(Result::is_ok);
    if !problems.is_empty() {
        return Err(wrong_input(&problems.into_iter().filter_map(Result::err).collect::<Vec<_>>()));
    }
    let server = api::connect(api::kubeconfig(&asked.connection.kubeconfig)?)?;
    let mut exit = Exit::Done;
    for meant in meant.into_iter().flatten() {
        if let Err(failed) = delete(&server, &meant, asked.dry_run) {
            exit = failed;
        }
    }
    Ok(exit)
}

/// The text is not quoted where it is wrong: it may hold a secret.
fn meant(index: usize, text: &str) -> Result<Meant, String> {
    if let Ok(BootstrapToken { id, secret }) = text.parse() {
        return Ok(Meant { id, secret: Some(secret) });
    }
    let id = text.parse().map_err(|_| format!("argument {} is neither a token's id nor a token", index + 1))?;
    Ok(Meant { id, secret: None })
}

fn delete(server: &ApiServer, meant: &Meant, dry_run: bool) -> Result<(), Exit> {
    let id = &meant.id;
    let path = format!("/api/v1/namespaces/{}/secrets/{}", token_secret::NAMESPACE, token_secret::name(id));
    for _ in 0..TIMES {
        let Some(live) = server.get(&path).map_err(|error| named(id, &error))? else {
            eprintln!("bootstrap token \"{id}\" is not there");
            return Ok(());
        };
        let live: Secret = api::read(live)?;
        allowed(&live, meant)?;
        let only_if =
            Precondition { uid: live.metadata.uid.clone(), resource_version: live.metadata.resource_version.clone() };
        match server.delete(&path, &only_if, effect(dry_run)).map_err(|error| named(id, &error))? {
            Deleted::Deleted | Deleted::Absent => {
                show::print(&format!("bootstrap token \"{id}\" deleted{}\n", tried(dry_run)));
                return Ok(());
            }
            Deleted::Changed => {}
        }
    }
    Err(fail(&format!("bootstrap token \"{id}\": others change it all the time; try again")))
}

/// Whether this Secret is what was meant.
fn allowed(live: &Secret, meant: &Meant) -> Result<(), Exit> {
    let id = &meant.id;
    if live.secret_type != token_secret::TYPE {
        return Err(fail(&format!("the Secret {} is no bootstrap token: it was left alone", live.metadata.name)));
    }
    let right =
        meant.secret.as_ref().is_none_or(|secret| token_secret::token(live).is_ok_and(|token| token.secret == *secret));
    match right {
        true => Ok(()),
        false => Err(fail(&format!(
            "bootstrap token \"{id}\" has another secret half: it was left alone\nremedy: to delete it all the same, give its id alone"
        ))),
    }
}

fn named(id: &TokenId, error: &cluster::Error) -> Exit {
    fail(&format!("failed to delete bootstrap token \"{id}\": {}", machine::outcome::chain(error)))
}
