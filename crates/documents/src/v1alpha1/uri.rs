//! Where something lies that a document names: a URI for a provider. It may hold credentials, so it is never quoted
//! whole.
use super::{
    absolute_path::{is_virtual, path_problem},
    authority::authority_problem,
};
use crate::{findings::Findings, limits::URI_BYTES};

/// Longer ones are cut when they are shown.
const LONGEST_SHOWN: usize = 200;

/// Reports what is wrong with a provider's name and, where the provider is one of ours, with its URI.
pub(crate) fn check(provider: &str, uri: &str, here: &str, findings: &mut Findings<'_>) {
    if !is_provider(provider) {
        findings.error("spec.provider", "must be lower-case letters, digits and `-`, at most 63");
    }
    if let Some(problem) = uri_problem(uri).or_else(|| provider_problem(provider, uri)) {
        findings.error(here, problem);
    }
}

/// Why a text is no URI at all.
pub(crate) fn uri_problem(uri: &str) -> Option<&'static str> {
    if uri.len() > URI_BYTES {
        return Some("must be at most 4096 characters");
    }
    if uri.is_empty() || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some("must be printable ASCII without white space");
    }
    let scheme = uri.split(':').next().unwrap_or_default();
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(allowed);
    (!is_scheme || scheme.len() == uri.len()).then_some("must start with a scheme, such as `https://`")
}

/// Why one of our own providers can't use a URI.
fn provider_problem(provider: &str, uri: &str) -> Option<&'static str> {
    match provider {
        "file" => file_problem(uri),
        "https" => https_problem(uri),
        "descriptor" if descriptor(uri).is_none() => Some("must be `fd:` and a number from 3 on, such as `fd:3`"),
        _ => None,
    }
}

fn file_problem(uri: &str) -> Option<&'static str> {
    let Some(path) = uri.strip_prefix("file://") else { return Some("must be `file://` and an absolute path") };
    if path.contains(['%', '?', '#']) {
        return Some("must be written without `%`, `?` and `#`");
    }
    // What the kernel makes up others can guess; memory that is mounted as files is as good as a disk.
    let is_made_up = is_virtual(path) && !path.starts_with("/dev/shm/");
    path_problem(path).or(is_made_up.then_some("must not be below /proc, /sys or /dev"))
}

fn https_problem(uri: &str) -> Option<&'static str> {
    let Some(rest) = uri.strip_prefix("https://") else { return Some("must start with `https://`") };
    if rest.contains('\\') {
        return Some("must be written without `\\`: write it as %5C");
    }
    authority_problem(rest.split(['/', '?', '#']).next().unwrap_or_default())
}

/// The path of a `file://` URI that was checked.
pub fn file_path(uri: &str) -> Option<&str> {
    if file_problem(uri).is_some() { None } else { uri.strip_prefix("file://") }
}

/// The number of an `fd:` URI; the first three are everybody's.
pub fn descriptor(uri: &str) -> Option<u32> {
    let digits = uri.strip_prefix("fd:")?;
    let plain = !digits.is_empty() && digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|number| plain && *number >= 3)
}

/// A URI as it may be shown: scheme, host and path, neither credentials nor query.
pub fn without_secrets(uri: &str) -> String {
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let whole = match uri[..end].split_once("://") {
        // The text was checked to be printable ASCII.
        Some((scheme, rest)) => {
            let slash = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(slash);
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        // Such as `fd:3`; whatever else stands behind a bare scheme, nobody knows what it means.
        None if descriptor(uri).is_some() => uri.to_owned(),
        None => format!("{}:…", uri.split(':').next().unwrap_or_default()),
    };
    match whole.char_indices().nth(LONGEST_SHOWN) {
        Some((cut, _)) => format!("{}…", &whole[..cut]),
        None => whole,
    }
}

/// The parts of a URI that others must not see: the whole if there are any, and each by itself.
pub(crate) fn uri_secrets(uri: &str) -> Vec<&str> {
    let before_query = uri.split(['?', '#']).next().unwrap_or_default();
    let after = before_query.split_once("://").map_or("", |(_, rest)| rest);
    let authority = after.split('/').next().unwrap_or_default();
    let userinfo = authority.rsplit_once('@').map(|(userinfo, _)| userinfo);
    let password = userinfo.map(|userinfo| userinfo.split_once(':').map_or(userinfo, |(_, password)| password));
    let query = uri.get(before_query.len() + 1..).filter(|query| !query.is_empty());
    let values =
        query.into_iter().flat_map(|query| query.split(['&', '#'])).filter_map(|pair| Some(pair.split_once('=')?.1));
    let mut secrets: Vec<&str> = password.into_iter().chain(query).chain(values).collect();
    if !secrets.is_empty() {
        secrets.push(uri);
    }
    secrets
}

/// Whether a URI has a user or a password in it.
pub(crate) fn has_credentials(uri: &str) -> bool {
    let after = uri.split(['?', '#']).next().and_then(|uri| uri.split_once("://")).map_or("", |(_, rest)| rest);
    after.split('/').next().is_some_and(|authority| authority.contains('@'))
}

/// A provider's name becomes part of a plugin's file name.
fn is_provider(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-') && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use url::Url;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn the_host_that_is_shown_is_the_host_that_is_asked(
            rest in r"([a-z]{1,3}|[0-9]{1,3}|0x|[.:@\\/?#%&=_\[\]-]){1,12}",
        ) {
            let uri = format!("https://{rest}");
            if uri_problem(&uri).or_else(|| https_problem(&uri)).is_none() && let Ok(asked) = Url::parse(&uri) {
                let shown = without_secrets(&uri);
                let (shown, asked) = (Url::parse(&shown).expect("a part of a URL is one"), asked);
                prop_assert_eq!((shown.host(), shown.port(), shown.path()), (asked.host(), asked.port(), asked.path()));
                let host = asked.host_str().unwrap_or_default();
                prop_assert!(without_secrets(&uri).starts_with(&format!("https://{host}")) || host.starts_with('['), "{}", uri);
                prop_assert_eq!((shown.username(), shown.query()), ("", None));
            }
        }
    }

    #[test]
    fn each_provider_of_ours_knows_its_uris() {
        for (provider, uri) in [
            ("file", "file:///etc/machineadm/passphrase"),
            ("https", "https://user:pw@storage.example.com:8443/a?b=c"),
            ("descriptor", "fd:3"),
            ("awskms", "kms://ZW5jcnlwdGVk@arn:aws:kms:us-west-2:111122223333:key/1"),
        ] {
            assert_eq!(uri_problem(uri).or(provider_problem(provider, uri)), None, "{uri}");
        }
        for (provider, uri) in [
            ("file", "file://host/etc/a"),
            ("file", "file:///etc/../a"),
            ("file", "file:///proc/self/environ"),
            ("file", "file:///dev/fd/3"),
            ("file", "file:///etc/a?b"),
            ("file", "/etc/a"),
            ("https", "http://storage.example.com/a"),
            ("https", "https:///a"),
            ("https", "https://user@:443/a"),
            ("https", "https://127.0.0.1:18443\\@shown.example.com/x"),
            ("https", "https://a.example/x?y=\\"),
            ("https", "https://0x7f000001/x"),
            ("https", "https://a.example:/x"),
            ("descriptor", "fd:2"),
            ("descriptor", "fd:+3"),
            ("descriptor", "3"),
            ("x", "no-scheme"),
            ("x", "a b:c"),
            ("x", ""),
        ] {
            assert!(uri_problem(uri).or(provider_problem(provider, uri)).is_some(), "{provider} {uri}");
        }
    }

    #[test]
    fn what_is_shown_has_neither_credentials_nor_query() {
        for (uri, shown) in [
            ("https://user:pw@host:1/a/b?token=x#y", "https://host:1/a/b"),
            ("https://host?token=x", "https://host"),
            ("https://u@v@host/a@b", "https://host/a@b"),
            ("file:///etc/a", "file:///etc/a"),
            ("kms://c2VjcmV0@arn:aws:kms:x:key/1", "kms://arn:aws:kms:x:key/1"),
            ("fd:3", "fd:3"),
            ("vault:secret", "vault:…"),
        ] {
            assert_eq!(without_secrets(uri), shown);
        }
    }

    #[test]
    fn credentials_and_queries_are_known_as_secrets() {
        assert_eq!(uri_secrets("https://host/a"), Vec::<&str>::new());
        let uri = "https://user:pw@host/a?token=abc&b";
        assert_eq!(uri_secrets(uri), ["pw", "token=abc&b", "abc", uri]);
        assert_eq!(uri_secrets("kms://c2VjcmV0@arn/1"), ["c2VjcmV0", "kms://c2VjcmV0@arn/1"]);
    }

    #[test]
    fn a_provider_is_a_part_of_a_file_name() {
        assert!(is_provider("awskms") && is_provider("a-1"));
        assert!(!["", "A", "../x", "-a", "a-", "a/b"].into_iter().any(is_provider));
    }
}
