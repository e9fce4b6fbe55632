//! Programs of a ProgramsConfig: fetched, verified, installed, with their units; interrupted anywhere.
use crate::support::{FakeCluster, FakeRuntime, PATIENCE, file, fresh, left, look, run_pruning, text_of, turn, wanted};
use flate2::{Compression, write::GzEncoder};
use host::{Draft, FileState, Memory, contract};
use machineadm_engine::{
    Done, Download, Downloads, Failure, Line, Mode, Prune, Run, Wanted, World, bootstrap,
    outcome::{Reason, chain},
};
use objects::Sha256Sum;
use sha2::{Digest, Sha256};
use std::{cell::RefCell, collections::BTreeMap};

fn sum(bytes: &[u8]) -> Sha256Sum {
    Sha256Sum(Sha256::digest(bytes).into())
}

/// A server with these files, which sends so much at a time and then breaks off.
#[derive(Default)]
struct FakeServer {
    files: BTreeMap<String, Vec<u8>>,
    /// Bytes until the connection breaks.
    breaks_after: Option<usize>,
    /// What was asked for: the location, and from which byte on.
    asked: RefCell<Vec<(String, u64)>>,
}

impl FakeServer {
    fn with(files: &[(&str, &[u8])]) -> Self {
        let files = files.iter().map(|(name, bytes)| (format!("https://files/{name}"), bytes.to_vec())).collect();
        Self { files, ..Self::default() }
    }
}

impl Downloads for FakeServer {
    fn receive(&self, download: &Download<'_>, draft: &mut dyn Draft) -> host::Result<()> {
        let first = draft.size();
        self.asked.borrow_mut().push((download.uri.expose().clone(), first));
        let broken = |why: &str| host::Error::Unfit {
            what: download.name.to_owned(),
            why: why.to_owned(),
            advice: "check the server".to_owned(),
        };
        let file = self.files.get(download.uri.expose()).ok_or_else(|| broken("the server returned 404"))?;
        let rest = file.get(first as usize..).ok_or_else(|| broken("the server returned 416"))?;
        match self.breaks_after.filter(|most| *most < rest.len()) {
            Some(most) => draft.append(&rest[..most]).and(Err(broken("the connection ended early"))),
            None => draft.append(rest),
        }
    }
}

/// A compressed archive of these files.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, path, *bytes).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

fn containerd() -> Vec<u8> {
    archive(&[("bin/containerd", b"containerd 1"), ("bin/ctr", b"ctr 1")])
}

/// A document with all that a node needs, and its server.
fn everything() -> (Wanted, FakeServer) {
    let (containerd, cni) = (containerd(), archive(&[("bridge", b"bridge 1"), ("LICENSE", b"free")]));
    let server = FakeServer::with(&[
        ("kubeadm", b"kubeadm 1"),
        ("kubelet", b"kubelet 1"),
        ("runc", b"runc 1"),
        ("containerd.tgz", &containerd),
        ("cni.tgz", &cni),
        ("pause.tar", b"pause"),
    ]);
    let source = |name: &str, bytes: &[u8]| format!("{{source: {name}, sha256: '{}'}}", sum(bytes));
    let spec = format!(
        "{{location: 'https://files/', programs: {{kubeadm: {}, kubelet: {}, runc: {}, containerd: {}, cniPlugins: {}}}, \
         images: {{files: [{}]}}}}",
        source("kubeadm", b"kubeadm 1"),
        source("kubelet", b"kubelet 1"),
        source("runc", b"runc 1"),
        source("containerd.tgz", &containerd),
        source("cni.tgz", &cni),
        source("pause.tar", b"pause"),
    );
    (wanted(&[("ProgramsConfig", "node", &spec)]), server)
}

fn one(name: &str, bytes: &[u8]) -> Wanted {
    let spec =
        format!("{{location: 'https://files', programs: {{{name}: {{source: {name}, sha256: '{}'}}}}}}", sum(bytes));
    wanted(&[("ProgramsConfig", "node", &spec)])
}

/// A machine without any program of a node.
fn bare() -> Memory {
    Memory { services: BTreeMap::new(), programs: BTreeMap::new(), ..fresh() }
}

fn run_from(server: &FakeServer, mode: Mode, wanted: &Wanted, host: &mut Memory) -> Result<Done, Failure> {
    let run =
        Run { mode, wanted, prune: Prune::List, manifests: machineadm_engine::Manifests::Respected, reviewed: None };
    let cluster = FakeCluster::answering(Ok(true));
    let mut world =
        World { host, cluster: &cluster, runtime: &FakeRuntime::running(), downloads: server, patience: PATIENCE };
    bootstrap(&run, &mut world, &mut |_| ())
}

fn installed(host: &Memory, path: &str) -> Option<(String, u32)> {
    let FileState { contents, mode, .. } = host.files.get(path)?;
    Some((String::from_utf8_lossy(contents.expose()).into_owned(), *mode))
}

#[test]
fn everything_is_installed_started_and_imported_and_then_nothing_is_left_to_do() {
    let (wanted, server) = everything();
    let mut host = bare();
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
    for (path, text, mode) in [
        ("/opt/bin/kubeadm", "kubeadm 1", 0o755),
        ("/opt/bin/kubelet", "kubelet 1", 0o755),
        ("/opt/bin/runc", "runc 1", 0o755),
        ("/opt/bin/containerd", "containerd 1", 0o755),
        ("/opt/bin/ctr", "ctr 1", 0o755),
        ("/opt/cni/bin/bridge", "bridge 1", 0o755),
    ] {
        assert_eq!(installed(&host, path), Some((text.to_owned(), mode)), "{path}");
    }
    assert!(text_of(&host, "/etc/systemd/system/kubelet.service").contains("ExecStart=/opt/bin/kubelet\n"));
    assert!(text_of(&host, "/etc/systemd/system/kubelet.service.d/10-kubeadm.conf").contains("/opt/bin/kubelet $"));
    let wants = "/etc/systemd/system/multi-user.target.wants";
    assert_eq!(host.links[&format!("{wants}/kubelet.service")], "../kubelet.service");
    assert_eq!(host.links[&format!("{wants}/containerd.service")], "../containerd.service");
    let position =
        |what: &str| host.log.iter().position(|line| line.contains(what)).unwrap_or_else(|| panic!("{what}"));
    assert!(position("install /opt/bin/runc") < position("start containerd"), "{:?}", host.log);
    assert!(position("start containerd") < position("run ctr --namespace k8s.io images import"), "{:?}", host.log);
    assert!(!host.log.iter().any(|line| line == "start kubelet"), "kubeadm starts it: {:?}", host.log);
    assert!(host.drafts.is_empty(), "{:?}", host.drafts);
    assert!(!look(Mode::Provision, &wanted, &host).unwrap().is_open());
    let (log, asked) = (host.log.clone(), server.asked.borrow().len());
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
    assert_eq!((host.log, server.asked.borrow().len()), (log, asked));
}

#[test]
fn power_lost_anywhere_ends_in_the_same_machine() {
    let (wanted, server) = everything();
    let mut whole = bare();
    run_from(&server, Mode::Provision, &wanted, &mut whole).unwrap();
    for power in 0.. {
        let mut host = Memory { power: Some(power), ..bare() };
        let ended = run_from(&server, Mode::Provision, &wanted, &mut host);
        host.power = None;
        run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
        assert_eq!(left(&host), left(&whole), "power lost after {power} changes");
        if ended.is_ok() {
            assert!(power > 30, "{power}");
            return;
        }
    }
}

#[test]
fn an_interrupted_download_goes_on_where_it_stopped() {
    let wanted = one("kubeadm", b"kubeadm 1");
    let mut server = FakeServer::with(&[("kubeadm", b"kubeadm 1")]);
    server.breaks_after = Some(4);
    let mut host = bare();
    let failure = run_from(&server, Mode::Provision, &wanted, &mut host).unwrap_err();
    assert_eq!(chain(&*failure.cause), "kubeadm: the connection ended early");
    assert_eq!(failure.reason(), Reason::DownloadFailed);
    assert_eq!(installed(&host, "/opt/bin/kubeadm"), None);
    server.breaks_after = None;
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
    let url = "https://files/kubeadm".to_owned();
    assert_eq!(*server.asked.borrow(), [(url.clone(), 0), (url, 4)]);
    assert_eq!(installed(&host, "/opt/bin/kubeadm").unwrap().0, "kubeadm 1");
}

#[test]
fn a_file_that_changed_between_two_parts_is_fetched_anew() {
    let wanted = one("kubeadm", b"kubeadm 1");
    let mut server = FakeServer::with(&[("kubeadm", b"KUBE another")]);
    server.breaks_after = Some(4);
    let mut host = bare();
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap_err();
    let server = FakeServer::with(&[("kubeadm", b"kubeadm 1")]);
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
    let firsts: Vec<u64> = server.asked.borrow().iter().map(|(_, first)| *first).collect();
    assert_eq!(firsts, [4, 0]);
    assert_eq!(installed(&host, "/opt/bin/kubeadm").unwrap().0, "kubeadm 1");
}

#[test]
fn a_tampered_truncated_or_exchanged_program_is_refused_and_nothing_of_it_is_left() {
    for bytes in [&b"kubeadm X"[..], b"kubeadm", b"kubelet 1", b""] {
        let wanted = one("kubeadm", b"kubeadm 1");
        let mut host = bare();
        host.files.insert("/opt/bin/kubeadm".into(), file("an older one"));
        let before = host.files.clone();
        let failure =
            run_from(&FakeServer::with(&[("kubeadm", bytes)]), Mode::Provision, &wanted, &mut host).unwrap_err();
        let cause = chain(&*failure.cause);
        assert_eq!(failure.step_in_words().as_deref(), Some("install kubeadm"));
        assert_eq!(failure.reason(), Reason::ChecksumMismatch);
        for digest in [sum(bytes), sum(b"kubeadm 1")] {
            assert!(cause.contains(&digest.to_string()), "{cause}");
        }
        host.files.remove(contract::JOURNAL);
        assert!(host.files == before && host.drafts.is_empty() && host.log.is_empty(), "{bytes:?}: {:?}", host.log);
    }
}

#[test]
fn an_archive_with_anything_but_programs_is_refused_as_a_whole() {
    let bad = archive(&[("bin/containerd", b"c"), ("etc/crictl.yaml", b"y")]);
    let mut host = bare();
    let server = FakeServer::with(&[("containerd", &bad)]);
    let failure = run_from(&server, Mode::Provision, &one("containerd", &bad), &mut host).unwrap_err();
    assert!(chain(&*failure.cause).contains("contains `etc/crictl.yaml`"), "{failure:?}");
    assert_eq!(failure.reason(), Reason::DocumentNotApplicable);
    assert!(host.drafts.is_empty() && !host.files.keys().any(|path| path.starts_with("/opt")), "{:?}", host.files);
}

#[test]
fn a_program_that_changed_is_installed_again_and_its_running_service_restarted_once() {
    let (first, server) = (one("kubelet", b"kubelet 1"), FakeServer::with(&[("kubelet", b"kubelet 1")]));
    let mut host = bare();
    run_from(&server, Mode::Provision, &first, &mut host).unwrap();
    host.services.insert("kubelet".into(), true);
    host.log.clear();
    run_from(&server, Mode::Post, &first, &mut host).unwrap();
    assert_eq!(host.log, [""; 0], "it has read its program");
    let (second, server) = (one("kubelet", b"kubelet 2"), FakeServer::with(&[("kubelet", b"kubelet 2")]));
    run_from(&server, Mode::Post, &second, &mut host).unwrap();
    assert_eq!(host.log, ["install /opt/bin/kubelet", "restart kubelet"]);
    host.log.clear();
    // Somebody else has changed it.
    host.files.insert("/opt/bin/kubelet".into(), FileState { mode: 0o755, ..file("kubelet X") });
    run_from(&server, Mode::Post, &second, &mut host).unwrap();
    assert_eq!(host.log, ["install /opt/bin/kubelet", "restart kubelet"]);
}

#[test]
fn a_missing_file_of_an_archive_is_installed_again() {
    let (wanted, server) = everything();
    let mut host = bare();
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
    host.files.remove("/opt/bin/ctr");
    let preview = look(Mode::Provision, &wanted, &host).unwrap();
    let steps: Vec<_> =
        turn(&preview, "ProgramsConfig node").steps.iter().map(|step| Line::of(step).to_string()).collect();
    assert_eq!(steps, ["install containerd", "restart containerd"]);
    run_from(&server, Mode::Provision, &wanted, &mut host).unwrap();
    assert_eq!(installed(&host, "/opt/bin/ctr").unwrap().0, "ctr 1");
}

#[test]
fn a_plan_shows_where_a_program_comes_from_without_secrets() {
    let spec = format!(
        "{{location: 'https://files/k8s?sig=s3cret', programs: {{kubeadm: {{source: kubeadm, sha256: '{}'}}}}}}",
        sum(b"kubeadm 1")
    );
    let preview = look(Mode::Provision, &wanted(&[("ProgramsConfig", "node", &spec)]), &bare()).unwrap();
    let line = Line::of(&turn(&preview, "ProgramsConfig node").steps[0]);
    assert_eq!((line.to_string().as_str(), line.mark()), ("install kubeadm", "+"));
    let short = sum(b"kubeadm 1").short();
    assert_eq!(line.detail, format!("/opt/bin/kubeadm from https://files/k8s/kubeadm, sha256 {short}…"));
}

#[test]
fn a_program_that_is_found_before_the_installed_one_is_a_problem() {
    let mut host = bare();
    host.files.insert("/usr/bin/kubeadm".into(), file("another"));
    let failure = look(Mode::Provision, &one("kubeadm", b"kubeadm 1"), &host).unwrap_err();
    let expected =
        "/usr/bin/kubeadm exists, and is found before /opt/bin/kubeadm: delete it, or set `directory: /usr/bin`";
    assert_eq!(failure.cause.to_string(), expected);
}

#[test]
fn local_files_are_copied_and_a_directory_of_images_is_imported_once() {
    let spec = format!(
        "{{location: /srv, programs: {{kubeadm: {{source: kubeadm, sha256: '{}'}}}}, images: {{directory: /srv/images}}}}",
        sum(b"kubeadm 1")
    );
    let wanted = wanted(&[("ProgramsConfig", "node", &spec)]);
    let mut host = fresh();
    host.files.insert("/srv/kubeadm".into(), file("kubeadm 1"));
    for name in ["b.tar", "a.tar", "notes.txt"] {
        host.files.insert(format!("/srv/images/{name}"), file(name));
    }
    let nobody = FakeServer::default();
    run_from(&nobody, Mode::Provision, &wanted, &mut host).unwrap();
    let import = |name: &str| format!("run ctr --namespace k8s.io images import /srv/images/{name}");
    assert_eq!(host.log, ["install /opt/bin/kubeadm".to_owned(), import("a.tar"), import("b.tar")]);
    host.log.clear();
    host.files.insert("/srv/images/b.tar".into(), file("another"));
    run_from(&nobody, Mode::Provision, &wanted, &mut host).unwrap();
    assert_eq!(host.log, [import("b.tar")]);
    // The journal is lost.
    host.files.remove(contract::JOURNAL);
    host.log.clear();
    run_from(&nobody, Mode::Provision, &wanted, &mut host).unwrap();
    assert_eq!(host.log, [import("a.tar"), import("b.tar")]);
    host.files.insert("/srv/images/c.tar".into(), FileState { mode: 0o666, ..file("of others") });
    let failure = look(Mode::Provision, &wanted, &host).unwrap_err();
    assert_eq!(chain(&*failure.cause), "/srv/images/c.tar: can be written by other users than root");
}

#[test]
fn programs_that_no_document_names_any_more_are_deleted_by_prune_unless_they_replaced_something() {
    let (wanted_all, server) = everything();
    let mut host = bare();
    host.files.insert("/opt/bin/runc".into(), file("of somebody else"));
    run_from(&server, Mode::Provision, &wanted_all, &mut host).unwrap();
    let other = wanted(&[("FilesConfig", "", "{files: [{path: /etc/motd, content: x}]}")]);
    run_pruning(&other, &mut host).unwrap();
    let programs: Vec<_> = host.files.keys().filter(|path| path.starts_with("/opt/")).collect();
    assert_eq!(programs, ["/opt/bin/runc"]);
    assert!(!host.files.contains_key("/etc/systemd/system/kubelet.service"));
    // While the document is there, nothing of it is stale.
    let mut host = bare();
    run_from(&server, Mode::Post, &wanted_all, &mut host).unwrap();
    let preview = look(Mode::Post, &wanted_all, &host).unwrap();
    assert_eq!(turn(&preview, "prune").remarks, []);
}

#[test]
fn drafts_of_an_earlier_configuration_are_deleted() {
    let mut server = FakeServer::with(&[("kubeadm", b"kubeadm 1"), ("runc", b"runc 1")]);
    server.breaks_after = Some(2);
    let mut host = bare();
    run_from(&server, Mode::Provision, &one("kubeadm", b"kubeadm 1"), &mut host).unwrap_err();
    assert_eq!(host.drafts.len(), 1);
    server.breaks_after = None;
    run_from(&server, Mode::Provision, &one("runc", b"runc 1"), &mut host).unwrap();
    assert!(host.drafts.is_empty());
}
