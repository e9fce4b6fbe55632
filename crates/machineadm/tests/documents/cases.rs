//! The cases under `tests/`: a machine before, a configuration, and what the real program makes of it.
//!
//! `positive/<case>`: `config.yaml`, `before/` (if any), `plan.txt`, `after/`, `modes` for files that are not 0644 and
//! directories that are not 0755, and `owners` for everything that is not the runner's own. `owners-before` gives files of
//! `before/` away, in the same form. A link is a file that holds an arrow and the target.
//! `negative/<case>`: `config.*`, and `problems.txt`: every problem, as `validate` prints it.
//! With UPDATE_CASES=1 the expected texts and trees are written anew, for a person to review.
use documents::{Source, v1alpha1::trust_anchor};
use host::{
    TrustStore,
    contract::{MODULES_DIR, PATHS, PROXY_DROP_IN, SYSCTL_DIR, SYSTEM_REBOOT_REQUIRED, UNIT_DIR},
};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, lchown},
    path::{Path, PathBuf},
    process::{Command, Output},
};

const UPDATE: &str = "UPDATE_CASES";

fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(kind);
    let mut cases: Vec<_> = fs::read_dir(folder).expect("cases").map(|entry| entry.expect("a case").path()).collect();
    cases.sort();
    assert!(cases.len() > 3, "the cases are gone");
    cases
}

fn machineadm(case: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.current_dir(case).args(arguments).env("NO_COLOR", "1").output().expect("machineadm runs")
}

/// The configuration of a case, whatever its ending.
fn config(case: &Path) -> String {
    let names = fs::read_dir(case).expect("a case").map(|entry| entry.expect("a file").file_name());
    let mut names = names.map(|name| name.to_string_lossy().into_owned()).filter(|name| name.starts_with("config."));
    names.next().expect("a configuration")
}

/// A scratch root that looks like the case's machine before.
fn root(case: &Path) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a scratch root");
    fs::create_dir_all(root.path().join("etc")).expect("a scratch root");
    if case.join("before").exists() {
        copy(&case.join("before"), root.path());
    }
    for line in fs::read_to_string(case.join("owners-before")).unwrap_or_default().lines() {
        let (owner, path) = line.split_once(" /").expect("an owner and a path");
        let ids = owner.split_once(':').and_then(|(uid, gid)| Some((uid.parse().ok()?, gid.parse().ok()?)));
        let (uid, gid) = ids.expect("uid:gid");
        lchown(root.path().join(path), Some(uid), Some(gid)).expect("root may give files away");
    }
    let name = root.path().join("etc/hostname");
    if !name.exists() {
        fs::write(name, "node-7\n").expect("a name for the machine");
    }
    root
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir_all(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).expect("a file");
            fs::set_permissions(&target, fs::Permissions::from_mode(0o644)).expect("a mode");
        }
    }
}

/// A file or link of a tree.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    mode: u32,
    owner: (u32, u32),
    contents: String,
}

/// Every file and link by its path; our own state is compared elsewhere.
fn tree(root: &Path) -> BTreeMap<String, Entry> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = format!("/{}", path.strip_prefix(root).expect("below the root").display());
            if ["/var/lib/machineadm", "/run/machineadm", "/run/cluster-api"].contains(&name.as_str()) {
                continue;
            }
            let meta = path.symlink_metadata().expect("an entry");
            if meta.is_dir() {
                folders.push(path);
                continue;
            }
            let contents = if meta.is_symlink() {
                format!("→ {}", fs::read_link(&path).expect("a link").display())
            } else {
                String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned()
            };
            files.insert(name, Entry { mode: meta.mode() & 0o7777, owner: (meta.uid(), meta.gid()), contents });
        }
    }
    files
}

/// Path, mode and owner of every directory below a root; our own state is compared elsewhere.
fn directories(root: &Path) -> BTreeMap<String, (u32, (u32, u32))> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        folders.extend(entries.filter(|path| path.symlink_metadata().expect("an entry").is_dir()));
        let meta = fs::symlink_metadata(&folder).expect("a folder");
        let name = folder.strip_prefix(root).expect("below the root").display().to_string();
        if !name.is_empty() && !name.starts_with("var/lib/machineadm") {
            found.insert(format!("/{name}/"), (meta.mode() & 0o7777, (meta.uid(), meta.gid())));
        }
    }
    found
}

/// Everything below a root with another owner than the runner, who made the root.
fn owners(root: &Path) -> String {
    let runner = fs::metadata(root).map(|meta| (meta.uid(), meta.gid())).expect("a scratch root");
    let files = tree(root).into_iter().map(|(path, entry)| (path, entry.owner));
    let all = files.chain(directories(root).into_iter().map(|(path, (_, owner))| (path, owner)));
    let given: BTreeMap<_, _> = all.filter(|(_, owner)| *owner != runner).collect();
    given.into_iter().map(|(path, (uid, gid))| format!("{uid}:{gid} {path}\n")).collect()
}

/// Compares with a file of the case, or writes it.
fn same_as(case: &Path, name: &str, got: &str) {
    let file = case.join(name);
    if std::env::var_os(UPDATE).is_some() && (file.exists() || !got.is_empty()) {
        fs::write(&file, got).expect("the case can be updated");
    }
    let wanted = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(got, wanted, "{} differs; see it with {UPDATE}=1", file.display());
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn compare_after(case: &Path, root: &Path) {
    let got = tree(root);
    if std::env::var_os(UPDATE).is_some() {
        let _ = fs::remove_dir_all(case.join("after"));
        for (path, Entry { contents, .. }) in &got {
            let file = case.join("after").join(&path[1..]);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, contents).expect("a file");
        }
    }
    let files = got.iter().filter(|(_, entry)| entry.mode != 0o644).map(|(path, entry)| (path.clone(), entry.mode));
    let directories = directories(root).into_iter().filter(|(_, (mode, _))| *mode != 0o755);
    let modes = files.chain(directories.map(|(path, (mode, _))| (path, mode)));
    same_as(case, "modes", &modes.map(|(path, mode)| format!("{mode:04o} {path}\n")).collect::<String>());
    same_as(case, "owners", &owners(root));
    let contents = |tree: BTreeMap<String, Entry>| -> BTreeMap<String, String> {
        tree.into_iter().map(|(path, entry)| (path, entry.contents)).collect()
    };
    assert_eq!(contents(got), contents(tree(&case.join("after"))), "{}", case.display());
}

#[test]
fn positive_cases_end_as_they_should_and_leave_nothing_to_do() {
    testbed::needs!(Root);
    for case in cases("positive") {
        let root = root(&case);
        let at = ["--root", root.path().to_str().unwrap()];
        let file = config(&case);
        let plan = machineadm(&case, &[&["plan", "-f", &file], &at[..]].concat());
        assert_eq!(plan.status.code(), Some(0), "{}: {}", case.display(), text(&plan.stderr));
        same_as(&case, "plan.txt", &text(&plan.stdout));
        let run = machineadm(&case, &[&["--bootstrap", "--path", &file], &at[..]].concat());
        assert_eq!(run.status.code(), Some(0), "{}: {}", case.display(), text(&run.stderr));
        compare_after(&case, root.path());
        let again = machineadm(&case, &[&["plan", "-f", &file, "--exit-code"], &at[..]].concat());
        assert_eq!(again.status.code(), Some(0), "{}: {}", case.display(), text(&again.stdout));
        let status = machineadm(&case, &[&["status"], &at[..]].concat());
        assert_eq!(status.status.code(), Some(0));
        assert!(text(&status.stdout).starts_with("node-7  SUCCEEDED"), "{}", text(&status.stdout));
    }
}

#[test]
fn negative_cases_list_every_problem_and_change_nothing_but_the_mark() {
    for case in cases("negative") {
        let file = config(&case);
        let validate = machineadm(&case, &["validate", "-f", &file]);
        assert_eq!(validate.status.code(), Some(2), "{}", case.display());
        same_as(&case, "problems.txt", &text(&validate.stdout));

        let root = root(&case);
        let before = tree(root.path());
        let at = ["--root", root.path().to_str().unwrap()];
        for command in [&["bootstrap", "-f", &file][..], &["plan", "-f", &file]] {
            let run = machineadm(&case, &[command, &at[..]].concat());
            assert_eq!(run.status.code(), Some(2), "{} {command:?}", case.display());
            assert_eq!(text(&run.stderr), text(&validate.stdout), "{} {command:?}", case.display());
            assert_eq!(text(&run.stdout), "");
        }
        // Only the mark for whoever polls is there, and it names a problem.
        let mark = root.path().join("run/cluster-api/bootstrap-failure.json");
        let failure: serde_json::Value = serde_json::from_slice(&fs::read(&mark).unwrap()).unwrap();
        assert_eq!(failure["phase"], "configuration", "{}", case.display());
        assert!(failure["cause"].as_str().unwrap().contains("problem"), "{}: {failure}", case.display());
        fs::remove_dir_all(root.path().join("run")).unwrap();
        assert_eq!(tree(root.path()), before, "{}", case.display());
        assert!(!root.path().join("var").exists(), "{}", case.display());
    }
}

#[test]
fn problems_for_programs_are_the_same_as_for_people() {
    for case in cases("negative") {
        let output = machineadm(&case, &["validate", "-f", &config(&case), "-o", "json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let notes = report["notes"].as_array().unwrap();
        let text = fs::read_to_string(case.join("problems.txt")).unwrap();
        assert!(!notes.is_empty(), "{}", case.display());
        for note in notes {
            assert!(text.contains(note["message"].as_str().unwrap()), "{}: {note}", case.display());
        }
    }
}

/// Everything that is wrong with a FilesConfig that writes one path.
fn problems_of_a_file_at(path: &str) -> Vec<String> {
    let document = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\n\
         spec: {{files: [{{path: '{path}', content: x}}]}}\n"
    );
    let read = documents::read(vec![Source { name: "-".into(), bytes: document.into_bytes().into() }]);
    read.report.notes.into_iter().map(|note| note.message).collect()
}

#[test]
fn every_path_of_the_contract_that_machineadm_writes_is_refused_in_a_file_document() {
    // Directories that machineadm shares with others, and what it only reads.
    let shared = [SYSTEM_REBOOT_REQUIRED, SYSCTL_DIR, MODULES_DIR, UNIT_DIR, PROXY_DROP_IN];
    let mut own: Vec<String> = PATHS.iter().filter(|path| !shared.contains(path)).map(ToString::to_string).collect();
    own.push(format!("{UNIT_DIR}/kubelet.service.d/{PROXY_DROP_IN}"));
    own.extend(TrustStore::ALL.map(|store| format!("{}.{}", trust_anchor(store.anchors, "a", "00"), store.ending)));
    for path in own {
        let problems = problems_of_a_file_at(&path);
        assert!(problems.iter().any(|message| message.contains("machineadm")), "{path}: {problems:?}");
    }
    assert_eq!(problems_of_a_file_at(SYSTEM_REBOOT_REQUIRED), [""; 0]);
}
