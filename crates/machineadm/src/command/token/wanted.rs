//! The tokens that `token create` shall make: from flags or from an InitConfiguration, checked before anything is sent.
use super::{arguments::Create, generated};
use crate::{command::small_file, command_error::CommandError};
use discovery::{BootstrapToken, Lifetime, Moment, TokenSettings, Usage, usage::NODE_GROUP};
use host::{contract::Exit, linux::input::Care};
use jiff::Timestamp;
use kubeadm::{Rules, Source, Strictness, hub};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

/// What one token shall be, as far as it was said.
struct Said {
    /// Where it was said: `bootstrapTokens[1]`, or nothing for flags.
    place: Option<String>,
    token: Option<Zeroizing<String>>,
    description: String,
    usages: Vec<String>,
    groups: Option<Vec<String>>,
    expires: Option<Moment>,
}

/// The tokens to make, or everything that is wrong with them.
pub(super) fn tokens(asked: &Create, now: Timestamp) -> Result<Vec<TokenSettings>, CommandError> {
    let mut problems = Vec::new();
    let said = match &asked.config {
        Some(file) => of_file(file, now, &mut problems)?,
        None => vec![of_flags(asked, now, &mut problems)?],
    };
    let mut tokens = Vec::new();
    for said in said {
        tokens.push(settled(said, &mut problems)?);
    }
    let mut ids = BTreeSet::new();
    let twice = tokens.iter().filter(|token| !ids.insert(&token.token.id));
    problems.extend(twice.map(|token| format!("two tokens have the id \"{}\"", token.token.id)));
    if problems.is_empty() { Ok(tokens) } else { Err(CommandError::invalid_input(problems)) }
}

fn of_flags(asked: &Create, now: Timestamp, problems: &mut Vec<String>) -> Result<Said, CommandError> {
    let token = match asked.token.as_deref() {
        Some("-") => Some(small_file::text("-", Care::Reading)?.trim_end().to_owned()),
        given => given.map(str::to_owned),
    };
    let lifetime = Lifetime::read(&asked.ttl).map_err(|error| problems.push(format!("--ttl: {error}")));
    Ok(Said {
        place: None,
        token: token.map(Zeroizing::new),
        description: asked.description.clone(),
        usages: asked.usages.iter().filter(|usage| !usage.is_empty()).cloned().collect(),
        groups: asked.groups.as_ref().map(|groups| groups.iter().filter(|group| !group.is_empty()).cloned().collect()),
        expires: lifetime.unwrap_or_default().expires(now),
    })
}

fn of_file(name: &str, now: Timestamp, problems: &mut Vec<String>) -> Result<Vec<Said>, CommandError> {
    let text = small_file::text(name, Care::Reading)?;
    let rules = Rules { strictness: Strictness::Strict, minor: None };
    let read = kubeadm::read(&[Source { name, text: &text }], rules);
    if read.has_errors() {
        let problems: String = read.problems.iter().map(|problem| format!("{problem}\n")).collect();
        return Err(CommandError::report(Exit::Input, problems));
    }
    let hub::Documents { init, cluster, .. } = &read.documents;
    if init.is_none() && cluster.is_none() {
        let text = format!("{name} has neither an InitConfiguration nor a ClusterConfiguration");
        return Err(CommandError::invalid(text));
    }
    let named = init.as_ref().map(|init| init.bootstrap_tokens.clone()).unwrap_or_default();
    // As kubeadm: whoever names none gets one.
    let tokens = if named.is_empty() { vec![hub::BootstrapToken::default()] } else { named };
    Ok(tokens.iter().enumerate().map(|(index, token)| of_document(index, token, now, problems)).collect())
}

fn of_document(index: usize, token: &hub::BootstrapToken, now: Timestamp, problems: &mut Vec<String>) -> Said {
    let hub::BootstrapToken { token, description, ttl, expires, usages, groups } = token;
    let place = format!("bootstrapTokens[{index}]");
    let end = end(ttl.map(|ttl| ttl.to_string()).as_deref(), expires.map(|time| time.timestamp()), now);
    let usages =
        if usages.is_empty() { Usage::ALL.map(|usage| usage.name().to_owned()).to_vec() } else { usages.clone() };
    Said {
        token: token.as_ref().map(|token| Zeroizing::new(token.expose().to_owned())),
        description: description.clone().unwrap_or_default(),
        usages,
        groups: (!groups.is_empty()).then(|| groups.clone()),
        expires: end.map_err(|problem| problems.push(format!("{place}.{problem}"))).unwrap_or_default(),
        place: Some(place),
    }
}

/// When a token of a file ends.
fn end(ttl: Option<&str>, expires: Option<Timestamp>, now: Timestamp) -> Result<Option<Moment>, String> {
    match (ttl, expires) {
        (Some(_), Some(_)) => Err("ttl and expires are both set: remove one of them".into()),
        (None, Some(time)) if time <= now => Err("expires is in the past".into()),
        (None, Some(time)) => Ok(Some(Moment::from(time))),
        (ttl, None) => {
            let lifetime = ttl.map_or(Ok(Lifetime::default()), Lifetime::read);
            lifetime.map(|lifetime| lifetime.expires(now)).map_err(|error| format!("ttl: {error}"))
        }
    }
}

/// Fills in what was not said: a random token, and the group of kubeadm's nodes for who may authenticate.
fn settled(said: Said, problems: &mut Vec<String>) -> Result<TokenSettings, CommandError> {
    let Said { place, token, description, usages, groups, expires } = said;
    let before = place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
    let authenticates = usages.iter().any(|usage| usage == Usage::Authentication.name());
    let default = if authenticates { vec![NODE_GROUP.to_owned()] } else { Vec::new() };
    let usages: BTreeSet<_> = usages.into_iter().collect();
    if usages.is_empty() {
        problems.push(format!("{before}a token requires at least one usage: pass --usages"));
    }
    let token = match token.map(|text| text.parse::<BootstrapToken>()) {
        Some(Ok(token)) => token,
        None => generated()?,
        Some(Err(error)) => {
            let name = place.map_or_else(|| "the token".to_owned(), |place| format!("{place}.token"));
            problems.push(format!("{name} {error}"));
            // Stands in for it, so that the rest is looked at as well.
            generated()?
        }
    };
    let settings = TokenSettings { token, description, expires, usages, groups: groups.unwrap_or(default) };
    problems.extend(settings.problems().iter().map(|problem| format!("{before}{problem}")));
    Ok(settings)
}
