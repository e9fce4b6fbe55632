//! The tokens that `token create` shall make: from flags or from an InitConfiguration, checked before anything is sent.
use super::{arguments::Create, generated};
use crate::{command::wrong_input, context::complain};
use discovery::{
    BootstrapToken, Lifetime, Moment, TokenSettings, Usage,
    usage::{self, NODE_GROUP},
};
use host::{
    contract::Exit,
    linux::input::{self, Care},
};
use jiff::Timestamp;
use kubeadm::{Rules, Source, Strictness, hub};
use std::collections::BTreeSet;
use zeroize::Zeroizing;

/// A kubeadm file is a few KB.
const LARGEST: u64 = 1 << 20;

/// What one token shall be, as far as it was said.
struct Said {
    token: Option<Zeroizing<String>>,
    description: String,
    usages: Vec<String>,
    groups: Option<Vec<String>>,
    expires: Option<Moment>,
}

/// The tokens to make, or everything that is wrong with them.
pub(super) fn tokens(asked: &Create, now: Timestamp) -> Result<Vec<TokenSettings>, Exit> {
    let said = match &asked.config {
        Some(file) => of_file(file, now)?,
        None => vec![of_flags(asked, now)?],
    };
    let mut problems = Vec::new();
    let mut tokens = Vec::new();
    for said in said {
        tokens.push(settled(said, &mut problems)?);
    }
    let ids: BTreeSet<_> = tokens.iter().map(|token| &token.token.id).collect();
    if ids.len() < tokens.len() {
        problems.push("two of the tokens have the same id".to_owned());
    }
    if problems.is_empty() { Ok(tokens) } else { Err(wrong_input(&problems)) }
}

fn of_flags(asked: &Create, now: Timestamp) -> Result<Said, Exit> {
    let token = match asked.token.as_deref() {
        Some("-") => Some(read("-")?.trim_end().to_owned()),
        given => given.map(str::to_owned),
    };
    let lifetime = Lifetime::read(&asked.ttl).map_err(|error| wrong_input(&[format!("--ttl: {error}")]))?;
    Ok(Said {
        token: token.map(Zeroizing::new),
        description: asked.description.clone(),
        usages: asked.usages.iter().filter(|usage| !usage.is_empty()).cloned().collect(),
        groups: asked.groups.as_ref().map(|groups| groups.iter().filter(|group| !group.is_empty()).cloned().collect()),
        expires: lifetime.expires(now),
    })
}

fn of_file(name: &str, now: Timestamp) -> Result<Vec<Said>, Exit> {
    let text = read(name)?;
    let rules = Rules { strictness: Strictness::Strict, minor: None };
    let read = kubeadm::read(&[Source { name, text: &text }], rules);
    if read.has_errors() {
        read.problems.iter().for_each(|problem| eprintln!("{problem}"));
        return Err(Exit::Input);
    }
    let init =
        read.documents.init.as_ref().ok_or_else(|| wrong_input(&[format!("{name} has no InitConfiguration")]))?;
    if init.bootstrap_tokens.is_empty() {
        return Err(wrong_input(&[format!("{name}: InitConfiguration.bootstrapTokens names no token")]));
    }
    let tokens = init.bootstrap_tokens.iter().enumerate();
    tokens.map(|(index, token)| of_document(index, token, now)).collect()
}

fn of_document(index: usize, token: &hub::BootstrapToken, now: Timestamp) -> Result<Said, Exit> {
    let hub::BootstrapToken { token, description, ttl, expires, usages, groups } = token;
    let here = |text: String| wrong_input(&[format!("bootstrapTokens[{index}].{text}")]);
    let expires = match (ttl, expires) {
        (Some(_), Some(_)) => return Err(here("ttl and expires are both set: keep one".into())),
        (None, Some(time)) => {
            if time.timestamp() <= now {
                return Err(here("expires lies in the past".into()));
            }
            Some(Moment::from(time.timestamp()))
        }
        (ttl, None) => {
            let lifetime = ttl.map_or(Ok(Lifetime::default()), |ttl| Lifetime::read(&ttl.to_string()));
            lifetime.map_err(|error| here(format!("ttl: {error}")))?.expires(now)
        }
    };
    let usages =
        if usages.is_empty() { Usage::ALL.map(|usage| usage.name().to_owned()).to_vec() } else { usages.clone() };
    Ok(Said {
        token: token.as_ref().map(|token| Zeroizing::new(token.expose().to_owned())),
        description: description.clone().unwrap_or_default(),
        usages,
        groups: (!groups.is_empty()).then(|| groups.clone()),
        expires,
    })
}

/// Fills in what was not said: a random token, and the group of kubeadm's nodes for who may authenticate.
fn settled(said: Said, problems: &mut Vec<String>) -> Result<TokenSettings, Exit> {
    let Said { token, description, usages, groups, expires } = said;
    let token = match token {
        Some(text) => text.parse::<BootstrapToken>().map_err(|error| wrong_input(&[format!("the token {error}")]))?,
        None => generated()?,
    };
    let authenticates = usages.iter().any(|usage| usage == Usage::Authentication.name());
    let default = if authenticates { vec![NODE_GROUP.to_owned()] } else { Vec::new() };
    let usages: BTreeSet<_> = usages.into_iter().collect();
    if usages.is_empty() {
        problems.push("a token without usages is good for nothing: give --usages".to_owned());
    }
    let settings = TokenSettings { token, description, expires, usages, groups: groups.unwrap_or(default) };
    problems.extend(settings.problems().iter().map(usage::UsageError::to_string));
    Ok(settings)
}

fn read(name: &str) -> Result<Zeroizing<String>, Exit> {
    let bytes = input::read(name, Care::Reading, LARGEST).map_err(|error| {
        complain(&error);
        Exit::Input
    })?;
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong_input(&[format!("{name} is not UTF-8 text")]))?;
    Ok(Zeroizing::new(text.to_owned()))
}
