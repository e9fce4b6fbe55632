//! `machineadm token delete`: by id, or by a whole token if its secret half is right.
use super::{
    arguments::{Delete, Token},
    tried,
};
use crate::{
    command::api,
    command_error::{CommandError, all_succeeded},
    show::tokens::{Deletion, DeletionResult, Stream},
};
use cluster::{ApiServer, Deleted, Effect, Precondition};
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

pub(super) fn run(asked: &Delete, token: &Token) -> Result<Exit, CommandError> {
    let meant = asked.tokens.iter().enumerate().map(|(index, text)| meant(index, text));
    let (meant, problems): (Vec<_>, Vec<_>) = meant.partition(Result::is_ok);
    if !problems.is_empty() {
        return Err(CommandError::invalid_input(problems.into_iter().filter_map(Result::err)));
    }
    let server = api::connect(api::kubeconfig(&token.connection)?)?;
    let mut stream = Stream::of(asked.output);
    all_succeeded(meant.into_iter().flatten().map(|meant| {
        let ended = delete(&server, &meant, token.effect());
        let told = told(&mut stream, &meant.id, &ended, token.effect());
        all_succeeded([ended.map(|_| ()), told])
    }))?;
    Ok(Exit::Done)
}

/// The text is not quoted where it is wrong: it may hold a secret.
fn meant(index: usize, text: &str) -> Result<Meant, String> {
    if let Ok(BootstrapToken { id, secret }) = text.parse() {
        return Ok(Meant { id, secret: Some(secret) });
    }
    let id = text.parse().map_err(|_| format!("argument {} is neither a token's id nor a token", index + 1))?;
    Ok(Meant { id, secret: None })
}

/// People read on standard error what did not come about.
fn told(
    stream: &mut Stream,
    id: &TokenId,
    ended: &Result<DeletionResult, CommandError>,
    effect: Effect,
) -> Result<(), CommandError> {
    let (result, reason) = match ended {
        Ok(result) => (*result, None),
        Err(error) => (DeletionResult::Failed, error.text().lines().next()),
    };
    let line = match result {
        DeletionResult::Deleted => format!("bootstrap token \"{id}\" deleted{}\n", tried(effect)),
        DeletionResult::Absent | DeletionResult::Failed => String::new(),
    };
    if result == DeletionResult::Absent {
        tell!("bootstrap token \"{id}\" does not exist");
    }
    stream.put(&line, &Deletion { id: id.as_str(), result, reason, dry_run: effect == Effect::DryRun })
}

fn delete(server: &ApiServer, meant: &Meant, effect: Effect) -> Result<DeletionResult, CommandError> {
    let id = &meant.id;
    let path = format!("/api/v1/namespaces/{}/secrets/{}", token_secret::NAMESPACE, token_secret::name(id));
    let named =
        |error| CommandError::failed(format!("failed to delete bootstrap token \"{id}\": {}", api::said(&error)));
    for _ in 0..TIMES {
        let Some(live) = server.get(&path).map_err(named)? else { return Ok(DeletionResult::Absent) };
        let live: Secret = api::read(live)?;
        allowed(&live, meant)?;
        let only_if =
            Precondition { uid: live.metadata.uid.clone(), resource_version: live.metadata.resource_version.clone() };
        match server.delete(&path, &only_if, effect).map_err(named)? {
            Deleted::Deleted | Deleted::Absent => return Ok(DeletionResult::Deleted),
            Deleted::Changed => {}
        }
    }
    Err(CommandError::failed(format!("bootstrap token \"{id}\": other clients keep changing it; run again")))
}

/// Whether this Secret is what was meant. What the specification calls no token "MUST be ignored", by its id as well.
fn allowed(live: &Secret, meant: &Meant) -> Result<(), CommandError> {
    let id = &meant.id;
    if let Err(reason) = token_secret::id(live) {
        let name = &live.metadata.name;
        let text = format!("the Secret {name} is not a bootstrap token ({reason}): it was not deleted");
        let remedy =
            format!("if it is not needed, run `kubectl --namespace={} delete secret {name}`", token_secret::NAMESPACE);
        return Err(CommandError::failed(text).with_remedy(remedy));
    }
    let right =
        meant.secret.as_ref().is_none_or(|secret| token_secret::token(live).is_ok_and(|token| token.secret == *secret));
    match right {
        true => Ok(()),
        false => {
            let text = format!("bootstrap token \"{id}\" has another secret half: it was not deleted");
            Err(CommandError::failed(text).with_remedy("to delete it anyway, pass its id only"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::TokenSettings;

    fn secret(change: fn(&mut Secret)) -> Secret {
        let mut secret = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap()).secret();
        change(&mut secret);
        secret
    }

    fn put(secret: &mut Secret, key: &str, value: &str) {
        secret.data.insert(key.to_owned(), value.into());
    }

    #[test]
    fn a_secret_that_is_no_token_is_not_deleted_by_its_id_or_by_the_whole_token() {
        for (live, reason) in [
            (secret(|secret| put(secret, "token-id", "fedcba")), "its token-id is not the one in its name"),
            (secret(|secret| drop(secret.data.remove("token-id"))), "it has no token-id"),
            (secret(|secret| secret.secret_type = "Opaque".into()), "its type is not bootstrap.kubernetes.io/token"),
        ] {
            for text in ["abcdef", "abcdef.0123456789abcdef"] {
                let refusal = allowed(&live, &meant(0, text).unwrap()).unwrap_err();
                let expected = format!(
                    "error: the Secret bootstrap-token-abcdef is not a bootstrap token ({reason}): it was not deleted\n\
                     remedy: if it is not needed, run `kubectl --namespace=kube-system delete secret \
                     bootstrap-token-abcdef`\n"
                );
                assert_eq!(refusal.to_string(), expected);
            }
        }
    }

    #[test]
    fn a_token_without_a_usable_secret_half_is_deleted_by_its_id_alone() {
        let live = secret(|secret| put(secret, "token-secret", "SHORT"));
        assert_eq!(allowed(&live, &meant(0, "abcdef").unwrap()), Ok(()));
        assert!(allowed(&live, &meant(0, "abcdef.0123456789abcdef").unwrap()).is_err());
        assert_eq!(allowed(&secret(|_| {}), &meant(0, "abcdef.0123456789abcdef").unwrap()), Ok(()));
    }
}
