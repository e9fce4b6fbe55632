//! What earlier documents wrote and no document names any more: listed by default, restored with `--prune`.
use crate::support::{everything, file, fresh, has, left, look, look_with, run, run_pruning, text_of, turn, wanted};
use host::{DirectoryState, FileState, Memory};
use machineadm_engine::{Mode, Prune, Remark};

const KEPT: (&str, &str, &str) = ("FilesConfig", "kept", "{files: [{path: /etc/kept, content: k}]}");
const MOTD: (&str, &str, &str) = ("FilesConfig", "motd", "{files: [{path: /etc/motd, content: new}]}");

fn stale(host: &Memory) -> Vec<(String, String, &'static str)> {
    let preview = look(Mode::Post, &wanted(&[KEPT]), host).unwrap();
    let remarks = turn(&preview, "prune").remarks.iter();
    remarks
        .map(|remark| match remark {
            Remark::Stale { what, document, fate } => (what.clone(), document.clone(), *fate),
            other => panic!("{other}"),
        })
        .collect()
}

#[test]
fn nothing_is_removed_by_default_and_the_plan_lists_it() {
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    assert_eq!(stale(&host), [("/etc/motd".into(), "FilesConfig motd".into(), "--prune deletes it")]);
    let before = left(&host);
    run(Mode::Post, &wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(left(&host), before);
    assert!(!look(Mode::Post, &wanted(&[KEPT]), &host).unwrap().is_open());
    // A document that names it under another name owns it from then on.
    let renamed = wanted(&[("FilesConfig", "other", "{files: [{path: /etc/motd, content: new}]}"), KEPT]);
    assert_eq!(turn(&look(Mode::Post, &renamed, &host).unwrap(), "prune").remarks, []);
}

#[test]
fn prune_restores_the_previous_content_mode_and_owner() {
    let mut host = fresh();
    let theirs = FileState { mode: 0o600, uid: 7, gid: 8, ..file("theirs\n") };
    host.files.insert("/etc/motd".into(), theirs.clone());
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    // A second version of the document does not make the first the previous content.
    let second = ("FilesConfig", "motd", "{files: [{path: /etc/motd, content: newer}]}");
    run(Mode::Post, &wanted(&[second, KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/motd"), "newer");
    assert_eq!(stale(&host)[0].2, "--prune restores what was there before");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(host.files["/etc/motd"], theirs);
    assert_eq!(stale(&host), []);
    assert!(
        !host.files.keys().any(|path| path.starts_with("/var/lib/machineadm/previous/")),
        "{:?}",
        host.files.keys()
    );
}

#[test]
fn prune_deletes_what_was_not_there_before() {
    let mut host = fresh();
    let mut without = fresh();
    run(Mode::Post, &wanted(&[KEPT]), &mut without).unwrap();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(left(&host), left(&without));
    assert!(!has(&host, "/etc/motd") && has(&host, "/etc/kept"));
}

#[test]
fn a_path_changed_since_is_kept_and_reported() {
    type Change = fn(&mut Memory);
    let changes: [Change; 2] = [
        |host| drop(host.files.insert("/etc/motd".into(), file("the operator's"))),
        |host| host.files.get_mut("/etc/motd").unwrap().mode = 0o600,
    ];
    for change in changes {
        let mut host = fresh();
        run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
        change(&mut host);
        let kept = host.files["/etc/motd"].clone();
        assert_eq!(stale(&host)[0].2, "it was changed since, so it stays");
        run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
        assert_eq!(host.files["/etc/motd"], kept);
        assert_eq!(stale(&host).len(), 1);
    }
}

#[test]
fn what_somebody_put_there_in_between_becomes_the_previous_content() {
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    host.files.insert("/etc/motd".into(), file("the operator's"));
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/motd"), "new");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/motd"), "the operator's");
}

#[test]
fn a_path_that_is_gone_or_back_already_needs_nothing() {
    let mut host = fresh();
    host.files.insert("/etc/motd".into(), file("theirs"));
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    host.files.insert("/etc/motd".into(), file("theirs"));
    assert_eq!(stale(&host), []);
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/motd"), "theirs");
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    host.files.remove("/etc/motd");
    assert_eq!(stale(&host), []);
}

#[test]
fn what_is_too_large_to_copy_stays() {
    let mut host = fresh();
    host.files.insert("/etc/motd".into(), file(&"x".repeat((1 << 20) + 1)));
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    assert_eq!(
        stale(&host)[0].2,
        "its previous content was larger than 1 MiB and was not copied, so it is not restored"
    );
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/motd"), "new");
    let mut host = fresh();
    host.files.insert("/etc/motd".into(), file(&"x".repeat(1 << 20)));
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/motd").len(), 1 << 20);
}

#[test]
fn a_block_goes_and_the_rest_of_the_file_stays() {
    let block = |name: &str| format!("{{files: [{{path: /etc/hosts, block: {name}, content: {name}}}]}}");
    let (a, b) = (block("a"), block("b"));
    let mut host = fresh();
    run(Mode::Post, &wanted(&[("FilesConfig", "a", &a), ("FilesConfig", "b", &b), KEPT]), &mut host).unwrap();
    let whole = text_of(&host, "/etc/hosts");
    host.files.insert("/etc/hosts".into(), file(&format!("{whole}10.9.9.9 operator\n")));
    run_pruning(&wanted(&[("FilesConfig", "b", &b), KEPT]), &mut host).unwrap();
    let expected = "127.0.0.1 localhost\n# BEGIN machineadm b\nb\n# END machineadm b\n10.9.9.9 operator\n";
    assert_eq!(text_of(&host, "/etc/hosts"), expected);
    // A file that was only made for the block goes with it.
    let alone = ("FilesConfig", "c", "{files: [{path: /etc/new, block: c, content: c}]}");
    run(Mode::Post, &wanted(&[alone, KEPT]), &mut host).unwrap();
    assert!(has(&host, "/etc/new"));
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert!(!has(&host, "/etc/new"));
    assert_eq!(text_of(&host, "/etc/hosts"), "127.0.0.1 localhost\n10.9.9.9 operator\n");
}

#[test]
fn a_block_that_was_there_before_comes_back() {
    let mut host = fresh();
    let before = "# BEGIN machineadm a\nold\n# END machineadm a\n";
    host.files.insert("/etc/hosts".into(), file(before));
    let a = ("FilesConfig", "a", "{files: [{path: /etc/hosts, block: a, content: new}]}");
    run(Mode::Post, &wanted(&[a, KEPT]), &mut host).unwrap();
    assert!(text_of(&host, "/etc/hosts").contains("new"));
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/hosts"), before);
}

#[test]
fn live_parameters_return_to_their_previous_value_and_modules_stay() {
    let mut host = fresh();
    run(Mode::Post, &everything(), &mut host).unwrap();
    assert_eq!(host.sysctls["net/ipv4/ip_forward"], "1");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(host.sysctls["net/ipv4/ip_forward"], "0");
    assert_eq!(host.sysctls["net/bridge/bridge-nf-call-iptables"], "0");
    assert!(host.modules.contains("overlay"));
    let ours = |path: &&String| path.contains("machineadm") && !path.starts_with("/var/lib/machineadm/");
    assert_eq!(host.files.keys().filter(ours).collect::<Vec<_>>(), Vec::<&String>::new());
    let bundle = text_of(&host, host::TrustStore::DEBIAN.bundle);
    assert!(!bundle.contains("BEGIN CERTIFICATE"), "{bundle}");
    assert!(host.log.iter().any(|entry| entry == "restart containerd"));
}

#[test]
fn a_parameter_changed_since_is_kept() {
    let mut host = fresh();
    run(Mode::Post, &everything(), &mut host).unwrap();
    host.sysctls.insert("net/ipv4/ip_forward".into(), "2".into());
    let fates: Vec<_> = stale(&host).into_iter().filter(|(what, ..)| what == "net.ipv4.ip_forward").collect();
    assert_eq!(fates[0].2, "it was changed since, so it stays");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(host.sysctls["net/ipv4/ip_forward"], "2");
}

#[test]
fn a_parameter_that_two_versions_set_returns_to_the_first_value() {
    let set = |value: &str| format!("{{parameters: {{net.ipv4.ip_forward: '{value}'}}}}");
    let (one, two) = (set("1"), set("2"));
    let mut host = fresh();
    run(Mode::Post, &wanted(&[("SysctlConfig", "s", &one), KEPT]), &mut host).unwrap();
    run(Mode::Post, &wanted(&[("SysctlConfig", "s", &two), KEPT]), &mut host).unwrap();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(host.sysctls["net/ipv4/ip_forward"], "0");
}

#[test]
fn the_plan_shows_what_prune_does() {
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    let preview = look_with(Mode::Post, &wanted(&[KEPT]), &host, Prune::Restore).unwrap();
    let lines: Vec<_> = turn(&preview, "prune").steps.iter().map(machineadm_engine::Line::of).collect();
    assert_eq!(
        lines.iter().map(|line| (line.to_string(), line.mark())).collect::<Vec<_>>(),
        [("delete /etc/motd".into(), "-")]
    );
    assert!(preview.is_open());
}

#[test]
fn a_damaged_record_stops_the_run_instead_of_being_overwritten() {
    let mut host = fresh();
    host.files.insert("/var/lib/machineadm/ownership.json".into(), file("{"));
    let failure = run(Mode::Post, &wanted(&[MOTD]), &mut host).unwrap_err();
    assert!(failure.cause.to_string().contains("/var/lib/machineadm/ownership.json"), "{failure:?}");
    assert!(failure.cause.needs_operator() && failure.at.to_string() == "start", "{failure:?}");
    assert_eq!(text_of(&host, "/var/lib/machineadm/ownership.json"), "{");
    assert!(!has(&host, "/etc/motd"));
}

#[test]
fn what_was_there_first_survives_a_chmod_and_a_deletion() {
    type Change = fn(&mut Memory);
    let changes: [Change; 2] =
        [|host| host.files.get_mut("/etc/motd").unwrap().mode = 0o640, |host| drop(host.files.remove("/etc/motd"))];
    for change in changes {
        let mut host = fresh();
        host.files.insert("/etc/motd".into(), file("theirs"));
        run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
        change(&mut host);
        let mode = ("FilesConfig", "motd", "{files: [{path: /etc/motd, content: new, mode: '0644'}]}");
        run(Mode::Post, &wanted(&[mode, KEPT]), &mut host).unwrap();
        assert_eq!(text_of(&host, "/etc/motd"), "new");
        run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
        assert_eq!(text_of(&host, "/etc/motd"), "theirs");
    }
}

#[test]
fn something_else_than_a_file_stays_and_is_reported() {
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    host.files.remove("/etc/motd");
    host.directories.insert("/etc/motd".into(), DirectoryState { mode: 0o755, uid: 0, gid: 0 });
    assert_eq!(stale(&host)[0].2, "it was changed since, so it stays");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
}

#[test]
fn a_damaged_or_missing_copy_is_not_restored() {
    type Damage = fn(&mut FileState) -> bool;
    let damages: [Damage; 2] = [
        |copy| {
            copy.contents = documents::Secret::new(Vec::new());
            true
        },
        |_| false,
    ];
    for damage in damages {
        let mut host = fresh();
        host.files.insert("/etc/motd".into(), file("theirs"));
        run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
        host.files.retain(|path, copy| !path.starts_with("/var/lib/machineadm/previous/") || damage(copy));
        assert_eq!(stale(&host)[0].2, "the copy of its previous content is damaged or missing, so it stays");
        run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
        assert_eq!(text_of(&host, "/etc/motd"), "new");
    }
}

#[test]
fn a_file_made_for_two_blocks_goes_with_the_last() {
    let block = |name: &str| format!("{{files: [{{path: /etc/new, block: {name}, content: {name}}}]}}");
    let (a, b) = (block("a"), block("b"));
    for order in [
        [("FilesConfig", "a", a.as_str()), ("FilesConfig", "b", &b)],
        [("FilesConfig", "b", &b), ("FilesConfig", "a", &a)],
    ] {
        let mut host = fresh();
        run(Mode::Post, &wanted(&[order[0], order[1], KEPT]), &mut host).unwrap();
        run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
        assert!(!has(&host, "/etc/new"));
    }
}

#[test]
fn a_block_that_became_a_whole_file_does_not_come_back() {
    let mut host = fresh();
    let block = ("FilesConfig", "a", "{files: [{path: /etc/hosts, block: a, content: a}]}");
    run(Mode::Post, &wanted(&[block, KEPT]), &mut host).unwrap();
    let whole = ("FilesConfig", "a", "{files: [{path: /etc/hosts, content: whole}]}");
    run(Mode::Post, &wanted(&[whole, KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/hosts"), "whole");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/hosts"), "127.0.0.1 localhost\n");
}

#[test]
fn a_whole_file_that_became_a_block_stays_and_says_why() {
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    let block = ("FilesConfig", "motd", "{files: [{path: /etc/motd, block: a, content: a}]}");
    let wanted = wanted(&[block, KEPT]);
    run(Mode::Post, &wanted, &mut host).unwrap();
    let preview = look_with(Mode::Post, &wanted, &host, Prune::Restore).unwrap();
    let remark = turn(&preview, "prune").remarks[0].to_string();
    assert!(remark.ends_with("other documents have blocks in it, so it stays"), "{remark}");
}

#[test]
fn a_service_that_is_gone_is_not_restarted() {
    let mut host = fresh();
    let proxy = ("ProxyConfig", "p", "{httpProxy: 'http://p:1', services: [containerd]}");
    run(Mode::Post, &wanted(&[proxy, KEPT]), &mut host).unwrap();
    host.services.remove("containerd");
    host.log.clear();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!((host.log.len(), has(&host, "/etc/machineadm/proxy/p.env")), (0, false));
}

#[test]
fn the_list_names_the_document_that_had_it_last() {
    let mut host = fresh();
    run(Mode::Post, &wanted(&[MOTD, KEPT]), &mut host).unwrap();
    let renamed = ("FilesConfig", "renamed", "{files: [{path: /etc/motd, content: new}]}");
    run(Mode::Post, &wanted(&[renamed, KEPT]), &mut host).unwrap();
    assert_eq!(stale(&host)[0].1, "FilesConfig renamed");
}

#[test]
fn what_came_encrypted_is_not_shown_when_its_document_is_gone() {
    let mut encrypted = wanted(&[MOTD]);
    let documents::AnyDocument::Files(files) = &mut encrypted.documents[0].body else { panic!("a FilesConfig") };
    let documents::v1alpha1::PathEntry::File(file) = &mut files[0] else { panic!("a file") };
    file.confidential = true;
    let mut host = fresh();
    run(Mode::Post, &encrypted, &mut host).unwrap();
    let open = wanted(&[("FilesConfig", "open", "{files: [{path: /etc/motd, content: open}]}")]);
    let preview = look(Mode::Post, &open, &host).unwrap();
    let line = machineadm_engine::Line::of(&turn(&preview, "FilesConfig open").steps[0]);
    assert_eq!((line.diff.len(), line.detail.as_str()), (0, "contents, 4 bytes, not shown"));
}

#[test]
fn files_of_the_api_server_and_static_pods_are_stale_with_their_documents_and_stay_while_they_are_read() {
    let pod = "{pods: [{manifest: '{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: a, image: \
               b}]}}'}]}";
    let files = ("ControlPlaneConfig", "", "{files: [{name: ca.crt, content: x}]}");
    let all = wanted(&[files, ("StaticPodsConfig", "", pod), KEPT]);
    let mut host = fresh();
    run(Mode::Post, &all, &mut host).unwrap();
    assert_eq!(turn(&look(Mode::Post, &all, &host).unwrap(), "prune").remarks, []);
    // The document is gone, and the API server still reads its file.
    let manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml";
    let mut control_plane = host.clone();
    control_plane.files.insert(manifest.into(), file("- --oidc-ca-file=/etc/kubernetes/machineadm/ca.crt"));
    run_pruning(&wanted(&[KEPT]), &mut control_plane).unwrap();
    let paths = ["/etc/kubernetes/machineadm/ca.crt", "/etc/kubernetes/manifests/web.yaml"];
    assert_eq!(paths.map(|path| has(&control_plane, path)), [true, false]);
    assert!(
        stale(&control_plane).iter().any(|(what, _, fate)| what == paths[0] && fate.contains("the API server reads"))
    );
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    let below = |path: &&String| path.starts_with("/etc/kubernetes");
    assert_eq!(host.files.keys().chain(host.directories.keys()).find(below), None);
}
