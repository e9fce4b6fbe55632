//! etcd's members over the JSON gateway of its client port, with a client certificate.
mod endpoints;
mod error;

pub use error::EtcdError;

use base64::{Engine, prelude::BASE64_STANDARD};
use etcd::{Credentials, Member, MemberId, Membership, Quorum, Standing};
use fetch::{Client, Identity, Limits, Method, Reach, Request, Settings, Trust, certificates};
use objects::one_line;
use serde::Deserialize;
use std::{
    fmt, thread,
    time::{Duration, Instant},
};

/// What etcd's functions return.
type Result<T> = std::result::Result<T, EtcdError>;

/// For one request. A member that is down must not hold up the others for long.
const REQUEST: Duration = Duration::from_secs(5);
const CONNECT: Duration = Duration::from_secs(2);
/// How long etcd may refuse to remove a member because the others have not been connected for five seconds, as after a start
/// or a join.
const CONNECTED: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_secs(1);
/// A list of members and a status are small.
const BODY: usize = 1 << 20;
/// Where the API server stores Nodes, with its default prefix.
const NODES: &str = "/registry/minions";

/// The servers of one etcd.
pub struct EtcdServers {
    client: Client,
    endpoints: Vec<String>,
}

impl EtcdServers {
    /// Prepares connections to these client URLs; nothing is sent yet.
    pub fn connect(credentials: &Credentials, endpoints: Vec<String>) -> Result<Self> {
        let setup = EtcdError::Setup;
        let identity = Identity::from_pem(&credentials.certificate, credentials.key.clone()).map_err(setup)?;
        let trust = Trust::Only(certificates(&credentials.authority).map_err(setup)?);
        let limits = Limits { connect: CONNECT, total: REQUEST, body: BODY, redirects: 0 };
        // The cluster itself decides where its etcd is, and the node's own is on loopback.
        let settings = Settings { identity: Some(identity), reach: Reach::ANYWHERE, limits, ..Settings::new(trust) };
        Ok(Self { client: Client::new(settings).map_err(setup)?, endpoints })
    }

    /// All members with their state, as a server that most voters agree with lists them; without such a server, as any
    /// server does.
    pub fn membership(&self) -> Result<Membership> {
        let mut membership = self.listed(&self.endpoints)?;
        membership.members.iter_mut().for_each(|member| self.ask(member));
        Ok(membership)
    }

    /// Removes a member, by a server that is not its own where there is one, and sees it gone. A server that is removed
    /// may end before it has answered, or list the member for ever; then only the others know.
    pub fn remove(&self, member: &Member) -> Result<()> {
        let began = Instant::now();
        loop {
            match self.remove_now(member) {
                Err(error) if error.is_unhealthy() && began.elapsed() < CONNECTED => thread::sleep(PAUSE),
                ended => return ended,
            }
        }
    }

    fn remove_now(&self, member: &Member) -> Result<()> {
        let mut servers = self.endpoints_of_members();
        servers.sort_by_key(|server| member.client_urls.contains(server));
        let mut failures = Vec::new();
        for server in &servers {
            let body = format!("{{\"ID\":\"{}\"}}", member.id.0);
            match self.post(server, "/v3/cluster/member/remove", body) {
                Ok(answer) => return see_gone(&answer, member.id, server),
                Err(error) => failures.push(error),
            }
        }
        // A removal whose answer was lost is one that the next server knows nothing to remove for.
        match self.listed(&servers) {
            Ok(Membership { members, quorum: Quorum::Held }) if members.iter().all(|left| left.id != member.id) => {
                Ok(())
            }
            _ => Err(EtcdError::of(failures)),
        }
    }

    /// The names of the Nodes in etcd, for a cluster whose API server does not answer.
    pub fn nodes(&self) -> Result<Vec<String>> {
        let text = |key: &str| BASE64_STANDARD.encode(key);
        let body = format!(
            r#"{{"key":"{}","range_end":"{}","keys_only":true}}"#,
            text(&format!("{NODES}/")),
            // The byte after the slash ends the range.
            text(&format!("{NODES}0"))
        );
        let mut failures = Vec::new();
        for endpoint in &self.endpoints {
            match self.post(endpoint, "/v3/kv/range", body.clone()) {
                Ok(answer) => return node_names(&answer).map_err(|why| refused(endpoint, why)),
                Err(error) => failures.push(error),
            }
        }
        Err(EtcdError::of(failures))
    }

    /// The known servers, and those that the list of members adds.
    fn endpoints_of_members(&self) -> Vec<String> {
        let mut endpoints = self.endpoints.clone();
        let listed = self.listed(&self.endpoints).map(|membership| membership.members).unwrap_or_default();
        for url in listed.into_iter().flat_map(|member| member.client_urls) {
            if !endpoints.contains(&url) {
                endpoints.push(url);
            }
        }
        endpoints
    }

    /// The members, none of them asked yet.
    fn listed(&self, endpoints: &[String]) -> Result<Membership> {
        let mut any: Option<Membership> = None;
        let mut failures = Vec::new();
        for endpoint in endpoints {
            let listed = self.listed_by(endpoint).map(|members| Membership { members, quorum: self.quorum(endpoint) });
            match listed {
                // The server has caught up with the others by now; what it listed before may be older.
                Ok(Membership { quorum: Quorum::Held, .. }) => {
                    return Ok(Membership { members: self.listed_by(endpoint)?, quorum: Quorum::Held });
                }
                Ok(lost) => any = any.or(Some(lost)),
                Err(error) => failures.push(error),
            }
        }
        any.ok_or_else(|| EtcdError::of(failures))
    }

    fn listed_by(&self, endpoint: &str) -> Result<Vec<Member>> {
        let answer = self.post(endpoint, "/v3/cluster/member/list", "{}".to_owned())?;
        etcd::members(&answer).map_err(|error| refused(endpoint, error.to_string()))
    }

    /// A read that most voters must agree with; the key need not exist.
    fn quorum(&self, endpoint: &str) -> Quorum {
        const KEY: &str = r#"{"key":"aGVhbHRo","keys_only":true}"#;
        match self.post(endpoint, "/v3/kv/range", KEY.to_owned()) {
            Ok(_) => Quorum::Held,
            Err(error) => Quorum::Lost(error.with_cause()),
        }
    }

    /// Asks a member that has started.
    fn ask(&self, member: &mut Member) {
        let mut why = String::new();
        for url in &member.client_urls {
            let asked = self.post(url, "/v3/maintenance/status", "{}".to_owned()).map_err(|error| error.with_cause());
            match asked.and_then(|answer| etcd::status(&answer, member.id)) {
                Ok(standing) => {
                    member.standing = standing;
                    return;
                }
                Err(reason) => why = reason,
            }
        }
        if !member.client_urls.is_empty() {
            member.standing = Standing::Silent(why);
        }
    }

    fn post(&self, endpoint: &str, path: &str, body: String) -> Result<Vec<u8>> {
        let unreachable = |source| EtcdError::Unreachable { server: endpoint.to_owned(), source };
        let request = Request::new(Method::Post, &format!("{}{path}", endpoint.trim_end_matches('/')));
        let request = request.map_err(unreachable)?.with_body("application/json", body.into_bytes());
        let answer = self.client.send(&request).map_err(unreachable)?;
        match answer.is_success() {
            true => Ok(answer.body.to_vec()),
            false => Err(refused(endpoint, etcd::failure(&answer.body, answer.status))),
        }
    }
}

impl fmt::Debug for EtcdServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdServers").field("endpoints", &self.endpoints).finish_non_exhaustive()
    }
}

/// The answer to a removal lists the members that remain.
fn see_gone(answer: &[u8], id: MemberId, endpoint: &str) -> Result<()> {
    let remaining = etcd::members(answer).map_err(|error| refused(endpoint, error.to_string()))?;
    match remaining.iter().any(|member| member.id == id) {
        true => Err(EtcdError::NotRemoved),
        false => Ok(()),
    }
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    kvs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    key: String,
}

/// The last part of each key.
fn node_names(answer: &[u8]) -> std::result::Result<Vec<String>, String> {
    let Range { kvs } = serde_json::from_slice(answer).map_err(|error| one_line(&error.to_string()))?;
    let name = |Pair { key }: Pair| {
        let key = BASE64_STANDARD.decode(key).map_err(|_| "a key is not base64".to_owned())?;
        Ok(one_line(String::from_utf8_lossy(&key).rsplit('/').next().unwrap_or_default()))
    };
    kvs.into_iter().map(name).collect()
}

fn refused(endpoint: &str, what: String) -> EtcdError {
    EtcdError::Refused { server: endpoint.to_owned(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_the_last_parts_of_their_keys() {
        let text = br#"{"header":{},"kvs":[{"key":"L3JlZ2lzdHJ5L21pbmlvbnMvdzE=","version":"3"}],"count":"1"}"#;
        assert_eq!(node_names(text), Ok(vec!["w1".to_owned()]));
        assert_eq!(node_names(br#"{"header":{}}"#), Ok(Vec::new()));
        for broken in ["<html>", r#"{"kvs":[{"key":"?"}]}"#] {
            assert!(node_names(broken.as_bytes()).is_err(), "{broken}");
        }
    }
}
