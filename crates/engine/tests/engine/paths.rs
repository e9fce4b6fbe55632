//! Directories, links and deleted paths: planned by what is there, done once, restored by `--prune`.
use crate::{
    review::saved,
    support::{Document, changes, file, fresh, has, left, look, run, run_pruning, run_reviewed, text_of, turn, wanted},
};
use host::{DirectoryState, Inspect, Memory, PathState};
use machineadm_engine::{Line, Mode, PlanError, Remark, Wanted};

const KEPT: Document<'_> = ("FilesConfig", "kept", "{files: [{path: /etc/kept, content: k}]}");

fn files(entries: &str) -> Wanted {
    wanted(&[("FilesConfig", "files", &format!("{{files: [{entries}]}}")), KEPT])
}

fn directory(mode: u32, uid: u32) -> DirectoryState {
    DirectoryState { mode, uid, gid: 0 }
}

fn lines(wanted: &Wanted, host: &Memory) -> Vec<String> {
    let preview = look(Mode::Post, wanted, host).unwrap();
    let line = |step| {
        let line = Line::of(step);
        format!("{} {} {}", line.mark(), line.target, line.detail).trim_end().to_owned()
    };
    turn(&preview, "FilesConfig files").steps.iter().map(line).collect()
}

fn refusal(entries: &str, host: &Memory) -> String {
    let failure = look(Mode::Post, &files(entries), host).unwrap_err();
    assert!(matches!(*failure.cause, PlanError::Look(_)), "{failure:?}");
    failure.cause.to_string()
}

/// What pruning says of each path that only the first configuration names.
fn fates(host: &Memory) -> Vec<(String, &'static str)> {
    let preview = look(Mode::Post, &wanted(&[KEPT]), host).unwrap();
    let remarks = turn(&preview, "prune").remarks.iter();
    remarks
        .map(|remark| match remark {
            Remark::Stale { what, fate, .. } => (what.clone(), *fate),
            other => panic!("{other}"),
        })
        .collect()
}

#[test]
fn a_directory_a_link_and_a_deletion_are_planned_shown_and_done_once() {
    let entries =
        "{path: /srv/a, type: directory}, {path: /etc/l, type: link, target: ../x}, {path: /etc/z, type: absent}";
    let (wanted, mut host) = (files(entries), fresh());
    host.files.insert("/etc/z".into(), file("z"));
    assert_eq!(lines(&wanted, &host), ["+ /srv/a/ 0755 root:root directory", "+ /etc/l → ../x", "- /etc/z"]);
    run(Mode::Post, &wanted, &mut host).unwrap();
    assert_eq!(host.directories["/srv/a"], directory(0o755, 0));
    assert_eq!(host.links["/etc/l"], "../x");
    assert!(!has(&host, "/etc/z"));
    assert_eq!(lines(&wanted, &host), [""; 0]);
    assert!(changes(Mode::Post, &wanted, &mut host).is_empty());
}

#[test]
fn mode_and_owner_of_an_existing_directory_are_changed_only_where_they_are_named() {
    let mut host = fresh();
    host.accounts.insert("etcd".into(), (7, 0));
    host.directories.insert("/srv/a".into(), directory(0o750, 3));
    assert_eq!(lines(&files("{path: /srv/a, type: directory}"), &host), [""; 0]);
    let owned = files("{path: /srv/a, type: directory, mode: '0700', owner: 'etcd:root'}");
    assert_eq!(lines(&owned, &host), ["~ /srv/a/ mode 0750 → 0700, owner 3:root → 7:root"]);
    run(Mode::Post, &owned, &mut host).unwrap();
    assert_eq!(host.directories["/srv/a"], directory(0o700, 7));
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(host.directories["/srv/a"], directory(0o750, 3), "the previous mode and owner are restored");
}

#[test]
fn what_is_of_another_type_is_an_error_at_plan_and_is_not_replaced() {
    let mut host = fresh();
    host.directories.insert("/srv/d".into(), directory(0o755, 0));
    host.links.insert("/srv/l".into(), "d".into());
    let hosts = "/etc/hosts: is a regular file, but the configuration has";
    assert_eq!(refusal("{path: /etc/hosts, type: directory}", &host), format!("{hosts} a directory there"));
    assert_eq!(refusal("{path: /etc/hosts, type: link, target: x}", &host), format!("{hosts} a symbolic link there"));
    let link = "/srv/l: is a symbolic link, but the configuration has a directory there";
    assert_eq!(refusal("{path: /srv/l, type: directory}", &host), link);
    assert_eq!(refusal("{path: /srv/d, content: x}", &host), "/srv/d: is not a regular file");
}

#[test]
fn a_directory_that_is_not_empty_is_not_deleted() {
    let mut host = fresh();
    host.directories.insert("/srv/d".into(), directory(0o755, 0));
    let absent = "{path: /srv/d, type: absent}";
    assert_eq!(lines(&files(absent), &host), ["- /srv/d/"]);
    host.files.insert("/srv/d/a".into(), file("a"));
    assert_eq!(refusal(absent, &host), "/srv/d: is a directory that is not empty: it has 1 entry");
    host.files.insert("/srv/d/b/c".into(), file("c"));
    assert_eq!(refusal(absent, &host), "/srv/d: is a directory that is not empty: it has 2 entries");
}

#[test]
fn a_reviewed_directory_after_a_file_below_it_is_as_the_plan_says() {
    // The file creates the directory with the usual mode, in the same document or in an earlier one.
    let (file, directory_entry) = ("{path: /srv/a/file, content: x}", "{path: /srv/a, type: directory, mode: '0700'}");
    let one = format!("{file}, {directory_entry}");
    let both = [file, directory_entry].map(|entry| format!("{{files: [{entry}]}}"));
    for wanted in [files(&one), wanted(&[("FilesConfig", "first", &both[0]), ("FilesConfig", "files", &both[1]), KEPT])]
    {
        let mut host = fresh();
        assert_eq!(lines(&wanted, &host).last().unwrap(), "~ /srv/a/ mode 0755 → 0700");
        run_reviewed(&saved(&wanted, &host), &wanted, &mut host).unwrap();
        assert_eq!(host.directories["/srv/a"], directory(0o700, 0));
    }
}

#[test]
fn pruning_deletes_a_created_directory_with_what_machineadm_wrote_in_it() {
    let entries =
        "{path: /srv/a, type: directory}, {path: /srv/a/b, type: directory}, {path: /srv/a/b/file, content: x}";
    let mut host = fresh();
    run(Mode::Post, &files(entries), &mut host).unwrap();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    for path in ["/srv/a/b/file", "/srv/a/b", "/srv/a"] {
        assert_eq!(host.state_at(path).unwrap(), PathState::Absent, "{path}");
    }
    assert_eq!(fates(&host), []);
}

#[test]
fn pruning_lists_a_created_directory_that_holds_files_of_others() {
    let mut host = fresh();
    run(Mode::Post, &files("{path: /srv/a, type: directory}"), &mut host).unwrap();
    assert_eq!(fates(&host), [("/srv/a".to_owned(), "--prune deletes it")]);
    host.files.insert("/srv/a/theirs".into(), file("x"));
    let reason = "it is a directory that is not empty, so it stays";
    assert_eq!(fates(&host), [("/srv/a".to_owned(), reason)]);
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert!(host.directories.contains_key("/srv/a"));
    // The record stays, so that a later run deletes it once it is empty.
    host.files.remove("/srv/a/theirs");
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert!(!host.directories.contains_key("/srv/a"));
}

#[test]
fn pruning_restores_a_replaced_link_and_deletes_a_new_one() {
    let mut host = fresh();
    host.links.insert("/etc/old".into(), "before".into());
    let entries = "{path: /etc/old, type: link, target: after}, {path: /etc/new, type: link, target: after}";
    assert_eq!(lines(&files(entries), &host)[0], "~ /etc/old → after, was → before");
    run(Mode::Post, &files(entries), &mut host).unwrap();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(host.links, [("/etc/old".to_owned(), "before".to_owned())].into());
}

#[test]
fn a_link_that_was_changed_since_stays() {
    let mut host = fresh();
    run(Mode::Post, &files("{path: /etc/l, type: link, target: a}"), &mut host).unwrap();
    host.links.insert("/etc/l".into(), "theirs".into());
    assert_eq!(fates(&host), [("/etc/l".to_owned(), "it was changed since, so it stays")]);
}

/// First what is in a directory, then the directory itself, as the remedy of a directory that is not empty says.
#[test]
fn pruning_restores_nothing_below_a_path_that_a_document_deletes() {
    let mut host = fresh();
    host.directories.insert("/srv/d".into(), directory(0o755, 0));
    host.files.insert("/srv/d/f".into(), file("f"));
    run(Mode::Post, &files("{path: /srv/d/f, type: absent}"), &mut host).unwrap();
    let wanted = files("{path: /srv/d, type: absent}");
    for _ in 0..2 {
        run_pruning(&wanted, &mut host).unwrap();
        assert!(!has(&host, "/srv/d/f") && !host.directories.contains_key("/srv/d"), "{:?}", host.files.keys());
    }
}

#[test]
fn pruning_restores_what_an_absent_entry_deleted() {
    let mut host = fresh();
    host.links.insert("/etc/link".into(), "target".into());
    host.directories.insert("/srv/empty".into(), directory(0o711, 5));
    let before = host.clone();
    let entries = ["/etc/old.conf", "/etc/link", "/srv/empty"].map(|path| format!("{{path: {path}, type: absent}}"));
    run(Mode::Post, &files(&entries.join(", ")), &mut host).unwrap();
    assert!(!has(&host, "/etc/old.conf") && host.links.is_empty() && host.directories.is_empty());
    assert_eq!(fates(&host).len(), 3);
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/old.conf"), "old\n");
    assert_eq!((&host.links, &host.directories), (&before.links, &before.directories));
}

#[test]
fn what_was_there_before_survives_a_change_of_type() {
    let mut host = fresh();
    run(Mode::Post, &files("{path: /etc/old.conf, content: new}"), &mut host).unwrap();
    run(Mode::Post, &files("{path: /etc/old.conf, type: absent}"), &mut host).unwrap();
    run(Mode::Post, &files("{path: /etc/old.conf, type: link, target: x}"), &mut host).unwrap();
    assert_eq!(fates(&host)[0].1, "it is of another type than what was there before, so it stays");
    run(Mode::Post, &files("{path: /etc/old.conf, type: absent}"), &mut host).unwrap();
    run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
    assert_eq!(text_of(&host, "/etc/old.conf"), "old\n");
}

#[test]
fn a_cut_while_paths_change_is_pruned_like_a_whole_run() {
    let entries = "{path: /srv/a, type: directory, mode: '0750'}, {path: /etc/l, type: link, target: x}, \
                   {path: /etc/old.conf, type: absent}";
    let mut clean = fresh();
    run(Mode::Post, &wanted(&[KEPT]), &mut clean).unwrap();
    for power in 0.. {
        let mut host = Memory { power: Some(power), ..fresh() };
        let cut = run(Mode::Post, &files(entries), &mut host).is_err();
        host.power = None;
        run_pruning(&wanted(&[KEPT]), &mut host).unwrap();
        // A copy that was made before its record was written stays: the record decides what is restored.
        host.files.retain(|path, _| !path.starts_with("/var/lib/machineadm/previous/"));
        assert_eq!(left(&host), left(&clean), "power failed after {power} changes");
        if !cut {
            assert!(power > 5, "only {power} cuts");
            break;
        }
    }
}
