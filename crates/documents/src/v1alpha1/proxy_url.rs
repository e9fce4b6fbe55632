//! The URL of a proxy, checked without ever being quoted: it may hold a password.
use super::authority::authority_problem;

/// Why a URL can't be a proxy's; `None` when it can.
pub(crate) fn url_problem(url: &str) -> Option<&'static str> {
    if !url.chars().all(|c| c.is_ascii_graphic()) {
        return Some("must be printable ASCII without white space");
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("must start with `http://`, `https://` or `socks5://`");
    };
    if !["http", "https", "socks5"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return Some("must start with `http://`, `https://` or `socks5://`");
    }
    let (authority, after) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if !matches!(after, "" | "/") {
        return Some("must end after the host and port; in a password write `/`, `?` and `#` as %2F, %3F and %23");
    }
    authority_problem(authority)
}

#[cfg(test)]
mod tests {
    use super::url_problem;

    #[test]
    fn a_proxy_has_a_scheme_and_a_host() {
        for url in
            ["http://proxy:3128", "https://user:pa%20ss@proxy.example.com/", "socks5://[::1]:1080", "http://[fd00::1]"]
        {
            assert_eq!(url_problem(url), None, "{url}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for url in
            ["", "proxy:3128", "ftp://proxy", "http://", "http://:80", "http://a b", "http://a:0", "http://a:99999"]
        {
            assert!(url_problem(url).is_some(), "{url}");
        }
        for url in
            ["http://user@", "http://a/b", "http://a\n", "http://[::1", "http://ä", "http://a:1:2", "http://a\\@b"]
        {
            assert!(url_problem(url).is_some(), "{url}");
        }
    }
}
