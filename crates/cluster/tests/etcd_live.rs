//! etcd's members, asked of real servers with certificates.
extern crate machineadm_cluster as cluster;

use cluster::etcd::{EtcdError, EtcdServers};
use etcd::{Credentials, JoinObstacle, Member, Membership, Quorum, RemovalObstacle, Role, Standing};
use secret::Secret;
use serde_json::json;
use std::{
    io,
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};
use testbed::{
    Result,
    etcd_cluster::EtcdCluster,
    fake::{Authority, FakeServer, Seen, Tls, answer},
    programs::ETCD,
    until,
};

/// How long etcd may take to notice.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a look may take while members are down: some requests of five seconds each, on a machine that others use too.
const SECONDS: Duration = Duration::from_secs(45);
/// A peer that nobody has started.
const NOBODY: &str = "https://127.0.0.1:2";

fn credentials(authority: &Authority) -> Credentials {
    let (certificate, key) = authority.client();
    let (authority, certificate) = (authority.pem().into_bytes(), certificate.into_bytes());
    Credentials { authority, certificate, key: Secret::new(key.into_bytes()) }
}

fn servers(cluster: &EtcdCluster, endpoints: Vec<String>) -> EtcdServers {
    EtcdServers::connect(&credentials(cluster.authority()), endpoints).expect("a client")
}

/// What is seen through all members.
fn seen(cluster: &EtcdCluster) -> Membership {
    servers(cluster, cluster.urls()).membership().expect("a list")
}

fn member(membership: &Membership, peer_url: &str) -> Member {
    membership.at(peer_url).unwrap_or_else(|| panic!("{peer_url} is not in {membership:?}")).clone()
}

/// A server of another CA, and credentials for it and for the cluster.
fn stand_in(
    cluster: &EtcdCluster,
    handler: impl Fn(&Seen, &mut Tls) -> io::Result<()> + Send + Sync + 'static,
) -> (FakeServer, Credentials) {
    let other = Arc::new(Authority::new());
    let server = FakeServer::with(other.clone(), other.serves(&["127.0.0.1"]), handler);
    let authority = [cluster.authority().pem(), other.pem()].concat().into_bytes();
    (server, Credentials { authority, ..credentials(cluster.authority()) })
}

fn url_of(server: &FakeServer) -> String {
    format!("https://127.0.0.1:{}", server.port())
}

/// An error with its causes.
fn text(error: &EtcdError) -> String {
    std::iter::successors(Some(error as &dyn std::error::Error), |error| error.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

#[test]
fn members_are_seen_as_they_are_and_removed() -> Result<()> {
    testbed::needs!(Pinned(&ETCD));
    let mut cluster = EtcdCluster::start(&["cp1", "cp2", "cp3"])?;
    let first = seen(&cluster);
    assert_eq!(first.quorum, Quorum::Held);
    assert_eq!(first.members.len(), 3);
    for (number, name) in ["cp1", "cp2", "cp3"].into_iter().enumerate() {
        let seen = first.named(name).expect("a member of this name");
        assert_eq!((seen.role, &seen.standing), (Role::Voter, &Standing::Answers));
        assert_eq!((&seen.peer_urls, &seen.client_urls), (&vec![cluster.peer_url(number)], &vec![cluster.url(number)]));
    }
    assert_eq!(first.joining(NOBODY), []);

    nodes_are_seen_without_an_api_server(&cluster)?;
    an_alarm_is_not_taken_for_silence(&cluster)?;
    a_learner_that_never_started_blocks_a_join_until_it_is_removed(&cluster)?;
    a_learner_that_runs_is_seen_and_removed(&mut cluster)?;
    a_dead_voter_is_named_and_removed(&mut cluster)?;
    the_member_that_is_asked_first_is_removed(&cluster)?;
    Ok(())
}

fn nodes_are_seen_without_an_api_server(cluster: &EtcdCluster) -> Result<()> {
    let nodes = || servers(cluster, vec![NOBODY.to_owned(), cluster.url(0)]).nodes().expect("a list");
    assert_eq!(nodes(), [""; 0]);
    // /registry/minions/w1 and, beside Nodes, /registry/minions0 and /registry/pods/a/b.
    for key in ["L3JlZ2lzdHJ5L21pbmlvbnMvdzE=", "L3JlZ2lzdHJ5L21pbmlvbnMw", "L3JlZ2lzdHJ5L3BvZHMvYS9i"] {
        cluster.post(0, "/v3/kv/put", &json!({"key": key, "value": "eA=="}))?;
    }
    assert_eq!(nodes(), ["w1"]);
    Ok(())
}

/// All members report it: none of them is down, and none shall be removed for it.
fn an_alarm_is_not_taken_for_silence(cluster: &EtcdCluster) -> Result<()> {
    let id = seen(cluster).members[0].id.0.to_string();
    let alarm = |action: &str| json!({"action": action, "memberID": id, "alarm": "NOSPACE"});
    cluster.post(0, "/v3/maintenance/alarm", &alarm("ACTIVATE"))?;
    let alarmed = seen(cluster);
    assert_eq!(alarmed.votes().answering, 3, "{alarmed:?}");
    let obstacles = alarmed.joining(NOBODY);
    let is_alarm =
        |obstacle: &JoinObstacle| matches!(obstacle, JoinObstacle::Alarm { why, .. } if why.contains("NOSPACE"));
    assert!(obstacles.len() == 3 && obstacles.iter().all(is_alarm), "{obstacles:?}");
    assert_eq!(alarmed.removing(&alarmed.members[0]), None);
    cluster.post(0, "/v3/maintenance/alarm", &alarm("DEACTIVATE"))?;
    assert_eq!(seen(cluster).joining(NOBODY), []);
    Ok(())
}

fn a_learner_that_never_started_blocks_a_join_until_it_is_removed(cluster: &EtcdCluster) -> Result<()> {
    cluster.add_learner(NOBODY)?;
    let with_learner = seen(cluster);
    let learner = member(&with_learner, NOBODY);
    assert_eq!((learner.role, &learner.standing, learner.title()), (Role::Learner, &Standing::NotStarted, NOBODY));
    assert_eq!(with_learner.joining(NOBODY), [], "the machine's own leftover is no obstacle");
    let foreign = with_learner.joining("https://127.0.0.1:3");
    assert!(matches!(&foreign[..], [JoinObstacle::Learner { title, .. }] if title == NOBODY), "{foreign:?}");
    // What kubeadm would meet: the one reason to look before it starts.
    let refused = cluster.post(
        0,
        "/v3/cluster/member/add",
        &json!({
            "peerURLs": ["https://127.0.0.1:3"], "isLearner": true
        }),
    );
    assert!(refused.is_err_and(|error| error.to_string().contains("too many learner members")));
    assert_eq!(with_learner.removing(&learner), None);
    servers(cluster, cluster.urls()).remove(&learner).expect("a removal");
    assert_eq!(seen(cluster).at(NOBODY), None);
    // Twice is once.
    servers(cluster, cluster.urls()).remove(&learner).expect("nothing to remove");
    Ok(())
}

fn a_learner_that_runs_is_seen_and_removed(cluster: &mut EtcdCluster) -> Result<()> {
    let name = "cp4\u{1b}[2J";
    let number = cluster.start_learner(name)?;
    let with_learner = seen(cluster);
    let learner = member(&with_learner, &cluster.peer_url(number));
    assert_eq!((learner.role, &learner.standing), (Role::Learner, &Standing::Answers));
    assert!(learner.name.starts_with("cp4") && !learner.name.contains('\u{1b}'), "{}", learner.name);
    // A learner answers neither list nor read: another server does.
    let through = servers(cluster, vec![cluster.url(number), cluster.url(0)]);
    assert_eq!(through.membership().expect("a list").quorum, Quorum::Held);
    let alone = servers(cluster, vec![cluster.url(number)]).membership().expect_err("a learner does not list");
    assert!(text(&alone).contains("learner"), "{}", text(&alone));
    through.remove(&learner).expect("a removal");
    assert_eq!(seen(cluster).members.len(), 3);
    cluster.kill(number)
}

fn a_dead_voter_is_named_and_removed(cluster: &mut EtcdCluster) -> Result<()> {
    cluster.kill(2)?;
    let began = Instant::now();
    let down = seen(cluster);
    assert!(began.elapsed() < SECONDS, "{:?}", began.elapsed());
    assert_eq!(down.quorum, Quorum::Held);
    let dead = member(&down, &cluster.peer_url(2));
    assert!(matches!(&dead.standing, Standing::Silent(why) if why.contains("refused")), "{dead:?}");
    assert!(matches!(&down.joining(NOBODY)[..], [JoinObstacle::Silent { title, .. }] if title == "cp3"));
    let alive = member(&down, &cluster.peer_url(1));
    assert!(matches!(down.removing(&alive), Some(RemovalObstacle::LosesQuorum { answering: 1, voters: 2, .. })));
    assert_eq!(down.removing(&dead), None);
    // Its own server is the first that is known.
    servers(cluster, vec![cluster.url(2), cluster.url(1)]).remove(&dead).expect("a removal");
    let without = seen(cluster);
    assert_eq!((without.members.len(), without.at(&cluster.peer_url(2))), (2, None));
    assert_eq!(without.joining(NOBODY), []);
    Ok(())
}

fn the_member_that_is_asked_first_is_removed(cluster: &EtcdCluster) -> Result<()> {
    let two = seen(cluster);
    let own = member(&two, &cluster.peer_url(0));
    assert_eq!(two.removing(&own), None);
    servers(cluster, vec![cluster.url(0)]).remove(&own).expect("a removal");
    let one = until("a leader of the one that is left", LIMIT, || match seen(cluster) {
        seen @ Membership { quorum: Quorum::Held, .. } => Ok(seen),
        other => Err(format!("{other:?}")),
    })?;
    assert_eq!(one.members.len(), 1);
    let last = member(&one, &cluster.peer_url(1));
    assert_eq!(one.removing(&last), Some(RemovalObstacle::OnlyVoter("cp2".to_owned())));
    Ok(())
}

#[test]
fn a_lost_quorum_is_reported_within_seconds_and_heals() -> Result<()> {
    testbed::needs!(Pinned(&ETCD));
    let mut cluster = EtcdCluster::start(&["cp1", "cp2", "cp3"])?;
    cluster.kill(1)?;
    cluster.kill(2)?;
    let began = Instant::now();
    let lost = seen(&cluster);
    assert!(began.elapsed() < SECONDS, "{:?}", began.elapsed());
    assert!(matches!(lost.quorum, Quorum::Lost(_)), "{lost:?}");
    assert_eq!(lost.members.len(), 3);
    let dead = member(&lost, &cluster.peer_url(2));
    assert!(matches!(lost.removing(&dead), Some(RemovalObstacle::NoQuorum(_))));
    assert!(matches!(&lost.joining(NOBODY)[..], [JoinObstacle::NoQuorum(_)]));
    let refused = servers(&cluster, cluster.urls()).remove(&dead).expect_err("etcd cannot write");
    assert!(text(&refused).matches("did not answer").count() == 3, "every server is named: {}", text(&refused));
    cluster.restart(1)?;
    let healed = seen(&cluster);
    assert_eq!(healed.quorum, Quorum::Held);
    assert_eq!(member(&healed, &cluster.peer_url(2)).id, dead.id, "nothing was removed");
    Ok(())
}

#[test]
fn a_member_that_was_removed_while_it_could_not_notice_is_not_believed() -> Result<()> {
    testbed::needs!(Pinned(&ETCD));
    let cluster = EtcdCluster::start(&["cp1", "cp2", "cp3"])?;
    let gone = member(&seen(&cluster), &cluster.peer_url(2));
    let stale = cluster.post(2, "/v3/cluster/member/list", &json!({}))?.to_string();
    servers(&cluster, vec![cluster.url(0)]).remove(&gone).expect("a removal");
    // A real member ends as soon as it hears of its removal; this stands in for one that is cut off from the others.
    let (stand_in, credentials) = stand_in(&cluster, move |seen, tls| match seen.path() {
        "/v3/cluster/member/list" => answer(tls, "200 OK", "", &stale),
        "/v3/kv/range" => {
            answer(tls, "503 Service Unavailable", "", r#"{"code":14,"message":"etcdserver: no leader"}"#)
        }
        other => panic!("it was asked for {other}"),
    });
    let endpoints = vec![url_of(&stand_in), cluster.url(0)];
    let right = until("a quorum of the others", LIMIT, || {
        let found = EtcdServers::connect(&credentials, endpoints.clone()).expect("a client").membership();
        found.ok().filter(|found| found.quorum == Quorum::Held).ok_or_else(|| "no quorum".to_owned())
    })?;
    assert_eq!((right.members.len(), right.at(&cluster.peer_url(2))), (2, None));
    assert!(stand_in.seen().len() >= 2, "it was asked first");
    Ok(())
}

#[test]
fn a_member_whose_own_server_alone_is_known_is_removed_by_another() -> Result<()> {
    testbed::needs!(Pinned(&ETCD));
    let cluster = EtcdCluster::start(&["cp1", "cp2", "cp3"])?;
    let list = cluster.post(0, "/v3/cluster/member/list", &json!({}))?.to_string();
    // Stands in for the server of the third member, which would end before it has answered.
    let (stand_in, credentials) = stand_in(&cluster, move |seen, tls| match seen.path() {
        "/v3/cluster/member/list" => answer(tls, "200 OK", "", &list),
        "/v3/kv/range" => answer(tls, "200 OK", "", "{}"),
        _ => Ok(()),
    });
    let third = member(&seen(&cluster), &cluster.peer_url(2));
    let own = Member { client_urls: vec![url_of(&stand_in), cluster.url(2)], ..third };
    let through = EtcdServers::connect(&credentials, vec![url_of(&stand_in)]).expect("a client");
    through.remove(&own).expect("a removal");
    let left = servers(&cluster, vec![cluster.url(0)]).membership().expect("a list");
    assert_eq!((left.members.len(), left.at(&cluster.peer_url(2))), (2, None));
    // As after a removal whose answer was lost: its own server lists it still, the others have nothing to remove.
    through.remove(&own).expect("a removal");
    Ok(())
}

#[test]
fn strangers_are_not_taken_for_etcd() -> Result<()> {
    testbed::needs!(Pinned(&ETCD));
    let cluster = EtcdCluster::start(&["cp1"])?;
    // Our CA is not theirs, and theirs does not know us.
    let stranger = Authority::new();
    let unverified = EtcdServers::connect(&credentials(&stranger), cluster.urls()).expect("a client").membership();
    let unverified = unverified.expect_err("the server is not verified");
    assert!(text(&unverified).contains("certificate"), "{}", text(&unverified));
    let client = Credentials { authority: cluster.authority().pem().into_bytes(), ..credentials(&stranger) };
    let unknown = EtcdServers::connect(&client, cluster.urls()).expect("a client").membership();
    let unknown = unknown.expect_err("the client is not verified");
    assert!(matches!(unknown, EtcdError::Unreachable { .. }), "{unknown:?}");

    for body in ["<html>hello</html>", "{}", r#"{"members":[]}"#, r#"{"members":[{"ID":"minus"}]}"#] {
        let other = FakeServer::start(move |_, tls| answer(tls, "200 OK", "", body));
        let servers = EtcdServers::connect(&credentials(other.authority()), vec![url_of(&other)]).expect("a client");
        let error = servers.membership().expect_err("no list of members");
        assert!(text(&error).contains("not one of etcd's"), "{body}: {}", text(&error));
    }
    let other = FakeServer::start(|_, tls| answer(tls, "404 Not Found", "", r#"{"message":"a\u001b[2Jb"}"#));
    let servers = EtcdServers::connect(&credentials(other.authority()), vec![url_of(&other)]).expect("a client");
    let error = text(&servers.membership().expect_err("no list of members"));
    assert!(error.contains("[2Jb") && !error.contains('\u{1b}'), "{error}");

    // A server that takes the connection and says nothing holds nobody up for long.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("https://{}", silent.local_addr().expect("an address"));
    let began = Instant::now();
    let through = EtcdServers::connect(&credentials(cluster.authority()), vec![url, cluster.url(0)]).expect("a client");
    assert_eq!(through.membership().expect("a list").quorum, Quorum::Held);
    assert!(began.elapsed() < SECONDS, "{:?}", began.elapsed());
    let none = EtcdServers::connect(&credentials(cluster.authority()), Vec::new()).expect("a client");
    assert!(matches!(none.membership(), Err(EtcdError::NoServer)));
    Ok(())
}
