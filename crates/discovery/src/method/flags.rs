//! From flags to one method: which exclude each other, and what each of them needs. Nothing is sent before this is right.
use super::{Method, Pinning, Source, Verification};
use crate::{
    BootstrapToken, Endpoint, Pin,
    endpoint::{NoEndpoint, check_https_url},
};
use secret::Secret;
use std::fmt;

/// What discovery was told on the command line or in a document.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// Who asks.
    pub purpose: Purpose,
    /// Addresses of API servers, as written.
    pub endpoints: Vec<String>,
    /// `--token`, which counts as `--discovery-token`.
    pub token: Option<Secret<String>>,
    /// What the file of `--token-file` holds, which counts as `--token`.
    pub token_file: Option<Secret<String>>,
    /// `--discovery-token`.
    pub discovery_token: Option<Secret<String>>,
    /// `--discovery-token-ca-cert-hash`.
    pub pins: Vec<String>,
    /// `--discovery-token-unsafe-skip-ca-verification`.
    pub skip_ca_verification: bool,
    /// `--discovery-file`.
    pub file: Option<String>,
    /// `--accept-untrusted-certificate`.
    pub accept_untrusted_certificate: bool,
}

/// Who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// `discover`, which needs one token.
    #[default]
    Discover,
    /// `join`, where `--token` may serve TLS bootstrap beside another `--discovery-token`.
    Join,
}

/// Something that is wrong with the flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The flag, or `endpoint`.
    pub flag: &'static str,
    /// What is wrong, and what would be right.
    pub text: String,
}

impl Problem {
    pub(crate) fn new(flag: &'static str, text: impl Into<String>) -> Self {
        Self { flag, text: text.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.flag, self.text)
    }
}

const TOKEN: &str = "--token";
const TOKEN_FILE: &str = "--token-file";
const DISCOVERY_TOKEN: &str = "--discovery-token";
const PIN: &str = "--discovery-token-ca-cert-hash";
const SKIP: &str = "--discovery-token-unsafe-skip-ca-verification";
const FILE: &str = "--discovery-file";
const ENDPOINT: &str = "endpoint";
pub(super) const ACCEPT_UNTRUSTED: &str = "--accept-untrusted-certificate";

/// The one method that the flags mean, or everything that is wrong with them.
pub fn choose(flags: &Flags) -> Result<Method, Vec<Problem>> {
    let mut problems = Vec::new();
    let has_token = flags.token.is_some() || flags.token_file.is_some() || flags.discovery_token.is_some();
    let method = match &flags.file {
        None if !has_token => {
            let text = "or --discovery-file is required";
            return Err(vec![Problem::new(TOKEN, text)]);
        }
        None => by_token(flags, &mut problems),
        Some(file) => by_file(file, flags, &mut problems),
    };
    match method {
        Some(method) if problems.is_empty() => Ok(method),
        _ => Err(problems),
    }
}

fn by_token(flags: &Flags, problems: &mut Vec<Problem>) -> Option<Method> {
    if flags.endpoints.is_empty() {
        problems.push(Problem::new(ENDPOINT, "is missing: give the address of an API server, such as 10.0.0.10:6443"));
    }
    if flags.accept_untrusted_certificate {
        problems.push(Problem::new(ACCEPT_UNTRUSTED, "is only allowed with --discovery-file"));
    }
    let token = token(flags, problems);
    let endpoints = each(&flags.endpoints, ENDPOINT, problems, str::parse::<Endpoint>);
    let pins = each(&flags.pins, PIN, problems, str::parse::<Pin>);
    if flags.pins.is_empty() && !flags.skip_ca_verification {
        let text = format!(
            "is missing: anyone else who has the token can pose as the cluster. \
             Pass the CA pin that the cluster prints, or accept that risk with {SKIP}"
        );
        problems.push(Problem::new(PIN, text));
    }
    // With both given the pins count.
    let pinning = if pins.is_empty() { Pinning::Without } else { Pinning::Pins(pins) };
    Some(Method::Token { endpoints, token: token?, pinning })
}

/// The token for discovery: `--discovery-token`, else `--token` or `--token-file`.
fn token(flags: &Flags, problems: &mut Vec<Problem>) -> Option<BootstrapToken> {
    let mut read = |flag, text: &Option<Secret<String>>| given_token(flag, text.as_ref()?.expose(), problems);
    let (token, file) = (read(TOKEN, &flags.token), read(TOKEN_FILE, &flags.token_file));
    let (token, discovery) = (token.or(file), read(DISCOVERY_TOKEN, &flags.discovery_token));
    let differ = token.is_some() && discovery.is_some() && token != discovery;
    if differ && flags.purpose == Purpose::Discover {
        problems.push(Problem::new(TOKEN, "and --discovery-token are different tokens: pass one of them"));
    }
    discovery.or(token)
}

/// A token as a flag gives it.
pub(crate) fn given_token(flag: &'static str, text: &str, problems: &mut Vec<Problem>) -> Option<BootstrapToken> {
    text.parse().map_err(|error| problems.push(Problem::new(flag, format!("{error}")))).ok()
}

/// Reads every value of a flag; says which one is wrong where there are several, and quotes none.
fn each<T, E: fmt::Display>(
    texts: &[String],
    flag: &'static str,
    problems: &mut Vec<Problem>,
    read: impl Fn(&str) -> Result<T, E>,
) -> Vec<T> {
    let mut found = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        match read(text) {
            Ok(value) => found.push(value),
            Err(error) if texts.len() == 1 => problems.push(Problem::new(flag, error.to_string())),
            Err(error) => problems.push(Problem::new(flag, format!("(number {}) {error}", index + 1))),
        }
    }
    found
}

fn by_file(file: &str, flags: &Flags, problems: &mut Vec<Problem>) -> Option<Method> {
    let with = [
        (flags.token.is_some(), TOKEN, "means --discovery-token, which "),
        (flags.token_file.is_some(), TOKEN_FILE, "means --discovery-token, which "),
        (flags.discovery_token.is_some(), DISCOVERY_TOKEN, ""),
        (!flags.pins.is_empty(), PIN, "belongs to discovery by token, which "),
        (flags.skip_ca_verification, SKIP, "belongs to discovery by token, which "),
    ];
    for (_, flag, why) in with.into_iter().filter(|(given, ..)| *given) {
        let text = format!("{why}cannot be combined with --discovery-file: use one of them");
        problems.push(Problem::new(flag, text));
    }
    if !flags.endpoints.is_empty() {
        problems.push(Problem::new(ENDPOINT, "must not be given with --discovery-file: the file names the server"));
    }
    let verification = if flags.accept_untrusted_certificate { Verification::Waived } else { Verification::Required };
    let source = source(file).map_err(|text| problems.push(Problem::new(FILE, text))).ok()?;
    Some(Method::File { source, verification })
}

/// Where a kubeconfig lies, as people write it.
pub fn source(text: &str) -> Result<Source, String> {
    let starts = |prefix: &str| text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    match text {
        "" => Err("is empty: pass a file, an https URL, or - for standard input".to_owned()),
        "-" => Ok(Source::StandardInput),
        _ if starts("file:///") => Ok(Source::Path(text["file://".len()..].to_owned())),
        _ if starts("file:") => {
            Err("must have the absolute path after file://, such as file:///etc/cluster.yaml".to_owned())
        }
        _ if text.contains("://") => match check_https_url(text) {
            Ok(()) => Ok(Source::Url(text.to_owned())),
            Err(NoEndpoint::NotHttps) => Err("must be https, if it is a URL".to_owned()),
            Err(reason) => Err(reason.to_string()),
        },
        _ => Ok(Source::Path(text.to_owned())),
    }
}
