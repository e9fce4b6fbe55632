//! What etcd's servers answer: a list of members, then a status, with an empty line between.
use crate::{Seen, Target};
use etcd::{Member, MemberId, Membership, Quorum, RemovalObstacle};

pub(super) const TARGET: Target = Target {
    name: "etcd-answers",
    inputs: 60_000,
    seeds,
    words: &[
        "\"members\":[",
        "\"ID\":\"18446744073709551615\"",
        "\"ID\":7",
        "\"name\":\"cp1\"",
        "\"peerURLs\":[\"https://10.0.0.1:2380\"]",
        "\"clientURLs\":[]",
        "\"isLearner\":true",
        "\"leader\":\"0\"",
        "\"errors\":[\"NOSPACE\"]",
        "\\u001b[2J",
        "\\n",
        "null",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    let list = r#"{"header":{"member_id":"7"},"members":[{"ID":"7","name":"cp1","peerURLs":["https://10.0.0.1:2380"],
        "clientURLs":["https://10.0.0.1:2379"]},{"ID":"8","peerURLs":["https://10.0.0.2:2380"],"isLearner":true}]}"#;
    let status = r#"{"header":{"member_id":"7"},"version":"3.6.8","leader":"7","errors":["a"]}"#;
    let refusal = r#"{"code":14,"message":"etcdserver: too many learner members in cluster"}"#;
    vec![format!("{list}\n\n{status}").into_bytes(), refusal.as_bytes().to_vec()]
}

/// Whatever a server says, nothing of it controls a terminal, and no rule allows to remove the only voter.
fn target(input: &[u8]) -> Seen {
    let at = input.windows(2).position(|pair| pair == b"\n\n").unwrap_or(input.len());
    let (list, status) = (&input[..at], &input[at..]);
    let status = etcd::status(status, MemberId(7));
    is_one_line(status.as_ref().err().map_or("", String::as_str));
    is_one_line(&etcd::failure(input, 503));
    let members = etcd::members(list);
    if let Err(error) = &members {
        is_one_line(&error.to_string());
    }
    let membership = Membership { members: members.unwrap_or_default(), quorum: Quorum::Held };
    membership.members.iter().for_each(check);
    membership.joining("https://10.0.0.1:2380").iter().for_each(|obstacle| is_one_line(&obstacle.to_string()));
    let mut obstacles = Vec::new();
    for member in &membership.members {
        let obstacle = membership.removing(member);
        obstacles.push(obstacle.is_some());
        if membership.voters().any(|voter| voter.id == member.id) && membership.votes().voters == 1 {
            assert!(matches!(obstacle, Some(RemovalObstacle::OnlyVoter(_))), "{membership:?}");
        }
    }
    Seen::new((status.map_err(|why| why.len()), obstacles, membership.votes().voters))
}

fn check(member: &Member) {
    let Member { name, peer_urls, client_urls, .. } = member;
    [name].into_iter().chain(peer_urls).chain(client_urls).for_each(|text| is_one_line(text));
}

fn is_one_line(text: &str) {
    assert!(!text.chars().any(char::is_control), "{text:?}");
}
