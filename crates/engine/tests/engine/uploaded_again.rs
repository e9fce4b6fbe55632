//! The certificates copy in mode post: uploaded again once the cluster has deleted it, and only then.
use crate::{
    pem_set::PemSet,
    support::{
        ADMIN_KUBECONFIG, FORWARDING, FakeCluster, FakeRuntime, INIT, PATIENCE, TRACES, file, fresh, left, run_as,
        turn, wanted,
    },
};
use host::{Host, Inspect, Memory, Progress};
use machineadm_engine::{
    Ask, Checks, Failure, Line, Mode, Planned, Preview, Prune, Remark, Run, UPLOAD_ID, Wanted, preview,
};
use std::sync::LazyLock;

const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const OTHER_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const NAME: &str = "certificates";
const UPLOAD: &str = "run upload of certificates";

static OWN: LazyLock<PemSet> = LazyLock::new(PemSet::new);
static OTHER: LazyLock<PemSet> = LazyLock::new(PemSet::new);

fn uploading(further: &str) -> Wanted {
    let spec = format!("{{kubernetesVersion: v1.36.4, certificateKey: {KEY}{further}}}");
    wanted(&[FORWARDING, ("InitConfig", "", &spec)])
}

/// A node whose certificates were uploaded when it created its cluster.
fn node(pki: &str) -> Memory {
    let mut host = fresh();
    host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
    host.files.extend(OWN.on_a_node(pki));
    for path in TRACES {
        let text = if path.ends_with("/admin.conf") { ADMIN_KUBECONFIG } else { "" };
        host.files.insert(path.into(), file(text));
    }
    host.note("kubeadm init", Progress::Ended).unwrap();
    host.note(UPLOAD_ID, Progress::Ended).unwrap();
    host
}

fn store(cluster: &FakeCluster, key: &str, set: &PemSet) {
    *cluster.certs.as_ref().unwrap().stored.borrow_mut() = Some((key.to_owned(), set.found()));
}

fn uploads(cluster: &FakeCluster) -> usize {
    cluster.certs.as_ref().unwrap().uploads.get()
}

fn planned(mode: Mode, wanted: &Wanted, host: &Memory, cluster: &FakeCluster) -> Preview {
    let ask = Ask {
        mode,
        wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        checks: Checks::Executed,
        patience: PATIENCE,
    };
    preview(&ask, host, cluster, &FakeRuntime::running()).unwrap()
}

fn lines(planned: &Planned) -> Vec<String> {
    planned.steps.iter().map(|step| Line::of(step).to_string()).collect()
}

fn applied(mode: Mode, wanted: &Wanted, host: &mut Memory, cluster: &FakeCluster) -> Result<(), Failure> {
    run_as(
        &Run { mode, wanted, prune: Prune::List, manifests: machineadm_engine::Manifests::Respected, reviewed: None },
        host,
        cluster,
    )
    .map(drop)
}

#[test]
fn in_mode_post_what_the_cluster_has_deleted_or_has_under_another_key_is_uploaded_again() {
    type State = fn(&FakeCluster);
    let states: [(&str, State, &[&str]); 4] = [
        ("deleted", |_| (), &[UPLOAD]),
        ("another key", |cluster| store(cluster, OTHER_KEY, &OWN), &[UPLOAD]),
        ("files of another cluster", |cluster| store(cluster, KEY, &OTHER), &[UPLOAD]),
        ("alive", |cluster| store(cluster, KEY, &OWN), &[]),
    ];
    for (name, state, expected) in states {
        let (mut host, cluster, wanted) =
            (node("/etc/kubernetes/pki"), FakeCluster::with_certificates(), uploading(""));
        state(&cluster);
        assert_eq!(lines(turn(&planned(Mode::Post, &wanted, &host, &cluster), NAME)), expected, "{name}");
        applied(Mode::Post, &wanted, &mut host, &cluster).unwrap();
        assert_eq!(uploads(&cluster), expected.len(), "{name}");
        // The second run has nothing to do.
        let after = left(&host);
        assert!(!planned(Mode::Post, &wanted, &host, &cluster).is_open(), "{name}");
        applied(Mode::Post, &wanted, &mut host, &cluster).unwrap();
        assert_eq!((uploads(&cluster), left(&host)), (expected.len(), after), "{name}");
    }
}

#[test]
fn in_mode_provision_they_are_uploaded_once() {
    let (mut host, cluster, wanted) = (node("/etc/kubernetes/pki"), FakeCluster::with_certificates(), uploading(""));
    let preview = planned(Mode::Provision, &wanted, &host, &cluster);
    assert_eq!(lines(turn(&preview, "InitConfig")), [""; 0]);
    assert!(preview.0.iter().all(|(label, _)| label.to_string() != NAME), "{preview:?}");
    applied(Mode::Provision, &wanted, &mut host, &cluster).unwrap();
    assert_eq!(uploads(&cluster), 0);
}

#[test]
fn a_cluster_that_does_not_answer_is_a_remark_and_no_upload() {
    let (mut host, cluster, wanted) = (node("/etc/kubernetes/pki"), FakeCluster::with_certificates(), uploading(""));
    cluster.certs.as_ref().unwrap().silent.set(true);
    let preview = planned(Mode::Post, &wanted, &host, &cluster);
    let what = "Secret kube-system/kubeadm-certs".to_owned();
    assert_eq!(turn(&preview, NAME).remarks, [Remark::Unasked { what, why: "it did not answer".into() }]);
    applied(Mode::Post, &wanted, &mut host, &cluster).unwrap();
    assert_eq!(uploads(&cluster), 0);
}

#[test]
fn without_a_key_or_without_a_cluster_there_is_nothing_to_upload() {
    // This fake panics when somebody asks it for certificates.
    let cluster = FakeCluster::answering(Ok(true));
    let preview = planned(Mode::Post, &wanted(&[FORWARDING, INIT]), &node("/etc/kubernetes/pki"), &cluster);
    assert!(preview.0.iter().all(|(label, _)| label.to_string() != NAME), "{preview:?}");
    let preview = planned(Mode::Post, &uploading(""), &fresh(), &cluster);
    assert_eq!(turn(&preview, NAME), &Planned::default());
    let mut disk = node("/etc/kubernetes/pki");
    disk.live = false;
    assert_eq!(turn(&planned(Mode::Post, &uploading(""), &disk, &cluster), NAME), &Planned::default());
}

#[test]
fn the_files_are_those_of_the_certificates_directory() {
    let (mut host, cluster) = (node("/srv/pki"), FakeCluster::with_certificates());
    cluster.certs.as_ref().unwrap().directory.set(Some("/srv/pki"));
    let wanted = uploading(", certificatesDirectory: /srv/pki");
    applied(Mode::Post, &wanted, &mut host, &cluster).unwrap();
    assert_eq!(uploads(&cluster), 1);
}

#[test]
fn power_lost_after_any_change_ends_with_a_live_copy() {
    let wanted = uploading("");
    for power in 0.. {
        let (mut host, cluster) = (node("/etc/kubernetes/pki"), FakeCluster::with_certificates());
        host.power = Some(power);
        let is_whole = applied(Mode::Post, &wanted, &mut host, &cluster).is_ok();
        host.power = None;
        applied(Mode::Post, &wanted, &mut host, &cluster).unwrap();
        assert_eq!(uploads(&cluster), 1, "after {power} changes");
        assert_eq!(host.unfinished().unwrap(), Vec::<String>::new(), "after {power} changes");
        if is_whole {
            assert!(power > 1, "the upload is journaled");
            break;
        }
    }
}
