//! The engine's view of clusters, through `crates/cluster`.
use crate::{
    api_server_pods,
    command::{
        api::entropy,
        certs::{
            failures::{Caller, CopyFailure},
            upload,
        },
        discover::{self, Undiscovered},
    },
    show::cleanup_wait::CleanupLine,
};
use certs::{
    CertificateSet, FileName, FileSet, Found, canary,
    client_certificate::{ClientCertificate, Subject},
    ttl_token::ClockSkew,
};
use cluster::{
    ApiServer, Effect, Kubeconfig, Precondition, Replaced, Timeouts,
    etcd::{EtcdError, EtcdServers},
    issue_client_certificate,
    kubeadm_certs::{Download, Layout, MissingCleanup, NoLayout, Upload},
    unverified_time,
};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use engine::{
    ApiServerPod, ApiServerWait, CertificateCopy, Cluster, EtcdAccess, Fault, MembersWait, NodeCondition, NodeWait,
    Patience, PlanError, Replacement, ServerVersion, Unanswered, outcome::chain,
};
use etcd::{Member, Membership, Quorum};
use jiff::Timestamp;
use kubeadm::hub::ClusterConfiguration;
use objects::one_line;
use secret::Secret;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// How long one request may take.
const REQUEST: Duration = Duration::from_secs(5);

/// API servers, each by the kubeconfig that names it.
pub(crate) struct ApiServers;

/// How far a clock may be off before certificates are not valid.
const FAR: objects::Duration = objects::Duration::minutes(5);
/// How often a Node is looked at.
const PAUSE: Duration = Duration::from_secs(1);

impl Cluster for ApiServers {
    fn has(&self, kubeconfig: &[u8], objects: &[&str], patience: &Patience<'_>) -> Result<bool, Unanswered> {
        asked(kubeconfig, patience, &|server| has_all(server, objects))
    }

    fn discover(&self, method: &Method, within: Duration) -> Result<ClusterInfo, PlanError> {
        let found = discover::for_run(method, discovery::method::Patience::within(within));
        found.map(|cached| cached.info().clone()).map_err(|Undiscovered { refusals, why, advice }| {
            match clock_skew(method) {
                Some(skew) => PlanError::known(Fault::Clock)(host::Error::Unfit {
                    what: "clock of this machine".to_owned(),
                    why: format!("{skew}; {why}"),
                    advice: "set the clock, then run machineadm again".to_owned(),
                }),
                None => {
                    let error = host::Error::Unfit { what: "cluster".to_owned(), why, advice };
                    PlanError::known(Fault::Discovery(refusals))(error)
                }
            }
        })
    }

    fn networks(&self, kubeconfig: &[u8], patience: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        asked(kubeconfig, patience, &|server| Ok(networks(server.get(KUBEADM_CONFIG)?.as_ref())))
    }

    fn delete(&self, kubeconfig: &[u8], object: &str, patience: &Patience<'_>) -> Result<(), Unanswered> {
        asked(kubeconfig, patience, &|server| server.delete(object, &Precondition::default(), Effect::Real).map(drop))
    }

    fn version(&self, kubeconfig: &[u8], patience: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        let (version, skew) = asked(kubeconfig, patience, &|server| {
            let version = server.get("/version")?.and_then(|version| version["gitVersion"].as_str().map(one_line));
            let skew = server.time().ok().and_then(|time| ClockSkew::between(Timestamp::now(), time));
            Ok((version, skew))
        })?;
        let untold = || Unanswered("its answer has no version".to_owned());
        Ok(ServerVersion { version: version.ok_or_else(untold)?, skew })
    }

    fn wait_for_node(&self, kubeconfig: &[u8], wait: &NodeWait<'_>) -> Result<(), Unanswered> {
        let deadline = Instant::now() + wait.within;
        let path = format!("/api/v1/nodes/{}", wait.node);
        loop {
            let patience = Patience { within: REQUEST, while_true: &|| false };
            let seen = asked(kubeconfig, &patience, &|server| Ok(condition(server.get(&path)?.as_ref())));
            let why = match (seen, wait.condition) {
                (Ok(Some(_)), NodeCondition::Registered) | (Ok(None | Some(Ready::No)), NodeCondition::NotReady) => {
                    return Ok(());
                }
                (Ok(None), NodeCondition::Registered) => "it does not exist".to_owned(),
                (Ok(Some(Ready::Yes)), NodeCondition::NotReady) => "it is still Ready".to_owned(),
                (Err(Unanswered(why)), _) => why,
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Unanswered(why));
            }
            thread::sleep(PAUSE.min(left));
        }
    }

    fn live_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        patience: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        asked(kubeconfig, patience, &|server| server.live_certs(copy.files, copy.key))
    }

    fn upload_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        found: BTreeMap<FileName, Found>,
    ) -> Result<(), PlanError> {
        let mut line = CleanupLine::default();
        let patience = Duration::from_nanos(canary::PATIENCE.as_nanoseconds().unsigned_abs());
        let uploaded = Self::connect(kubeconfig)?.upload_certs(Upload {
            files: copy.files,
            found,
            key: copy.key,
            missing_cleanup: MissingCleanup::Refused,
            patience,
            entropy: &entropy,
            waiting: &mut |wait| line.show(wait),
        });
        drop(line);
        let within = canary::PATIENCE.to_string();
        let failure = |error| CopyFailure::of_upload(&error, copy.directory, &within, Caller::Run).unfit();
        uploaded.map(|uploaded| upload::tell_of_run(&uploaded, &within)).map_err(failure)
    }

    fn download_certs(
        &self,
        kubeconfig: &[u8],
        copy: &CertificateCopy<'_>,
        roots: &CaBundle,
    ) -> Result<CertificateSet, PlanError> {
        // Where the files belong is decided by whoever planned this.
        let layout = Some(Layout { files: copy.files.clone(), ..Layout::usual() });
        let downloaded = Self::connect(kubeconfig)?.download_certs(&Download { key: copy.key, roots, layout });
        downloaded.map(|downloaded| downloaded.set).map_err(|error| CopyFailure::of_download(&error).unfit())
    }

    fn object(&self, kubeconfig: &[u8], path: &str, patience: &Patience<'_>) -> Result<Option<Value>, Unanswered> {
        asked(kubeconfig, patience, &|server| server.get(path))
    }

    fn wait_for_object(&self, kubeconfig: &[u8], path: &str, within: Duration) -> Result<(), Unanswered> {
        let deadline = Instant::now() + within;
        let mut is_told = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let patience = Patience { within: REQUEST, while_true: &|| false };
            // Whoever creates the object may create the right to read it with it.
            let why = match self.object(kubeconfig, path, &patience) {
                Ok(Some(_)) => return Ok(()),
                Ok(None) => "it does not exist".to_owned(),
                Err(Unanswered(why)) => why,
            };
            if left.is_zero() {
                return Err(Unanswered(why));
            }
            if !is_told {
                tell!("waiting until the cluster has {}", one_line(path));
                is_told = true;
            }
            thread::sleep(PAUSE.min(left));
        }
    }

    fn configuration(
        &self,
        kubeconfig: &[u8],
        patience: &Patience<'_>,
    ) -> Result<Option<Box<ClusterConfiguration>>, Unanswered> {
        let configuration = asked(kubeconfig, patience, &ApiServer::cluster_configuration)?;
        match configuration {
            Ok(configuration) => Ok(Some(Box::new(configuration))),
            Err(NoLayout::NoMap) => Ok(None),
            Err(other) => Err(Unanswered(other.to_string())),
        }
    }

    fn certs_layout(
        &self,
        kubeconfig: &[u8],
        patience: &Patience<'_>,
    ) -> Result<Option<(PathBuf, FileSet)>, Unanswered> {
        match asked(kubeconfig, patience, &ApiServer::certs_layout)? {
            Ok(Layout { directory, files }) => Ok(Some((directory, files))),
            Err(NoLayout::NoMap) => Ok(None),
            Err(other) => Err(Unanswered(other.to_string())),
        }
    }

    fn settled_members(&self, access: &EtcdAccess, wait: &MembersWait<'_>) -> Result<Membership, Unanswered> {
        let deadline = Instant::now() + wait.within;
        let mut is_told = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let membership = self.members(access, &Patience { within: left, while_true: &|| true })?;
            let obstacles = membership.joining(wait.own_peer_url);
            let Some(obstacle) = obstacles.first().filter(|_| !left.is_zero()) else { return Ok(membership) };
            if !is_told {
                tell!("waiting until etcd accepts a member: {}", obstacle.cause());
                is_told = true;
            }
            thread::sleep(PAUSE.min(left));
        }
    }

    fn members_with_quorum(&self, access: &EtcdAccess, patience: &Patience<'_>) -> Result<Membership, Unanswered> {
        members_when(access, patience, &|membership| match membership.quorum {
            Quorum::Held => Ok(membership),
            Quorum::Lost(why) => Err(Unanswered(format!("etcd has no quorum: {why}"))),
        })
    }

    fn members(&self, access: &EtcdAccess, patience: &Patience<'_>) -> Result<Membership, Unanswered> {
        members_when(access, patience, &Ok)
    }

    fn nodes_in_etcd(&self, access: &EtcdAccess) -> Result<Vec<String>, Unanswered> {
        etcd_servers(access)?.nodes().map_err(etcd_failed)
    }

    fn remove_member(&self, access: &EtcdAccess, member: &Member) -> Result<(), Unanswered> {
        etcd_servers(access)?.remove(member).map_err(etcd_failed)
    }

    fn replace(&self, kubeconfig: &[u8], path: &str, object: &Value) -> Result<Replacement, Unanswered> {
        let patience = Patience { within: REQUEST, while_true: &|| false };
        let replaced = asked(kubeconfig, &patience, &|server| server.replace(path, object, Effect::Real))?;
        Ok(match replaced {
            Replaced::Replaced(_) => Replacement::Done,
            Replaced::Conflict | Replaced::Absent => Replacement::Conflict,
        })
    }

    fn api_server_pod(
        &self,
        kubeconfig: &[u8],
        advertised: &str,
        patience: &Patience<'_>,
    ) -> Result<Option<ApiServerPod>, Unanswered> {
        asked(kubeconfig, patience, &|server| api_server_pods::pod(server, advertised))
    }

    fn wait_for_api_server(&self, kubeconfig: &[u8], wait: &ApiServerWait<'_>) -> Result<(), Unanswered> {
        let patience = Patience { within: REQUEST, while_true: &|| false };
        api_server_pods::wait(wait, &|| {
            asked(kubeconfig, &patience, &|server| {
                server.ready()?;
                api_server_pods::pod(server, wait.advertised)
            })
        })
    }

    fn issue(
        &self,
        authority: &[u8],
        key: &Secret<Vec<u8>>,
        subject: Subject,
    ) -> Result<ClientCertificate, Unanswered> {
        issue_client_certificate(authority, key, subject).map_err(|error| Unanswered(error.to_string()))
    }
}

/// Asks etcd once more until its members are as they shall be, as far as the patience goes.
fn members_when(
    access: &EtcdAccess,
    patience: &Patience<'_>,
    accepted: &dyn Fn(Membership) -> Result<Membership, Unanswered>,
) -> Result<Membership, Unanswered> {
    let deadline = Instant::now() + patience.within;
    loop {
        let found = etcd_servers(access).and_then(|servers| servers.membership().map_err(etcd_failed));
        match found.and_then(accepted) {
            Ok(membership) => return Ok(membership),
            Err(why) if Instant::now() >= deadline || !(patience.while_true)() => return Err(why),
            Err(_) => thread::sleep(PAUSE.min(deadline.saturating_duration_since(Instant::now()))),
        }
    }
}

/// The etcd servers that the cluster names, and those that are known besides. An API server that does not answer is no
/// reason to stop: etcd may be reached without it.
fn etcd_servers(access: &EtcdAccess) -> Result<EtcdServers, Unanswered> {
    let mut endpoints = access.endpoints.clone();
    let mut unanswered = None;
    if let Some(kubeconfig) = &access.kubeconfig {
        let patience = Patience { within: REQUEST, while_true: &|| false };
        match asked(kubeconfig.expose(), &patience, &ApiServer::etcd_endpoints) {
            Ok(found) => endpoints.extend(found),
            Err(why) => unanswered = Some(why),
        }
    }
    let mut seen = BTreeSet::new();
    endpoints.retain(|endpoint| seen.insert(endpoint.clone()));
    match unanswered {
        Some(why) if endpoints.is_empty() => Err(why),
        _ => EtcdServers::connect(&access.credentials, endpoints).map_err(etcd_failed),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
fn etcd_failed(error: EtcdError) -> Unanswered {
    Unanswered(chain(&error))
}

/// Where kubeadm stores the configuration of a cluster.
const KUBEADM_CONFIG: &str = "/api/v1/namespaces/kube-system/configmaps/kubeadm-config";

/// The networks of services and pods in kubeadm-config; none where it has none.
fn networks(map: Option<&Value>) -> Vec<String> {
    let text = map.and_then(|map| map["data"]["ClusterConfiguration"].as_str()).unwrap_or_default();
    let networking = objects::yaml::value(text).map(|cluster| cluster["networking"].clone()).unwrap_or_default();
    let subnets = ["serviceSubnet", "podSubnet"].into_iter().filter_map(|field| networking[field].as_str());
    subnets.flat_map(|subnets| subnets.split(',')).map(|subnet| subnet.trim().to_owned()).collect()
}

/// How far this machine's clock is from that of the servers that were asked, if no certificate of theirs can be valid
/// here. None of them is verified: it is a hint, beside the reason.
fn clock_skew(method: &Method) -> Option<String> {
    let Method::Token { endpoints, .. } = method else { return None };
    endpoints.iter().find_map(|endpoint| {
        let time = unverified_time(endpoint, REQUEST)?;
        let (by, word) = match ClockSkew::between(Timestamp::now(), time)? {
            ClockSkew::Ahead(by) => (by, "ahead of"),
            ClockSkew::Behind(by) => (by, "behind"),
        };
        (by > FAR).then(|| format!("it is {by} {word} the clock of the server {}", endpoint.authority()))
    })
}

/// Whether a Node is Ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    Yes,
    No,
}

/// The Ready condition of a Node, if there is one.
fn condition(node: Option<&Value>) -> Option<Ready> {
    let conditions = node?["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_ready = conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    Some(if is_ready { Ready::Yes } else { Ready::No })
}

/// Asks once more until it is answered, as far as the patience goes.
fn asked<T>(
    kubeconfig: &[u8],
    patience: &Patience<'_>,
    ask: &dyn Fn(&ApiServer) -> cluster::Result<T>,
) -> Result<T, Unanswered> {
    let unanswered = |error: cluster::Error| Unanswered(chain(&error));
    let kubeconfig =
        Kubeconfig::read(kubeconfig, Path::new(objects::kubernetes_paths::KUBERNETES)).map_err(unanswered)?;
    let deadline = Instant::now() + patience.within;
    loop {
        let request = REQUEST.min(deadline.saturating_duration_since(Instant::now())).max(Duration::from_millis(1));
        let timeouts = Timeouts { connect: request, request, total: request };
        let asked = ApiServer::connect(kubeconfig.clone(), timeouts).and_then(|server| ask(&server));
        match asked {
            Ok(answer) => return Ok(answer),
            // What the server refuses it refuses again; `ApiServer` itself repeats what may heal within a request's time.
            Err(error @ cluster::Error::Status { .. }) => return Err(unanswered(error)),
            Err(error) if Instant::now() + PAUSE >= deadline || !(patience.while_true)() => {
                return Err(unanswered(error));
            }
            // It may have been answered at once, such as with 403.
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

impl ApiServers {
    /// A connection for a step that is run, which tries again what time may heal.
    fn connect(kubeconfig: &[u8]) -> host::Result<ApiServer> {
        let kubeconfig = Kubeconfig::read(kubeconfig, Path::new(objects::kubernetes_paths::KUBERNETES));
        let server = kubeconfig.and_then(|kubeconfig| ApiServer::connect(kubeconfig, Timeouts::default()));
        server.map_err(|error| host::Error::Unfit {
            what: "the kubeconfig".to_owned(),
            why: chain(&error),
            advice: "check the kubeconfig".to_owned(),
        })
    }
}

fn has_all(server: &ApiServer, objects: &[&str]) -> cluster::Result<bool> {
    for object in objects {
        if server.get(object)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use discovery::{
        Endpoint,
        method::{Cause, Pinning, Refusal},
    };
    use jiff::{SignedDuration, fmt::rfc2822::DateTimePrinter};
    use testbed::fake::{FakeServer, answer};

    /// An API server whose clock is so far from ours.
    fn server(by: SignedDuration) -> FakeServer {
        FakeServer::start(move |seen, tls| {
            assert_eq!(seen.path(), "/version");
            let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&(Timestamp::now() + by)).expect("a date");
            answer(tls, "200 OK", &format!("Date: {date}\r\n"), r#"{"major":"1","gitVersion":"v1.36.4"}"#)
        })
    }

    fn endpoint(server: &FakeServer) -> Endpoint {
        format!("127.0.0.1:{}", server.port()).parse().expect("an endpoint")
    }

    #[test]
    fn a_failed_discovery_names_a_clock_that_is_off_and_sends_no_token() {
        let (right, late) = (server(SignedDuration::ZERO), server(SignedDuration::from_mins(121)));
        let method = |servers: &[&FakeServer]| Method::Token {
            endpoints: servers.iter().map(|server| endpoint(server)).collect(),
            token: "ae23dc.faddc87f5a5ab458".parse().expect("a token"),
            pinning: Pinning::Without,
        };
        assert_eq!(clock_skew(&method(&[&right])), None);
        let skew = clock_skew(&method(&[&right, &late])).expect("a skew");
        assert!(skew.starts_with("it is 2h") && skew.contains("behind the clock of the server 127.0.0.1:"), "{skew}");
        assert!(late.seen().iter().all(|seen| seen.header("authorization").is_none()));
    }

    #[test]
    fn a_failed_discovery_brings_along_why_no_location_is_trusted() {
        let stranger = FakeServer::start(|_, tls| answer(tls, "404 Not Found", "", "{}"));
        let method = Method::Token {
            endpoints: vec![endpoint(&stranger)],
            token: "ae23dc.faddc87f5a5ab458".parse().expect("a token"),
            pinning: Pinning::Without,
        };
        let error = ApiServers.discover(&method, Duration::from_secs(1)).expect_err("it has no cluster-info");
        let PlanError::Known { fault: Fault::Discovery(refusals), .. } = &error else { panic!("{error:?}") };
        let is_absent =
            matches!(&refusals[..], [Refusal::Unreached(unreached)] if unreached.cause == Cause::Status(404));
        assert!(is_absent, "{refusals:?}");
    }

    fn kubeconfig(server: &FakeServer) -> String {
        let authority = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, server.authority().pem());
        format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: a, cluster: {{server: '{}', certificate-authority-data: \
             {authority}}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\ncurrent-context: a\nusers: \
             [{{name: a, user: {{token: ae23dc.faddc87f5a5ab458}}}}]\n",
            server.url("")
        )
    }

    /// The right to read the certificates copy comes with the copy.
    #[test]
    fn what_is_refused_now_is_asked_for_again_once_a_second() {
        let server = FakeServer::start(|_, tls| answer(tls, "403 Forbidden", "", r#"{"message":"not yet"}"#));
        let (kubeconfig, within) = (kubeconfig(&server), PAUSE * 4);
        let waited = ApiServers.wait_for_object(kubeconfig.as_bytes(), "/api/v1/a", within).unwrap_err();
        let patience = Patience { within, while_true: &|| true };
        let asked = ApiServers.object(kubeconfig.as_bytes(), "/api/v1/a", &patience).unwrap_err();
        for Unanswered(why) in [waited, asked] {
            assert!(why.contains("not yet"), "{why}");
        }
        let requests = server.seen().len();
        // Fewer where the machine is busy, since a request takes its time too.
        assert!((4..=10).contains(&requests), "{requests}");
    }

    #[test]
    fn an_api_server_tells_its_version_and_its_time() {
        let ahead = server(SignedDuration::from_mins(-10));
        let kubeconfig = kubeconfig(&ahead);
        let patience = Patience { within: Duration::from_secs(10), while_true: &|| false };
        let ServerVersion { version, skew } = ApiServers.version(kubeconfig.as_bytes(), &patience).expect("a version");
        assert!(version == "v1.36.4" && matches!(skew, Some(ClockSkew::Ahead(_))), "{version} {skew:?}");
        assert_eq!(ahead.seen()[0].header("authorization"), Some("Bearer ae23dc.faddc87f5a5ab458"));
    }
}
