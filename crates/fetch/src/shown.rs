//! How a URL is shown: without what may be secret in it.
use url::Url;

/// Scheme, host, port and path; the query of a presigned URL is as good as a password, and so is the user part.
pub fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_user_query_and_fragment() {
        let url = Url::parse("https://jo:hunter2@h.example:8443/a/b?X-Signature=s3cret#frag").expect("a URL");
        assert_eq!(shown(&url), "https://h.example:8443/a/b");
        assert_eq!(shown(&Url::parse("https://[::1]/").expect("a URL")), "https://[::1]/");
    }
}
