//! Tokens as `init` and `join` are given them.
use crate::{
    BootstrapToken, Lifetime,
    method::{Problem, given_token},
};
use secret::Secret;

/// What `init` does about a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InitToken {
    /// It makes none: `--token ""`.
    None,
    /// It makes this one.
    Given(BootstrapToken, Lifetime),
    /// It makes one up and shows it.
    Generate(Lifetime),
}

/// What `--token` and `--token-ttl` of `init` mean: a token for a day that is made up, unless told otherwise.
pub fn init_token(token: Option<&Secret<String>>, ttl: Option<&str>) -> Result<InitToken, Vec<Problem>> {
    let mut problems = Vec::new();
    let lifetime = ttl.map_or(Ok(Lifetime::default()), Lifetime::read);
    let lifetime = lifetime.unwrap_or_else(|error| {
        problems.push(Problem::new("--token-ttl", error.to_string()));
        Lifetime::default()
    });
    let meant = match token.map(|token| token.expose().as_str()) {
        None => Some(InitToken::Generate(lifetime)),
        Some("") => Some(InitToken::None),
        Some(text) => given_token("--token", text, &mut problems).map(|token| InitToken::Given(token, lifetime)),
    };
    meant.filter(|_| problems.is_empty()).ok_or(problems)
}

/// The token that `join` authenticates with for TLS bootstrap: `--tls-bootstrap-token`, else `--token`.
pub fn tls_bootstrap_token(
    tls_bootstrap_token: Option<&Secret<String>>,
    token: Option<&Secret<String>>,
) -> Result<Option<BootstrapToken>, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut read = |flag, text: Option<&Secret<String>>| given_token(flag, text?.expose(), &mut problems);
    let (tls, token) = (read("--tls-bootstrap-token", tls_bootstrap_token), read("--token", token));
    if problems.is_empty() { Ok(tls.or(token)) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn init_makes_a_token_for_a_day_unless_told_otherwise() {
        assert_eq!(init_token(None, None), Ok(InitToken::Generate(Lifetime::default())));
        assert_eq!(init_token(Some(&secret("")), None), Ok(InitToken::None));
        let given = init_token(Some(&secret("abcdef.0123456789abcdef")), Some("0"));
        assert_eq!(given, Ok(InitToken::Given("abcdef.0123456789abcdef".parse().unwrap(), Lifetime::Forever)));
    }

    #[test]
    fn everything_that_is_wrong_is_said_and_no_token_quoted() {
        let problems = init_token(Some(&secret("hunter2")), Some("-1h")).unwrap_err();
        assert_eq!(problems.iter().map(|problem| problem.flag).collect::<Vec<_>>(), ["--token-ttl", "--token"]);
        assert!(!format!("{problems:?}").contains("hunter2"));
    }

    #[test]
    fn join_prefers_the_token_for_tls_bootstrap() {
        let (one, two) = (secret("aaaaaa.0123456789abcdef"), secret("bbbbbb.0123456789abcdef"));
        let id = |found: Result<Option<BootstrapToken>, _>| found.unwrap().map(|token| token.id.to_string());
        assert_eq!(id(tls_bootstrap_token(Some(&one), Some(&two))).as_deref(), Some("aaaaaa"));
        assert_eq!(id(tls_bootstrap_token(None, Some(&two))).as_deref(), Some("bbbbbb"));
        assert_eq!(id(tls_bootstrap_token(None, None)), None);
        assert!(tls_bootstrap_token(Some(&secret("x")), Some(&two)).is_err());
    }
}
