//! The certificates copy after `kubeadm init`: uploaded once, again only if that did not end, and its key is shown nowhere.
use crate::{
    pem_set::PemSet,
    support::{
        ADMIN_KUBECONFIG, FORWARDING, FakeCluster, FakeRuntime, INIT, NoDownloads, PATIENCE, TRACES, file, fresh, left,
        run_as, turn, wanted,
    },
};
use certs::{Etcd, FileSet, Found, check_download};
use host::{Host, Inspect, Memory, Played, Progress};
use jiff::Timestamp;
use machineadm_engine::{
    Ask, Checks, Line, Mode, PlanKey, PlanView, Preview, Prune, Recorder, Redactor, Remark, Reviewed, Run, SavedPlan,
    Step, UPLOAD_ID, Wanted, World, bootstrap, preview,
};
use std::sync::LazyLock;

const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
const OTHER_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
const PKI: &str = "/etc/kubernetes/pki";

static OWN: LazyLock<PemSet> = LazyLock::new(PemSet::new);
static OTHER: LazyLock<PemSet> = LazyLock::new(PemSet::new);

/// A configuration whose `kubeadm init` is followed by an upload.
fn uploading() -> Wanted {
    let spec = format!("{{kubernetesVersion: v1.36.4, certificateKey: {KEY}}}");
    wanted(&[FORWARDING, ("InitConfig", "", &spec)])
}

/// What `kubeadm init` writes: certificates first.
fn written_by_kubeadm() -> Vec<(String, String)> {
    let text = |file: &host::FileState| String::from_utf8(file.contents.expose().clone()).unwrap();
    let certificates = OWN.on_a_node(PKI).into_iter().map(|(path, file)| (path, text(&file)));
    let traces = TRACES.map(|path| match path.ends_with("/admin.conf") {
        true => (path.to_owned(), ADMIN_KUBECONFIG.to_owned()),
        false => (path.to_owned(), String::new()),
    });
    certificates.chain(traces).collect()
}

/// A machine whose kubeadm creates certificates.
fn machine() -> Memory {
    let mut host = fresh();
    let played = written_by_kubeadm().into_iter().map(|(path, text)| Played::Write(path, text));
    host.programs.insert("kubeadm init".into(), played.collect());
    host
}

/// The machine after kubeadm has ended.
fn node() -> Memory {
    let mut host = machine();
    host.sysctls.insert("net/ipv4/ip_forward".into(), "1".into());
    host.files.extend(written_by_kubeadm().into_iter().map(|(path, text)| (path, file(&text))));
    host.note("kubeadm init", Progress::Ended).unwrap();
    host
}

fn copy(cluster: &FakeCluster) -> &crate::support::FakeCertificates {
    cluster.certs.as_ref().unwrap()
}

fn store(cluster: &FakeCluster, key: &str, set: &PemSet) {
    *copy(cluster).stored.borrow_mut() = Some((key.to_owned(), set.found()));
}

/// Whether the cluster has this machine's files under the key of the configuration.
fn has_own(cluster: &FakeCluster) -> bool {
    let stored = copy(cluster).stored.borrow();
    let content = |found: &Found| match found {
        Found::Content(content) => content.expose().clone(),
        other => panic!("{other:?}"),
    };
    let Some((key, files)) = &*stored else { return false };
    let own = OWN.found();
    key == KEY && files.len() == own.len() && own.iter().all(|(name, own)| content(own) == content(&files[name]))
}

fn planned(host: &Memory, cluster: &FakeCluster) -> Preview {
    let wanted = uploading();
    let ask = Ask {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        checks: Checks::Executed,
        patience: PATIENCE,
    };
    preview(&ask, host, cluster, &FakeRuntime::running()).unwrap()
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

#[test]
fn certificates_are_uploaded_once_after_kubeadm_init() {
    let (mut host, cluster) = (machine(), FakeCluster::with_certificates());
    let preview = planned(&host, &cluster);
    let lines: Vec<_> = turn(&preview, "InitConfig").steps.iter().map(Line::of).collect();
    assert_eq!(
        lines.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["run kubeadm init", "run upload of certificates"]
    );
    assert_eq!(lines[1].detail, "8 files, for two hours at most");
    assert!(applied(&uploading(), &mut host, &cluster));
    assert!(has_own(&cluster));
    let stored = copy(&cluster).stored.borrow().as_ref().unwrap().1.clone();
    assert!(check_download(&FileSet::new(&Etcd::Stacked), stored, &OWN.ca(), Timestamp::now()).is_ok());
    assert_eq!((copy(&cluster).uploads.get(), host.progress(UPLOAD_ID).unwrap()), (1, Progress::Ended));
    let after = left(&host);
    assert!(applied(&uploading(), &mut host, &cluster));
    assert_eq!((copy(&cluster).uploads.get(), left(&host)), (1, after));
    assert!(!planned(&host, &cluster).is_open());
}

#[test]
fn without_a_key_nothing_is_uploaded() {
    // This fake panics when somebody asks it for certificates.
    let (mut host, cluster) = (machine(), FakeCluster::answering(Ok(true)));
    assert!(applied(&wanted(&[FORWARDING, INIT]), &mut host, &cluster));
    assert_eq!(host.progress(UPLOAD_ID).unwrap(), Progress::New);
}

#[test]
fn the_cluster_and_then_the_journal_decide_whether_certificates_are_uploaded() {
    type State = fn(&FakeCluster);
    let live: State = |cluster| store(cluster, KEY, &OWN);
    let others: [(&str, State); 4] = [
        ("never uploaded, or deleted in time", |_| ()),
        ("files of another cluster", |cluster| store(cluster, KEY, &OTHER)),
        ("another key", |cluster| store(cluster, OTHER_KEY, &OWN)),
        ("no answer", |cluster| copy(cluster).silent.set(true)),
    ];
    let unseen = [
        (Progress::New, Some("run")),
        (Progress::Started, Some("redo")),
        (Progress::Failed, Some("run")),
        (Progress::Ended, None),
    ];
    let seen = [
        (Progress::New, None),
        (Progress::Started, Some("close")),
        (Progress::Failed, Some("close")),
        (Progress::Ended, None),
    ];
    let states = others.into_iter().map(|state| (state, unseen)).chain([(("this node's files", live), seen)]);
    for ((name, state), expected) in states {
        for (progress, verb) in expected {
            let (mut host, cluster) = (node(), FakeCluster::with_certificates());
            state(&cluster);
            host.note(UPLOAD_ID, progress).unwrap();
            let case = format!("{name}, {progress:?}");
            let preview = planned(&host, &cluster);
            let init = turn(&preview, "InitConfig");
            let verbs: Vec<_> = init
                .steps
                .iter()
                .map(|step| match step {
                    Step::Run(act) if act.id() == UPLOAD_ID => "run",
                    Step::Redo(act) if act.id() == UPLOAD_ID => "redo",
                    Step::Close(act) if act.id() == UPLOAD_ID => "close",
                    other => panic!("{case}: {other:?}"),
                })
                .collect();
            assert_eq!(verbs, verb.into_iter().collect::<Vec<_>>(), "{case}");
            // Whether it was deleted in time or never stored cannot be seen any more.
            let is_unseen = verb.is_none() && name != "this node's files";
            let remarks: &[Remark] = &[Remark::Unverifiable("upload of certificates".into())];
            assert_eq!(init.remarks, if is_unseen { remarks } else { &[] }, "{case}");
            copy(&cluster).silent.set(false);
            assert!(applied(&uploading(), &mut host, &cluster), "{case}");
            let uploads = usize::from(matches!(verb, Some("run" | "redo")));
            assert_eq!(copy(&cluster).uploads.get(), uploads, "{case}");
            assert_eq!(has_own(&cluster), uploads == 1 || name == "this node's files", "{case}");
            let ended = if verb.is_some() { Progress::Ended } else { progress };
            assert_eq!(host.progress(UPLOAD_ID).unwrap(), ended, "{case}");
        }
    }
}

#[test]
fn a_failed_upload_is_reported_and_run_again() {
    let (mut host, cluster) = (machine(), FakeCluster::with_certificates());
    copy(&cluster).fails.set(true);
    let wanted = uploading();
    let run = Run {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let failure = run_as(&run, &mut host, &cluster).unwrap_err();
    assert_eq!(failure.step_in_words().as_deref(), Some("run upload of certificates"));
    assert!(failure.cause.to_string().contains("the token cleaner does not work"), "{failure:?}");
    assert_eq!(failure.reason(), machineadm_engine::outcome::Reason::CertificatesNotUploaded);
    assert_eq!(host.progress(UPLOAD_ID).unwrap(), Progress::Failed);
    copy(&cluster).fails.set(false);
    assert!(applied(&wanted, &mut host, &cluster));
    assert!(has_own(&cluster));
    let inits = host.log.iter().filter(|entry| entry.starts_with("run kubeadm init")).count();
    assert_eq!((inits, copy(&cluster).uploads.get()), (1, 2), "only the upload is repeated");
}

#[test]
fn power_lost_after_any_change_ends_with_one_live_copy() {
    let wanted = uploading();
    let (mut whole, cluster) = (machine(), FakeCluster::with_certificates());
    assert!(applied(&wanted, &mut whole, &cluster));
    let (mut cuts, mut met) = (0, [0; 3]);
    for power in 0.. {
        let (mut host, cluster) = (Memory { power: Some(power), ..machine() }, FakeCluster::with_certificates());
        let is_cut = !applied(&wanted, &mut host, &cluster);
        host.power = None;
        let before = copy(&cluster).uploads.get();
        let progress = host.progress(UPLOAD_ID).unwrap();
        assert!(applied(&wanted, &mut host, &cluster), "after {power} changes");
        assert_eq!(left(&host), left(&whole), "power failed after {power} changes");
        assert!(has_own(&cluster), "after {power} changes");
        assert_eq!(copy(&cluster).uploads.get(), 1, "what is there is not uploaded again: after {power} changes");
        if !is_cut {
            break;
        }
        cuts += 1;
        match (before, progress) {
            (0, Progress::New) => met[0] += 1,
            (0, Progress::Started) => met[1] += 1,
            (1, Progress::Started) => met[2] += 1,
            other => panic!("{other:?} after {power} changes"),
        }
    }
    assert!(cuts > 15 && met[0] > 10 && met[2] == 1, "cuts before, at and after the upload: {met:?}");
}

#[test]
fn an_interrupted_upload_that_is_no_longer_asked_for_stops_nothing() {
    for documents in [&[FORWARDING][..], &[FORWARDING, INIT]] {
        let (mut host, cluster) = (node(), FakeCluster::answering(Ok(true)));
        host.note(UPLOAD_ID, Progress::Started).unwrap();
        assert!(applied(&wanted(documents), &mut host, &cluster), "{documents:?}");
        assert_eq!(host.unfinished().unwrap(), Vec::<String>::new(), "{documents:?}");
    }
}

#[test]
fn another_key_is_drift_from_a_reviewed_plan() {
    let (host, cluster) = (machine(), FakeCluster::with_certificates());
    let plan = saved(&planned(&host, &cluster));
    let plan = SavedPlan::read(plan.as_bytes()).unwrap().verified(&PlanKey::new([1; 32])).unwrap();
    let spec = format!("{{kubernetesVersion: v1.36.4, certificateKey: {OTHER_KEY}}}");
    let exchanged = wanted(&[FORWARDING, ("InitConfig", "", &spec)]);
    for (wanted, is_allowed) in [(exchanged, false), (uploading(), true)] {
        let run = Run {
            mode: Mode::Provision,
            wanted: &wanted,
            prune: Prune::List,
            manifests: machineadm_engine::Manifests::Respected,
            reviewed: Some(&plan),
        };
        let cluster = FakeCluster::with_certificates();
        assert_eq!(run_as(&run, &mut machine(), &cluster).is_ok(), is_allowed);
        assert_eq!(copy(&cluster).uploads.get(), usize::from(is_allowed));
    }
}

fn saved(preview: &Preview) -> String {
    let wanted = uploading();
    let plan = SavedPlan::new(Reviewed {
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        machine_id: "memory",
        configuration: b"the configuration",
        fetched: &[],
        preview,
        shown: PlanView::new("name".into(), Mode::Provision, &wanted, preview),
        key: &PlanKey::new([1; 32]),
        number: "0123".into(),
    });
    String::from_utf8(plan.bytes().expose().clone()).unwrap()
}

/// Everything that a run writes, shows or remembers; the files that kubeadm wrote are its own.
fn everything_shown(host: &mut Memory, cluster: &FakeCluster) -> Vec<String> {
    let wanted = uploading();
    let preview = planned(host, cluster);
    let view = PlanView::new("name".into(), Mode::Provision, &wanted, &preview);
    let mut shown = vec![saved(&preview), serde_json::to_string(&view).unwrap(), format!("{view:?} {preview:?}")];
    let mut recorder = Recorder::begin("1", "m".into(), Mode::Provision, &wanted, Timestamp::UNIX_EPOCH);
    let run = Run {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: machineadm_engine::Manifests::Respected,
        reviewed: None,
    };
    let mut events = String::new();
    let mut watch = |event: machineadm_engine::Event<'_>| {
        events += &format!("{event:?}\n");
        recorder.note(&event, Timestamp::UNIX_EPOCH);
    };
    let world =
        &mut World { host, cluster, runtime: &FakeRuntime::running(), downloads: &NoDownloads, patience: PATIENCE };
    let ended = bootstrap(&run, world, &mut watch);
    // Without a redactor's help: nobody may have to hide it.
    recorder.end(ended.as_ref(), &Redactor::new([]), Timestamp::UNIX_EPOCH);
    shown.extend([events, String::from_utf8(recorder.outcome.bytes()).unwrap(), format!("{ended:?}")]);
    let own = written_by_kubeadm();
    let files = host.files.iter().filter(|(path, _)| !own.iter().any(|(own, _)| own == *path));
    shown.extend(files.map(|(path, file)| format!("{path} {}", String::from_utf8_lossy(file.contents.expose()))));
    // What the machine's kubeadm will write is part of the fake.
    host.programs.clear();
    shown.extend([host.log.join("\n"), format!("{host:?}")]);
    shown
}

#[test]
fn the_certificate_key_and_the_private_keys_are_in_no_plan_outcome_journal_or_file() {
    for fails in [false, true] {
        let (mut host, cluster) = (machine(), FakeCluster::with_certificates());
        copy(&cluster).fails.set(fails);
        let shown = everything_shown(&mut host, &cluster);
        assert!(shown.iter().any(|text| text.contains("upload of certificates")));
        assert!(shown.iter().any(|text| text.contains(UPLOAD_ID)), "the journal is among it");
        let private = OWN.private_keys().flat_map(|pem| pem.lines().filter(|line| !line.starts_with('-')));
        let upper = KEY.to_uppercase();
        let key = [&KEY[..16], &KEY[48..], &upper[..16]];
        let secrets: Vec<&str> = private.filter(|line| line.len() > 20).chain(key).collect();
        for text in &shown {
            let found = secrets.iter().find(|secret| text.contains(**secret));
            assert_eq!(found, None, "{}", &text[..text.len().min(300)]);
        }
    }
}

#[test]
fn a_key_that_is_none_is_refused_without_a_word_of_it() {
    let text = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: InitConfig\nspec: {{kubernetesVersion: v1.36.4, \
         certificateKey: {}x}}\n",
        &KEY[..63]
    );
    let source = documents::Source { name: "test".into(), bytes: text.into_bytes().into() };
    let report = documents::read(vec![source]).report;
    assert!(report.has_errors() && !report.to_string().contains(&KEY[..16]), "{report}");
}
