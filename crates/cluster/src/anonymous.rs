//! cluster-info, asked for without any credentials: the first thing that a new machine learns.
use crate::{Error, Result, status};
use discovery::cluster_info;
use fetch::{Client, Request, Settings, Url, shown};
use objects::{ConfigMap, Resource, SMALL_FILE_LIMIT};
use secret::Secret;
use serde_json::Value;

/// The cluster-info ConfigMap of the API server at an https URL, asked once; `None` when it has none.
///
/// Of the settings an identity is left aside, redirects are refused, and no more than 1 MiB is read.
pub fn anonymous_cluster_info(endpoint: &str, settings: Settings) -> Result<Option<ConfigMap>> {
    let request = request(endpoint).map_err(|source| Error::Setup { server: "given".to_owned(), source })?;
    let server = shown(&request.url).replace(&cluster_info::path(), "");
    let mut settings = Settings { identity: None, ..settings };
    settings.limits.body = settings.limits.body.min(SMALL_FILE_LIMIT);
    settings.limits.redirects = 0;
    let client = Client::new(settings).map_err(|source| Error::Setup { server: server.clone(), source })?;
    let unreachable = |source| Error::Unreachable { server: server.clone(), attempts: 1, source };
    let answer = client.send(&request).map_err(unreachable)?;
    match answer.status {
        200 => read(&answer.body, &server).map(Some),
        404 if is_not_found(&answer.body) => Ok(None),
        _ => Err(status::error(&answer, &server)),
    }
}

fn request(endpoint: &str) -> fetch::Result<Request> {
    let mut request = Request::get(endpoint)?;
    let bare = Url::parse(&shown(&request.url)).is_ok_and(|bare| bare == request.url);
    if !bare {
        let reason = "an endpoint has no user, password, query or fragment".to_owned();
        return Err(fetch::Error::BadUrl { reason });
    }
    let path = format!("{}{}", request.url.path().trim_end_matches('/'), cluster_info::path());
    request.url.set_path(&path);
    Ok(request.with_header("Accept", Secret::new("application/json".to_owned())))
}

/// What the parser says is not told: it could quote the answer.
fn read(body: &[u8], server: &str) -> Result<ConfigMap> {
    let strange = |what: &str| Error::NotKubernetes { server: server.to_owned(), what: what.to_owned() };
    let map: Value = serde_json::from_slice(body).map_err(|_| strange("it is not JSON"))?;
    // An item of a list need not say its kind, but this one must.
    let is_map = map["kind"] == ConfigMap::KIND;
    serde_json::from_value(map).ok().filter(|_| is_map).ok_or_else(|| strange("it is not a ConfigMap"))
}

/// Whether it is the API that misses the map, not some web server that knows no such page.
fn is_not_found(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|status| status["kind"] == "Status")
}
