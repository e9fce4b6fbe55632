//! What is said about an id that is there already: what its token is, and what to do.
use crate::command_error::CommandError;
use discovery::{Moment, TokenId, TokenSettings, token_secret};
use jiff::Timestamp;
use objects::Secret;

/// Why no token of this id can be made, and the next step.
pub(super) fn error(id: &TokenId, live: &Secret, now: Timestamp) -> CommandError {
    // `token delete` leaves alone what is no token.
    let delete = match token_secret::id(live) {
        Ok(_) => format!("machineadm token delete {id}"),
        Err(_) => format!("kubectl --namespace={} delete secret {}", token_secret::NAMESPACE, live.metadata.name),
    };
    CommandError::failed(format!("a token with id \"{id}\" already exists: {}", state(live, now)))
        .with_remedy(format!("use another id, or delete that token first with `{delete}`"))
}

fn state(live: &Secret, now: Timestamp) -> String {
    if live.metadata.deletion_timestamp.is_some() {
        return "it is being deleted".to_owned();
    }
    match TokenSettings::read(live).map(|settings| settings.expires) {
        Err(reason) => format!("its Secret is not a valid token: {reason}"),
        Ok(None) => "it never expires".to_owned(),
        Ok(Some(moment)) if moment <= Moment::from(now) => format!("it expired at {}", in_words(moment)),
        Ok(Some(moment)) => format!("it expires at {}", in_words(moment)),
    }
}

/// Such as `2026-11-16 05:32 UTC`.
pub(crate) fn in_words(moment: Moment) -> String {
    let text = moment.to_string();
    format!("{} UTC", text.get(..16).unwrap_or(&text).replace('T', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_told_with_its_end() {
        let now: Timestamp = "2026-11-16T05:00:00Z".parse().unwrap();
        let mut settings = TokenSettings::new("abcdef.0123456789abcdef".parse().unwrap());
        let told = |settings: &TokenSettings| error(&settings.token.id, &settings.secret(), now).to_string();
        assert!(
            told(&settings).starts_with("error: a token with id \"abcdef\" already exists: it never expires\nremedy: ")
        );
        settings.expires = Some(now.into());
        assert!(told(&settings).contains("exists: it expired at 2026-11-16 05:00 UTC\n"));
        settings.expires = Some("2026-11-16T05:00:01Z".parse::<Timestamp>().unwrap().into());
        assert!(told(&settings).contains("exists: it expires at 2026-11-16 05:00 UTC\n"));
        let mut secret = settings.secret();
        secret.secret_type = "Opaque".into();
        assert!(
            error(&settings.token.id, &secret, now)
                .text()
                .contains("exists: its Secret is not a valid token: its type")
        );
        let remedy = error(&settings.token.id, &secret, now).to_string();
        assert!(remedy.contains("`kubectl --namespace=kube-system delete secret bootstrap-token-abcdef`"), "{remedy}");
        secret.metadata.deletion_timestamp = Some("2026-11-16T05:00:00Z".into());
        assert!(error(&settings.token.id, &secret, now).text().ends_with("exists: it is being deleted"));
        assert!(!told(&settings).contains("0123456789abcdef"));
    }
}
