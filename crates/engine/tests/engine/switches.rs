//! Switches in our own words: what a cluster is created without, and the proxy of kubeadm.
use crate::support::{FORWARDING, FakeCluster, FakeRuntime, PATIENCE, fresh, left, run_as, turn, wanted};
use host::{Host, Inspect, Memory, Progress};
use machineadm_engine::{Ask, Checks, Line, Mode, Preview, Prune, Run, Unanswered, Wanted, preview};

const DELETE: &str = "delete token";

fn without_token() -> Wanted {
    wanted(&[FORWARDING, ("InitConfig", "", "{kubernetesVersion: v1.36.4, without: [bootstrapToken]}")])
}

fn machine() -> Memory {
    let mut host = fresh();
    host.address = Some("10.0.0.10".parse().unwrap());
    host.sysctls.insert("kernel/random/uuid".into(), "0b1c2d3e-4f50-4a61-8b72-c3d4e5f60718".into());
    host
}

fn applied(wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> bool {
    run_as(
        &Run {
            mode: Mode::Provision,
            wanted,
            prune: Prune::List,
            manifests: machineadm_engine::Manifests::Respected,
            reviewed: None,
        },
        host,
        cluster,
    )
    .is_ok()
}

fn planned(wanted: &Wanted, host: &Memory, cluster: &FakeCluster) -> Preview {
    let ask = Ask {
        mode: Mode::Provision,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        checks: Checks::Executed,
        patience: PATIENCE,
    };
    preview(&ask, host, cluster, &FakeRuntime::running()).unwrap()
}

#[test]
fn a_cluster_without_a_token_has_none_after_kubeadm_init() {
    let (mut host, cluster) = (machine(), FakeCluster::answering(Ok(true)));
    let preview = planned(&without_token(), &host, &cluster);
    let lines = turn(&preview, "InitConfig").steps.iter().map(Line::of);
    assert_eq!(lines.map(|line| line.to_string()).collect::<Vec<_>>(), ["run kubeadm init", "run delete token"]);
    assert!(applied(&without_token(), &mut host, &cluster));
    assert!(!cluster.has_token.get());
    let after = left(&host);
    assert!(applied(&without_token(), &mut host, &cluster));
    assert_eq!(left(&host), after);
    assert!(!planned(&without_token(), &host, &cluster).is_open());
}

#[test]
fn a_cut_after_kubeadm_init_does_not_leave_the_token_and_does_not_undo_the_cluster() {
    let whole = {
        let (mut host, cluster) = (machine(), FakeCluster::answering(Ok(true)));
        assert!(applied(&without_token(), &mut host, &cluster));
        left(&host)
    };
    let mut after_init = 0;
    for changes in 0.. {
        let (mut host, cluster) = (machine(), FakeCluster::answering(Ok(true)));
        host.power = Some(changes);
        let is_whole = applied(&without_token(), &mut host, &cluster);
        host.power = None;
        let had_ended = host.progress("kubeadm init").unwrap() == Progress::Ended;
        host.log.clear();
        assert!(applied(&without_token(), &mut host, &cluster), "cut after {changes} changes");
        assert_eq!((left(&host), cluster.has_token.get()), (whole.clone(), false), "cut after {changes} changes");
        if had_ended && !is_whole {
            after_init += 1;
            assert!(!host.log.iter().any(|line| line.contains("kubeadm")), "{:?}", host.log);
        }
        if is_whole {
            break;
        }
    }
    assert!(after_init > 0);
}

/// The API server starts with the kubelet, which kubeadm starts after it has written the administrator's kubeconfig.
#[test]
fn an_init_without_a_token_that_was_cut_before_the_api_server_answers_is_finished() {
    let silent = || FakeCluster::answering(Err(Unanswered("connection refused".into())));
    let mut with_kubeconfig = 0;
    for changes in 0.. {
        let mut host = machine();
        host.power = Some(changes);
        if applied(&without_token(), &mut host, &silent()) {
            break;
        }
        host.power = None;
        with_kubeconfig += usize::from(host.files.contains_key("/etc/kubernetes/admin.conf"));
        let cluster = silent();
        assert!(applied(&without_token(), &mut host, &cluster), "cut after {changes} changes");
        assert!(!cluster.has_token.get(), "cut after {changes} changes");
    }
    assert!(with_kubeconfig > 0);
}

#[test]
fn an_interrupted_deletion_that_is_no_longer_asked_for_stops_nothing() {
    let (mut host, cluster) = (machine(), FakeCluster::answering(Ok(true)));
    host.note(DELETE, Progress::Started).unwrap();
    assert!(applied(&wanted(&[FORWARDING, crate::support::INIT]), &mut host, &cluster));
    assert_eq!(host.progress(DELETE).unwrap(), Progress::New);
}

#[test]
fn kubeadm_gets_the_proxy_that_names_it_and_reaches_the_cluster_without_it() {
    let proxy = |kubeadm: bool| {
        format!(
            "{{httpsProxy: 'http://user:s3cret@p:3128', noProxy: [.example.com], services: [containerd], kubeadm: {kubeadm}}}"
        )
    };
    let init = "{kubernetesVersion: v1.36.4, controlPlaneEndpoint: '10.0.0.9:6443', \
        podSubnets: [10.244.0.0/16]}";
    let environment = |kubeadm: bool| {
        let (mut host, cluster) = (machine(), FakeCluster::answering(Ok(true)));
        let wanted = wanted(&[FORWARDING, ("ProxyConfig", "", &proxy(kubeadm)), ("InitConfig", "", init)]);
        assert!(applied(&wanted, &mut host, &cluster));
        assert!(!host.log.iter().any(|line| line.contains("s3cret")), "{:?}", host.log);
        host.environments["kubeadm init"].clone()
    };
    assert!(environment(false).is_empty());
    let given = environment(true);
    assert_eq!(given["HTTPS_PROXY"].expose(), "http://user:s3cret@p:3128");
    assert_eq!(given["no_proxy"], given["NO_PROXY"]);
    assert_eq!(
        given["NO_PROXY"].expose(),
        ".example.com,localhost,127.0.0.1,::1,.svc,.cluster.local,10.0.0.9,10.0.0.10,10.96.0.0/12,10.244.0.0/16"
    );
}
