//! The proxy, and what is reached without it.
use crate::{Error, ProxyFault, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use secret::Secret;
use std::net::IpAddr;
use url::{Host, Url};
use zeroize::Zeroizing;

/// A proxy that is asked to CONNECT.
#[derive(Debug, Clone)]
pub struct Proxy {
    /// `http://user:password@host:port`; user and password are optional.
    pub url: Secret<String>,
    /// What is reached without it.
    pub bypass: Bypass,
    /// The setting that it comes from, for messages: `HTTPS_PROXY`.
    pub setting: &'static str,
}

/// What is reached without a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bypass {
    /// Nothing: also loopback addresses and `localhost` are reached through the proxy, as by a kubeconfig's `proxy-url`.
    Nothing,
    /// Loopback addresses, `localhost`, and what `NO_PROXY` lists.
    Loopback {
        /// Hosts and what is below them (`example.com`), only what is below (`.example.com`), addresses, networks
        /// (`10.0.0.0/8`), each with a port if only that is meant; `*` is everything.
        and: Vec<String>,
    },
}

impl Proxy {
    /// The proxy for https that environment variables name, read as Go programs such as kubectl read them: `HTTPS_PROXY`
    /// and `NO_PROXY` before their names in lower case, and `http://` where the URL has no scheme.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(|value| (name, value));
        let (setting, url) = set("HTTPS_PROXY").or_else(|| set("https_proxy"))?;
        let url = if url.contains("://") { url } else { format!("http://{url}") };
        let except = set("NO_PROXY").or_else(|| set("no_proxy")).map(|(_, list)| list).unwrap_or_default();
        let and = except.split(',').map(str::to_owned).collect();
        Some(Self { url: Secret::new(url), bypass: Bypass::Loopback { and }, setting })
    }
}

/// A proxy as it is used.
pub(crate) struct Via {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) authorization: Option<Secret<String>>,
    without: Without,
}

/// What is reached without a proxy, as it is compared.
enum Without {
    Nothing,
    Loopback { and: Vec<Exception> },
}

impl Via {
    pub(crate) fn new(proxy: &Proxy) -> Result<Self> {
        let bad = |why| Error::Proxy { proxy: format!("in {}", proxy.setting), fault: ProxyFault::BadUrl(why) };
        let url = Url::parse(proxy.url.expose()).map_err(|_| bad("its URL is invalid"))?;
        match url.scheme() {
            "http" => {}
            "https" => {
                return Err(bad("https:// proxies are not supported: use an http:// URL"));
            }
            _ => return Err(bad("only http:// proxies are supported")),
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad("its URL has no host"))?;
        let without = match &proxy.bypass {
            Bypass::Nothing => Without::Nothing,
            Bypass::Loopback { and } => {
                Without::Loopback { and: and.iter().filter_map(|text| Exception::parse(text)).collect() }
            }
        };
        let port = url.port_or_known_default().unwrap_or(80);
        Ok(Self { host: bare(host).to_owned(), port, authorization: basic(&url), without })
    }

    /// Its name for errors.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// Whether a URL is reached through it.
    pub(crate) fn serves(&self, url: &Url) -> bool {
        let Without::Loopback { and } = &self.without else { return true };
        let Some(host) = url.host_str() else { return false };
        let host = bare(host).trim_end_matches('.').to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let is_here = host == "localhost" || address.is_some_and(|address| address.is_loopback());
        let port = url.port_or_known_default();
        !is_here && !and.iter().any(|exception| exception.holds(&host, address, port))
    }
}

/// Basic authorization from a URL's user part.
pub(crate) fn basic(url: &Url) -> Option<Secret<String>> {
    let password = url.password().unwrap_or_default();
    if url.username().is_empty() && password.is_empty() {
        return None;
    }
    let mut pair = Zeroizing::new(decoded(url.username()).to_vec());
    pair.push(b':');
    pair.extend_from_slice(&decoded(password));
    Some(Secret::new(format!("Basic {}", *Zeroizing::new(STANDARD.encode(&*pair)))))
}

/// Percent-encoded text as bytes, in memory of one size: growing would leave copies of a password behind.
fn decoded(text: &str) -> Zeroizing<Vec<u8>> {
    let mut plain = Zeroizing::new(Vec::with_capacity(text.len()));
    plain.extend(percent_decode_str(text));
    plain
}

/// A host without the brackets of an IPv6 address.
fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

/// One item of what is reached without the proxy.
#[derive(Debug, PartialEq, Eq)]
enum Exception {
    Everything,
    Network(IpAddr, u8),
    Host { name: String, port: Option<u16> },
    Below { domain: String, port: Option<u16> },
}

impl Exception {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text == "*" {
            return Some(Self::Everything);
        }
        if let Some((address, bits)) = text.split_once('/') {
            return Some(Self::Network(address.parse().ok()?, bits.parse().ok()?));
        }
        let (host, port) = split_port(&text);
        let below = host.strip_prefix("*.").or_else(|| host.strip_prefix('.'));
        match below {
            Some(domain) => Some(Self::Below { domain: domain.to_owned(), port }),
            None => (!host.is_empty()).then(|| Self::Host { name: host.to_owned(), port }),
        }
    }

    fn holds(&self, host: &str, address: Option<IpAddr>, at: Option<u16>) -> bool {
        let is_below = |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
        let fits = |port: &Option<u16>| port.is_none_or(|port| Some(port) == at);
        match self {
            Self::Everything => true,
            Self::Network(network, bits) => address.is_some_and(|address| is_in(address, *network, *bits)),
            Self::Below { domain, port } => fits(port) && address.is_none() && is_below(domain),
            Self::Host { name, port } => fits(port) && is_host(name, host, address, is_below),
        }
    }
}

fn is_host(name: &str, host: &str, address: Option<IpAddr>, is_below: impl Fn(&str) -> bool) -> bool {
    match address {
        Some(address) => name.parse::<IpAddr>().is_ok_and(|name| name.to_canonical() == address),
        None => host == name || is_below(name),
    }
}

/// `host:port`, `[address]:port`, or either without a port.
fn split_port(text: &str) -> (&str, Option<u16>) {
    if text.parse::<IpAddr>().is_ok() {
        return (text, None);
    }
    match text.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
        Some((host, Ok(port))) => (bare(host), Some(port)),
        _ => (bare(text), None),
    }
}

fn is_in(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let same = |a: u128, b: u128, width: u32| {
        let shift = width.saturating_sub(u32::from(bits));
        a.checked_shr(shift).unwrap_or(0) == b.checked_shr(shift).unwrap_or(0)
    };
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(n)) => same(u32::from(a).into(), u32::from(n).into(), 32),
        (IpAddr::V6(a), IpAddr::V6(n)) => same(a.into(), n.into(), 128),
        _ => false,
    }
}

/// The address in a URL, if it has one and not a name.
pub(crate) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        Host::Ipv4(address) => Some(address.into()),
        Host::Ipv6(address) => Some(address.into()),
        Host::Domain(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serves(except: &[&str], url: &str) -> bool {
        let url = Url::parse(url).expect("a URL");
        let and = except.iter().map(|text| (*text).to_owned()).collect();
        let proxy = Proxy {
            url: Secret::new("http://p:3128".to_owned()),
            bypass: Bypass::Loopback { and },
            setting: "HTTPS_PROXY",
        };
        Via::new(&proxy).expect("a proxy").serves(&url)
    }

    #[test]
    fn everything_but_this_machine_goes_through_the_proxy() {
        assert!(serves(&[], "https://example.com") && serves(&[], "https://10.0.0.1"));
        for here in ["https://localhost", "https://LOCALHOST.", "https://127.0.0.9", "https://[::1]:8443"] {
            assert!(!serves(&[], here), "{here}");
        }
    }

    #[test]
    fn a_proxy_without_bypass_serves_this_machine_too() {
        let proxy =
            Proxy { url: Secret::new("http://p:3128".to_owned()), bypass: Bypass::Nothing, setting: "proxy-url" };
        let via = Via::new(&proxy).expect("a proxy");
        for url in ["https://localhost", "https://127.0.0.1:6443", "https://example.com"] {
            assert!(via.serves(&Url::parse(url).expect("a URL")), "{url}");
        }
    }

    #[test]
    fn the_environment_is_read_as_go_reads_it() {
        let of = |variables: &[(&str, &str)]| {
            let value = |name: &str| variables.iter().find(|(known, _)| *known == name);
            Proxy::of_environment(|name| value(name).map(|(_, value)| (*value).to_owned()))
                .map(|proxy| (proxy.url.expose().clone(), proxy.bypass))
        };
        let bypass = |list: &[&str]| Bypass::Loopback { and: list.iter().map(|text| (*text).to_owned()).collect() };
        let found = of(&[("HTTPS_PROXY", "p:1"), ("https_proxy", "http://q:2"), ("no_proxy", "a,.b")]);
        assert_eq!(found, Some(("http://p:1".to_owned(), bypass(&["a", ".b"]))));
        let found = of(&[("HTTPS_PROXY", ""), ("https_proxy", "http://q:2"), ("HTTP_PROXY", "http://r:3")]);
        assert_eq!(found, Some(("http://q:2".to_owned(), bypass(&[""]))));
        assert_eq!(of(&[("HTTP_PROXY", "http://r:3"), ("NO_PROXY", "*")]), None);
    }

    #[test]
    fn an_invalid_proxy_is_named_by_the_variable_that_it_comes_from() {
        for name in ["HTTPS_PROXY", "https_proxy"] {
            let proxy = Proxy::of_environment(|asked| (asked == name).then(|| "http://jo:s3cret@[bad".to_owned()));
            let error = Via::new(&proxy.expect("it is set")).err().expect("refused").to_string();
            assert_eq!(error, format!("the proxy in {name}: its URL is invalid"));
        }
    }

    #[test]
    fn hosts_domains_addresses_and_networks_are_reached_without_it() {
        let cases = [
            ("example.com", "https://example.com", "https://notexample.com"),
            ("example.com", "https://a.example.com", "https://example.org"),
            (".example.com", "https://a.example.com", "https://example.com"),
            ("*.example.com", "https://a.b.EXAMPLE.com", "https://example.com"),
            ("10.1.2.3", "https://10.1.2.3", "https://10.1.2.4"),
            ("10.0.0.0/8", "https://10.9.9.9", "https://11.0.0.1"),
            ("fd00::/8", "https://[fd12::1]", "https://[2001:db8::1]"),
            ("fd00::1", "https://[fd00::1]", "https://[fd00::2]"),
            ("h:8443", "https://h:8443", "https://h"),
            ("[fd00::1]:6443", "https://[fd00::1]:6443", "https://[fd00::1]"),
        ];
        for (except, without, with) in cases {
            assert!(!serves(&[except], without), "{except}: {without}");
            assert!(serves(&[except], with), "{except}: {with}");
        }
        assert!(!serves(&["*"], "https://anything"));
        assert!(!serves(&["0.0.0.0/0"], "https://10.0.0.1") && serves(&["0.0.0.0/0"], "https://h"));
    }

    #[test]
    fn a_password_is_decoded_and_a_bad_url_not_quoted() {
        let url = Url::parse("http://jo:p%40ss%2F@p:1").expect("a URL");
        assert_eq!(
            basic(&url).map(|text| text.expose().clone()),
            Some(format!("Basic {}", STANDARD.encode("jo:p@ss/")))
        );
        let url = Url::parse("http://jo:%+5%4@p:1").expect("a URL");
        assert_eq!(
            basic(&url).map(|text| text.expose().clone()),
            Some(format!("Basic {}", STANDARD.encode("jo:%+5%4"))),
            "what is no escape stays as it is"
        );
        for url in ["https://jo:s3cret@p:1", "socks5://jo:s3cret@p:1", "jo:s3cret@p", "http://jo:s3cret@:x"] {
            let proxy = Proxy { url: Secret::new(url.to_owned()), bypass: Bypass::Nothing, setting: "proxy-url" };
            let error = Via::new(&proxy).err().expect("refused");
            assert!(!format!("{error} {error:?} {proxy:?}").contains("s3cret"), "{error}");
        }
    }
}
