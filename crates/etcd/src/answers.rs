//! The JSON of etcd's gateway: 64-bit numbers are text, and members with their zero value are left out.
use crate::{Member, MemberId, Role, Standing};
use serde::Deserialize;
use std::collections::BTreeSet;

/// An answer that is none of etcd's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not one of etcd's: {0}")]
pub struct NotEtcd(String);

#[derive(Deserialize)]
struct List {
    members: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    #[serde(rename = "ID")]
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default, rename = "peerURLs")]
    peer_urls: Vec<String>,
    #[serde(default, rename = "clientURLs")]
    client_urls: Vec<String>,
    #[serde(default)]
    is_learner: bool,
}

#[derive(Deserialize)]
struct Status {
    header: Header,
    #[serde(default)]
    leader: String,
    #[serde(default)]
    errors: Vec<String>,
}

#[derive(Deserialize)]
struct Header {
    member_id: String,
}

/// The members of a list. Whether those that have started answer is not known yet: they count as silent.
pub fn members(json: &[u8]) -> Result<Vec<Member>, NotEtcd> {
    let List { members } = read(json)?;
    if members.is_empty() {
        return Err(NotEtcd("it lists no members".to_owned()));
    }
    let members: Vec<Member> = members.into_iter().map(member).collect::<Result<_, _>>()?;
    let ids: BTreeSet<MemberId> = members.iter().map(|member| member.id).collect();
    match ids.len() == members.len() {
        true => Ok(members),
        false => Err(NotEtcd("two members have the same ID".to_owned())),
    }
}

/// What a parser says quotes the text.
fn read<'a, T: Deserialize<'a>>(json: &'a [u8]) -> Result<T, NotEtcd> {
    serde_json::from_slice(json).map_err(|error| NotEtcd(objects::one_line(&error.to_string())))
}

fn member(listed: Listed) -> Result<Member, NotEtcd> {
    let Listed { id, name, peer_urls, client_urls, is_learner } = listed;
    let id = id.parse().map_err(|_| NotEtcd("a member's ID is no number".to_owned()))?;
    let line = |url: &String| objects::one_line(url);
    Ok(Member {
        id: MemberId(id),
        standing: match client_urls.is_empty() {
            true => Standing::NotStarted,
            false => Standing::Silent("it was not asked".to_owned()),
        },
        name: objects::one_line(&name),
        peer_urls: peer_urls.iter().map(line).collect(),
        client_urls: client_urls.iter().map(line).collect(),
        role: if is_learner { Role::Learner } else { Role::Voter },
    })
}

/// What a status that is this member's own says of it; the reason if it is not.
pub fn status(json: &[u8], of: MemberId) -> Result<Standing, String> {
    let status: Status = read(json).map_err(|error| error.to_string())?;
    if status.header.member_id != of.0.to_string() {
        return Err("another member answers at its client URL".to_owned());
    }
    if matches!(status.leader.as_str(), "" | "0") {
        return Err("it knows no leader".to_owned());
    }
    Ok(match status.errors.first() {
        Some(error) => Standing::Alarmed(objects::one_line(error)),
        None => Standing::Answers,
    })
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

/// Why etcd refused a request, from its answer with this HTTP status.
pub fn failure(json: &[u8], status: u16) -> String {
    match serde_json::from_slice::<Failure>(json) {
        Ok(failure) => objects::one_line(&failure.message),
        Err(_) => format!("it returned {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = r#"{"header":{"cluster_id":"1","member_id":"10501334649042878790","raft_term":"2"},
        "members":[{"ID":"10501334649042878790","name":"cp1","peerURLs":["https://10.50.0.1:2380"],
        "clientURLs":["https://10.50.0.1:2379"]},{"ID":"255","peerURLs":["https://10.50.0.2:2380"],"isLearner":true}]}"#;

    #[test]
    fn voters_and_learners_that_never_started_are_read() {
        let found = members(LIST.as_bytes()).unwrap();
        assert_eq!(found[0].id.to_string(), "91bc3c398fb3c146");
        assert_eq!((found[0].name.as_str(), found[0].role), ("cp1", Role::Voter));
        assert!(matches!(found[0].standing, Standing::Silent(_)));
        assert_eq!((found[1].title(), found[1].role), ("https://10.50.0.2:2380", Role::Learner));
        assert_eq!(found[1].standing, Standing::NotStarted);
    }

    #[test]
    fn what_is_no_list_of_members_is_an_error() {
        let twice = r#"{"members":[{"ID":"7"},{"ID":"7","isLearner":true}]}"#;
        for text in ["", "{}", "[]", r#"{"members":[]}"#, r#"{"members":[{"ID":"x"}]}"#, "<html>", twice] {
            assert!(members(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_others_cannot_control_a_terminal() {
        let text = r#"{"members":[{"ID":"1","name":"a\u001b[2Jb","clientURLs":["https://a\n"]}]}"#;
        let found = members(text.as_bytes()).unwrap();
        assert!(!found[0].name.contains('\u{1b}') && !found[0].client_urls[0].contains('\n'), "{found:?}");
    }

    #[test]
    fn a_status_is_the_members_own_with_a_leader_and_without_errors() {
        let of = |text: &str| status(text.as_bytes(), MemberId(7));
        assert_eq!(of(r#"{"header":{"member_id":"7"},"leader":"9","version":"3.6.8"}"#), Ok(Standing::Answers));
        assert!(of(r#"{"header":{"member_id":"8"},"leader":"9"}"#).unwrap_err().contains("another member"));
        assert!(of(r#"{"header":{"member_id":"7"},"leader":"0"}"#).unwrap_err().contains("no leader"));
        assert!(of(r#"{"header":{"member_id":"7"}}"#).unwrap_err().contains("no leader"));
        let broken = r#"{"header":{"member_id":"7"},"leader":"9","errors":["NOSPACE"]}"#;
        assert_eq!(of(broken), Ok(Standing::Alarmed("NOSPACE".to_owned())));
        assert!(of("<html>").unwrap_err().starts_with("the answer is not one of etcd's"));
    }

    #[test]
    fn a_refusal_is_etcds_own_sentence_or_the_status() {
        let told = br#"{"code":14,"message":"etcdserver: too many learner members in cluster\u001b[2J"}"#;
        assert!(failure(told, 503).starts_with("etcdserver: too many learner members in cluster"));
        assert!(!failure(told, 503).contains('\u{1b}'));
        assert_eq!(failure(b"<html>", 404), "it returned 404");
    }
}
