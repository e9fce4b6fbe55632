//! Where an API server listens: `host:port`, a bare host, or an https URL base, as people write them.
use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// kubeadm's port of the API server, which a bare host means.
const API_SERVER_PORT: u16 = 6443;
/// The port that an https URL means.
const HTTPS_PORT: u16 = 443;

/// An address of an API server. Only https is spoken there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    host: Host,
    port: u16,
    path: String,
    server_name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Host {
    Name(String),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

/// Why a text is no address of an API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEndpoint {
    /// There is nothing.
    #[error("is empty: give host:port, such as 10.0.0.10:6443")]
    Empty,
    /// It has a scheme other than https.
    #[error("must be https: other schemes are not allowed")]
    NotHttps,
    /// It has a name or password in front of the host.
    #[error("must not have a user or password: nothing is authenticated before the cluster is trusted")]
    UserInfo,
    /// It has a query or fragment.
    #[error("must not have `?` or `#`: pass the base URL of the API")]
    Query,
    /// It has a path, but isn't a URL.
    #[error("has a path: write it as a URL, such as https://example.com:6443/prefix")]
    Path,
    /// Its path isn't plain.
    #[error("has an invalid path: letters, digits, `-._~%/` only, and no `..`")]
    BadPath,
    /// Its port is none.
    #[error("has no port between 1 and 65535 after the colon")]
    BadPort,
    /// Its host is no name or address.
    #[error("has no host name or address: IPv6 stands in brackets before a port, such as [2001:db8::6]:6443")]
    BadHost,
}

impl Endpoint {
    /// The host: a name, an IPv4 address, or an IPv6 address without brackets.
    pub fn host(&self) -> String {
        match &self.host {
            Host::Name(name) => name.clone(),
            Host::V4(address) => address.to_string(),
            Host::V6(address) => address.to_string(),
        }
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What comes before the API's own paths: empty, or from `/` on without one at the end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// `host:port`, with brackets where they belong, as a Host header has it.
    pub fn authority(&self) -> String {
        match &self.host {
            Host::V6(address) => format!("[{address}]:{}", self.port),
            _ => format!("{}:{}", self.host(), self.port),
        }
    }

    /// The URL of a path of the API (which begins with `/`).
    pub fn url(&self, path: &str) -> String {
        format!("https://{}{}{path}", self.authority(), self.path)
    }

    /// The name that the server's certificate must be for, where it isn't the host.
    pub fn verified_as(self, server_name: Option<String>) -> Self {
        Self { server_name, ..self }
    }

    /// The name or address that the server's certificate must be for.
    pub fn server_name(&self) -> String {
        self.server_name.clone().unwrap_or_else(|| self.host())
    }

    /// Reads the https URL of a cluster's server. Unlike an endpoint of the command line it must have its scheme.
    pub fn from_url(text: &str) -> Result<Self, NoEndpoint> {
        let rest = https(text)?.ok_or(NoEndpoint::NotHttps)?;
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        Self::from_parts(authority, path, HTTPS_PORT)
    }

    fn from_parts(authority: &str, path: &str, default_port: u16) -> Result<Self, NoEndpoint> {
        if authority.contains('@') {
            return Err(NoEndpoint::UserInfo);
        }
        if authority.contains(['?', '#']) || path.contains(['?', '#']) {
            return Err(NoEndpoint::Query);
        }
        let (host, port) = host_and_port(authority, default_port)?;
        Ok(Self { host, port, path: plain_path(path)?.to_owned(), server_name: None })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.authority()),
            _ => f.write_str(&self.url("")),
        }
    }
}

impl FromStr for Endpoint {
    type Err = NoEndpoint;

    fn from_str(text: &str) -> Result<Self, NoEndpoint> {
        if text.is_empty() {
            return Err(NoEndpoint::Empty);
        }
        if https(text)?.is_some() {
            return Self::from_url(text);
        }
        if text.contains('/') {
            return Err(NoEndpoint::Path);
        }
        Self::from_parts(text, "", API_SERVER_PORT)
    }
}

/// Whether this is an https URL with a host and without a name or password; path and query may be any.
pub(crate) fn check_https_url(text: &str) -> Result<(), NoEndpoint> {
    let rest = https(text)?.ok_or(NoEndpoint::NotHttps)?;
    let (authority, path) = rest.find(['/', '?', '#']).map_or((rest, ""), |at| rest.split_at(at));
    if !path.bytes().all(|letter| letter.is_ascii_graphic()) {
        return Err(NoEndpoint::BadPath);
    }
    Endpoint::from_parts(authority, "", HTTPS_PORT).map(drop)
}

/// What follows `https://`; nothing, if the text has no scheme.
fn https(text: &str) -> Result<Option<&str>, NoEndpoint> {
    match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => Ok(Some(rest)),
        Some(_) => Err(NoEndpoint::NotHttps),
        None => Ok(None),
    }
}

fn host_and_port(authority: &str, default_port: u16) -> Result<(Host, u16), NoEndpoint> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').ok_or(NoEndpoint::BadHost)?;
        let address = address.parse().map_err(|_| NoEndpoint::BadHost)?;
        return Ok((Host::V6(address), port(rest, default_port)?));
    }
    if let Ok(address) = authority.parse() {
        return Ok((Host::V6(address), default_port));
    }
    let (name, rest) = authority.find(':').map_or((authority, ""), |at| authority.split_at(at));
    Ok((name_or_v4(name)?, port(rest, default_port)?))
}

fn port(text: &str, default_port: u16) -> Result<u16, NoEndpoint> {
    if text.is_empty() {
        return Ok(default_port);
    }
    let digits = text.strip_prefix(':').ok_or(NoEndpoint::BadHost)?;
    let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|port| plain && *port != 0).ok_or(NoEndpoint::BadPort)
}

fn name_or_v4(text: &str) -> Result<Host, NoEndpoint> {
    if let Ok(address) = text.parse() {
        return Ok(Host::V4(address));
    }
    if is_dns_name(text) { Ok(Host::Name(text.to_ascii_lowercase())) } else { Err(NoEndpoint::BadHost) }
}

/// Whether this is a host name. One that ends in a number is a misspelt address.
pub(crate) fn is_dns_name(text: &str) -> bool {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        let plain = label.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-_".contains(&letter));
        plain && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    name.len() <= 253 && name.split('.').all(is_label) && !last.bytes().all(|digit| digit.is_ascii_digit())
}

fn plain_path(path: &str) -> Result<&str, NoEndpoint> {
    let plain = path.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-._~%/".contains(&letter));
    let dots = path.split('/').any(|part| part == "." || part == "..");
    if plain && !dots { Ok(path.trim_end_matches('/')) } else { Err(NoEndpoint::BadPath) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_what_people_write() {
        for (text, url) in [
            ("10.0.0.10:6443", "https://10.0.0.10:6443/x"),
            ("10.0.0.10", "https://10.0.0.10:6443/x"),
            ("api.example.com", "https://api.example.com:6443/x"),
            ("API.example.com:443", "https://api.example.com:443/x"),
            ("https://api.example.com", "https://api.example.com:443/x"),
            ("HTTPS://api.example.com:8443/", "https://api.example.com:8443/x"),
            ("https://rancher.example.com/k8s/clusters/c-1/", "https://rancher.example.com:443/k8s/clusters/c-1/x"),
            ("[2001:db8::6]:3446", "https://[2001:db8::6]:3446/x"),
            ("2001:db8::6", "https://[2001:db8::6]:6443/x"),
            ("[::1]", "https://[::1]:6443/x"),
            ("https://[::1]", "https://[::1]:443/x"),
        ] {
            assert_eq!(text.parse::<Endpoint>().map(|endpoint| endpoint.url("/x")), Ok(url.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_endpoint_is_refused_with_its_reason() {
        use NoEndpoint::*;
        for (text, reason) in [
            ("", Empty),
            ("http://10.0.0.10:6443", NotHttps),
            ("ftp://x", NotHttps),
            ("https://me:pw@x", UserInfo),
            ("me@x:1", UserInfo),
            ("https://x/?y", Query),
            ("x#y", Query),
            ("x/y", Path),
            ("https://x/../y", BadPath),
            ("https://x/a b", BadPath),
            ("x:", BadPort),
            ("x:0", BadPort),
            ("x:65536", BadPort),
            ("x:+1", BadPort),
            ("https://", BadHost),
            ("-x", BadHost),
            ("300.1.1.1", BadHost),
            ("1", BadHost),
            ("[::1", BadHost),
            ("[::1]6443", BadHost),
            ("[fe80::1%eth0]:6443", BadHost),
            ("x y", BadHost),
            (":6443", BadHost),
        ] {
            assert_eq!(text.parse::<Endpoint>(), Err(reason), "{text}");
        }
        assert_eq!(Endpoint::from_url("10.0.0.10:6443"), Err(NotHttps));
    }

    #[test]
    fn an_endpoint_shows_itself_as_it_can_be_given_again() {
        for text in ["10.0.0.10:6443", "[::1]:6443", "https://x:443/y"] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!(endpoint.to_string(), text);
            assert_eq!(endpoint.to_string().parse(), Ok(endpoint));
        }
    }

    #[test]
    fn a_certificate_is_for_the_host_unless_told_otherwise() {
        let endpoint: Endpoint = "[::1]:6443".parse().unwrap();
        assert_eq!(endpoint.server_name(), "::1");
        assert_eq!(endpoint.verified_as(Some("kubernetes".to_owned())).server_name(), "kubernetes");
    }
}
