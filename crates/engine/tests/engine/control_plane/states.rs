//! Whatever is found on a machine and in etcd: data of etcd is deleted only after an etcd with a quorum does not list its
//! member.
use super::{RECORD, bed::*};
use crate::support::{FORWARDING, FakeRuntime, INIT, NoDownloads, PATIENCE, file, wanted};
use documents::Secret;
use etcd::{Member, Quorum, Role, Standing};
use host::{Memory, Played, Progress};
use machineadm_engine::{ResetPlan, ResetRequest, ResetScope, World, reset};
use proptest::{prelude::*, sample::select, sample::subsequence};

/// What is done on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Join,
    JoinAsWorker,
    Init,
    NothingOfKubeadm,
    Reset(ResetScope),
}

/// How etcd is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EtcdIs {
    Held,
    Lost,
    Silent,
}

/// What is found.
#[derive(Clone, Debug)]
struct State {
    /// The member of this machine, whose number is 2.
    own: Option<Member>,
    etcd: EtcdIs,
    /// Beside the manifest and the data of etcd.
    files: Vec<&'static str>,
    /// The manifest of etcd, if there is one.
    manifest: Option<String>,
    has_client_certificate: bool,
    address: &'static str,
    kubelet_runs: bool,
    node: Option<serde_json::Value>,
    join: Progress,
    /// An undo has started to delete.
    is_deleting: bool,
}

fn state() -> impl Strategy<Value = State> {
    let silent = || member(2, Role::Voter, Standing::Silent("no route".into()));
    let own =
        vec![None, Some(learner(2)), Some(member(2, Role::Learner, Standing::Answers)), Some(voter(2)), Some(silent())];
    let kubeadms = [&STATIC_PODS[..], &[ADMIN, KUBELET, CERTIFICATE, BOOTSTRAP]].concat();
    let files = prop_oneof![subsequence(kubeadms.clone(), 0..=7), subsequence(kubeadms, 6..=7)];
    let seen = (
        select(own),
        select(vec![EtcdIs::Held, EtcdIs::Held, EtcdIs::Lost, EtcdIs::Silent]),
        files,
        select(vec![Some(manifest()), Some(String::new()), None]),
        prop::bool::weighted(0.8),
    );
    let more = (
        select(vec!["10.0.0.2", "10.0.0.2", "10.0.0.7"]),
        any::<bool>(),
        select(vec![None, Some(marked())]),
        select(vec![Progress::New, Progress::Started, Progress::Started, Progress::Ended]),
        prop::bool::weighted(0.2),
    );
    (seen, more).prop_map(|(seen, more)| {
        let (own, etcd, files, manifest, has_client_certificate) = seen;
        let (address, kubelet_runs, node, join, is_deleting) = more;
        State { own, etcd, files, manifest, has_client_certificate, address, kubelet_runs, node, join, is_deleting }
    })
}

impl State {
    fn machine(&self) -> Memory {
        let mut host = with(&self.files, self.join);
        host.files.insert(DATA.into(), file("data of its member"));
        host.files.extend(self.manifest.as_ref().map(|text| (ETCD.to_owned(), file(text))));
        if !self.has_client_certificate {
            host.files.retain(|path, _| !path.contains("healthcheck-client"));
        }
        if self.is_deleting {
            let record = "{\"version\": 1, \"isRecorded\": true, \"entries\": {}, \"reset\": {\"deleting\": {\"etcdData\": \
                          \"/var/lib/etcd\", \"by\": \"act\"}}}";
            host.files.insert(RECORD.into(), file(record));
        }
        host.address = Some(self.address.parse().unwrap());
        host.services.insert("kubelet".into(), self.kubelet_runs);
        host.programs.insert("kubeadm init".into(), Vec::new());
        host
    }

    fn cluster(&self) -> FakeCluster {
        let cluster = FakeCluster::of([voter(1), voter(3)].into_iter().chain(self.own.clone()).collect());
        cluster.is_silent.set(self.etcd == EtcdIs::Silent);
        if self.etcd == EtcdIs::Lost {
            *cluster.quorum.borrow_mut() = Quorum::Lost("etcdserver: no leader".into());
        }
        cluster.objects.set(Some(self.node.is_some()));
        cluster.node.borrow_mut().clone_from(&self.node);
        cluster
    }
}

/// It may be refused, for whatever reason.
fn act(doing: Doing, host: &mut Memory, cluster: &FakeCluster) {
    let documents = match doing {
        Doing::Reset(scope) => return try_reset(scope, host, cluster),
        Doing::Join => joining(),
        Doing::JoinAsWorker => joining_as_worker(),
        Doing::Init => wanted(&[FORWARDING, INIT]),
        Doing::NothingOfKubeadm => wanted(&[FORWARDING]),
    };
    let new = |one: Played| match one {
        Played::Write(path, _) if path == DATA => Played::Write(path, "data of a new member".into()),
        other => other,
    };
    let is_written = |one: &Played| doing == Doing::Join || !matches!(one, Played::Write(path, _) if path == DATA);
    host.programs.insert("kubeadm join".into(), joined().into_iter().filter(is_written).map(new).collect());
    let _ = run(&documents, host, cluster);
}

fn try_reset(scope: ResetScope, host: &mut Memory, cluster: &FakeCluster) {
    let kubeconfig = Some(Secret::new(b"the operator's".to_vec()));
    let request = ResetRequest { kubeconfig, scope, ..reset_request() };
    let Ok(plan) = ResetPlan::new(&request, host, cluster) else { return };
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    let _ = reset(&request, &plan, world, &mut |_| ());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn data_of_etcd_is_deleted_only_after_its_member_is_gone(
        mut state in state(),
        doing in select(vec![
            Doing::Join,
            Doing::Join,
            Doing::Join,
            Doing::JoinAsWorker,
            Doing::Init,
            Doing::NothingOfKubeadm,
            Doing::Reset(ResetScope::Machine),
            Doing::Reset(ResetScope::NodeOnly),
        ]),
    ) {
        // Without the manifest of etcd, what an undo has started to delete is deleted.
        state.is_deleting &= state.manifest == Some(manifest()) && state.join == Progress::Started;
        let (mut host, cluster) = (state.machine(), state.cluster());
        let data = host.files[DATA].clone();
        act(doing, &mut host, &cluster);
        if host.files.get(DATA) != Some(&data) {
            prop_assert_eq!(state.etcd, EtcdIs::Held, "{:?}", state);
            prop_assert!(cluster.members.borrow().iter().all(|other| other.id.0 != 2), "{:?}", state);
        }
    }
}
