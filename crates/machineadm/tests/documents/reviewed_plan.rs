//! A saved plan is done exactly, or refused: when the machine has drifted, is another one, or the file is no plan.
use crate::support::{
    binary::run,
    differences::differences,
    documents::document,
    file_tree::{Tree, look},
    run_output::RunOutput,
    scratch::Scratch,
};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Stdio,
};

struct Reviewed {
    dir: Scratch,
    root: PathBuf,
    plan: PathBuf,
}

impl Reviewed {
    /// A tree, and a plan for it.
    fn new() -> Self {
        let files = "{files: [{path: /etc/motd, content: new}, {path: /etc/issue, content: new}]}";
        let documents = [document("FilesConfig", files), document("KernelModulesConfig", "{modules: [overlay]}")];
        Self::of(&documents.concat())
    }

    /// A tree, and a plan that makes these documents of it.
    fn of(documents: &str) -> Self {
        let dir = Scratch::new("reviewed");
        let [root, plan, configuration] = ["root", "plan", "configuration.yaml"].map(|name| dir.path().join(name));
        fs::create_dir_all(root.join("etc")).expect("a directory can be made");
        fs::write(root.join("etc/machine-id"), "0123456789abcdef0123456789abcdef\n").expect("a file can be written");
        fs::write(root.join("etc/motd"), "old\n").expect("a file can be written");
        fs::write(&configuration, documents).expect("a file can be written");
        let [from, into]: [&Path; 2] = [&configuration, &plan];
        let planned =
            run(["--root".as_ref(), root.as_path(), "plan".as_ref(), "-f".as_ref(), from, "--out".as_ref(), into]);
        assert_eq!(planned.code, Some(0), "{}{}", planned.stdout, planned.stderr);
        Self { dir, root, plan }
    }

    fn apply(&self, plan: &Path) -> RunOutput {
        run(["--root".as_ref(), self.root.as_path(), "apply".as_ref(), plan])
    }

    /// Refused, and the tree is as it was; a lock may have been taken.
    fn refused(&self, plan: &Path, code: i32, why: &str) {
        let before = self.without_lock();
        let ran = self.apply(plan);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert!(ran.stderr.contains(why), "{}", ran.stderr);
        assert_eq!(differences(&before, &self.without_lock()), Vec::<String>::new(), "{}", ran.stderr);
    }

    fn without_lock(&self) -> Tree {
        let mut tree = look(&self.root);
        tree.retain(|name, _| !name.starts_with("/run"));
        tree
    }
}

#[test]
fn a_reviewed_plan_is_applied_and_then_it_is_done() {
    let reviewed = Reviewed::new();
    let ran = reviewed.apply(&reviewed.plan);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(reviewed.root.join("etc/motd")).unwrap(), "new");
    let before = reviewed.without_lock();
    let again = reviewed.apply(&reviewed.plan);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert!(again.stderr.contains("has been applied already"), "{}", again.stderr);
    assert_eq!(differences(&before, &reviewed.without_lock()), Vec::<String>::new());
    fs::write(reviewed.root.join("etc/motd"), "edited\n").unwrap();
    reviewed.refused(&reviewed.plan, 6, "no longer needs");
}

#[test]
fn a_refused_plan_lists_every_difference() {
    let reviewed = Reviewed::new();
    fs::write(reviewed.root.join("etc/motd"), "edited\n").unwrap();
    fs::write(reviewed.root.join("etc/issue"), "edited\n").unwrap();
    let ran = reviewed.apply(&reviewed.plan);
    assert_eq!(ran.code, Some(6), "{}", ran.stderr);
    for line in ["now needs: change /etc/motd", "no longer needs: change /etc/motd", "now needs: change /etc/issue"] {
        assert!(ran.stderr.contains(line), "{line}: {}", ran.stderr);
    }
}

#[test]
fn a_plan_overwrites_neither_its_input_nor_any_file_that_is_no_plan() {
    let reviewed = Reviewed::new();
    let [configuration, other, link] =
        ["configuration.yaml", "other", "link"].map(|name| reviewed.dir.path().join(name));
    fs::write(&other, "mine").unwrap();
    std::os::unix::fs::symlink(&configuration, &link).unwrap();
    let twin = reviewed.dir.path().join("twin");
    fs::hard_link(&configuration, &twin).unwrap();
    let text = fs::read(&configuration).unwrap();
    let plan = |out: &Path| {
        let [root, from] = [&reviewed.root, &configuration];
        run(["plan".as_ref(), "--root".as_ref(), root.as_path(), "-f".as_ref(), from, "--out".as_ref(), out])
    };
    for (out, why) in [
        (&configuration, "it would be overwritten"),
        (&link, "it would be overwritten"),
        (&twin, "it would be overwritten"),
        (&other, "the path exists and is not a saved plan"),
        (&reviewed.root, "the path exists and is not a saved plan"),
    ] {
        let ran = plan(out);
        assert_eq!(ran.code, Some(2), "{}: {}", out.display(), ran.stderr);
        assert!(ran.stderr.contains(why) && ran.stdout.is_empty(), "{}: {}", out.display(), ran.stderr);
    }
    assert_eq!((fs::read(&configuration).unwrap(), fs::read(&other).unwrap()), (text, b"mine".to_vec()));
    assert_eq!(plan(&reviewed.plan).code, Some(0), "a saved plan is replaced by a new one");
    let printed = plan(Path::new("-"));
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let again = reviewed.dir.path().join("printed");
    fs::write(&again, printed.stdout).unwrap();
    assert_eq!(reviewed.apply(&again).code, Some(0));
}

#[test]
fn a_saved_plan_is_shown_as_it_was_planned_and_says_whether_it_is_verified() {
    let reviewed = Reviewed::new();
    let show = |root: &Path, plan: &Path| run(["plan".as_ref(), "show".as_ref(), plan, "--root".as_ref(), root]);
    let here = show(&reviewed.root, &reviewed.plan);
    assert_eq!(here.code, Some(0), "{}", here.stderr);
    for line in ["1  FilesConfig", "~ /etc/motd", "+ new", "2  KernelModulesConfig", "+ overlay"] {
        assert!(here.stdout.contains(line), "{line}: {}", here.stdout);
    }
    assert!(here.stderr.contains("To apply: machineadm apply"), "{}", here.stderr);
    let elsewhere = show(Path::new("/"), &reviewed.plan);
    assert_eq!((elsewhere.code, &elsewhere.stdout), (Some(0), &here.stdout));
    assert!(elsewhere.stderr.contains("not verified"), "{}", elsewhere.stderr);
    let edited = reviewed.dir.path().join("edited");
    fs::write(&edited, fs::read_to_string(&reviewed.plan).unwrap().replace("/etc/motd", "/etc/mot")).unwrap();
    let ran = show(&reviewed.root, &edited);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("was edited"), "{}", ran.stderr);
}

/// A tree without an identity, and another one without an identity: the key tells them apart.
#[test]
fn a_plan_for_a_root_without_machine_id_does_not_fit_another_root_without_one() {
    let reviewed = Reviewed::new();
    let [one, other, from, out] =
        ["one", "other", "configuration.yaml", "plan"].map(|name| reviewed.dir.path().join(name));
    for root in [&one, &other] {
        fs::create_dir_all(root.join("etc")).unwrap();
        let ran =
            run(["plan".as_ref(), "--root".as_ref(), root.as_path(), "-f".as_ref(), &from, "--out".as_ref(), &out]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    let apply = |root: &Path| run(["apply".as_ref(), "--root".as_ref(), root, out.as_path()]);
    let ran = apply(&one);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("another machine"), "{}", ran.stderr);
    assert_eq!(apply(&other).code, Some(0));
}

#[test]
fn plans_that_are_saved_at_the_same_time_all_verify() {
    let reviewed = Reviewed::new();
    let [root, from] = ["fresh", "configuration.yaml"].map(|name| reviewed.dir.path().join(name));
    fs::create_dir_all(root.join("etc")).unwrap();
    fs::write(root.join("etc/machine-id"), "0123456789abcdef0123456789abcdef\n").unwrap();
    let outs: Vec<PathBuf> = (0..12).map(|number| reviewed.dir.path().join(format!("plan-{}", number / 2))).collect();
    let saved: Vec<_> = outs
        .iter()
        .map(|out| {
            let words =
                ["plan".as_ref(), "--root".as_ref(), root.as_path(), "-f".as_ref(), &from, "--out".as_ref(), out];
            crate::support::binary::command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in saved {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for out in &outs {
        let shown = run(["plan".as_ref(), "show".as_ref(), out.as_path(), "--root".as_ref(), &root]);
        assert!(shown.code == Some(0) && shown.stderr.contains("To apply:"), "{}", shown.stderr);
        assert!(shown.stderr.contains(&format!("--root {}", root.display())), "{}", shown.stderr);
    }
}

#[test]
fn a_plan_with_commands_that_were_not_checked_says_so_and_is_not_saved() {
    let dir = Scratch::new("unchecked");
    let [root, from, out] = ["root", "node.yaml", "plan"].map(|name| dir.path().join(name));
    fs::create_dir_all(root.join("etc")).unwrap();
    fs::write(&from, document("CommandsConfig", "{commands: [{name: a, argv: ['true'], unless: 'true'}]}")).unwrap();
    let plan = |words: &[&str]| {
        let all = ["plan", "--no-commands", "--mode", "prepare"].iter().chain(words).map(|word| Path::new(*word));
        run(all.chain(["--root".as_ref(), root.as_path(), "-f".as_ref(), &from]))
    };
    let shown = plan(&["--exit-code"]);
    assert_eq!(shown.code, Some(3), "{}", shown.stderr);
    assert!(shown.stdout.contains("0 changes, 1 command not checked"), "{}", shown.stdout);
    assert!(shown.stdout.contains("within 5s"), "{}", shown.stdout);
    let saved = plan(&["--out", &out.to_string_lossy()]);
    assert_eq!((saved.code, out.exists()), (Some(1), false), "{}", saved.stderr);
    assert!(saved.stderr.contains("the plan is not saved: 1 command not checked"), "{}", saved.stderr);
}

#[test]
fn a_working_directory_that_is_not_utf_8_does_not_become_another_one() {
    use std::os::unix::ffi::OsStrExt;
    let reviewed = Reviewed::new();
    let odd = reviewed.dir.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    fs::create_dir(&odd).unwrap();
    let before = fs::read_dir(reviewed.dir.path()).unwrap().count();
    let from = reviewed.dir.path().join("configuration.yaml");
    let words = ["plan".as_ref(), "--root".as_ref(), reviewed.root.as_path(), "-f".as_ref(), &from, "--out".as_ref()];
    let mut command = crate::support::binary::command(words.into_iter().chain([Path::new("plan")]));
    let ran = RunOutput::of(command.current_dir(&odd).output().unwrap());
    assert!(ran.code == Some(1) && ran.stderr.contains("is not UTF-8"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(reviewed.dir.path()).unwrap().count(), before);
}

/// By hand, as somebody would who wants a step to go unseen.
#[test]
fn known_after_that_was_added_by_hand_does_not_skip_a_comparison() {
    let reviewed = Reviewed::new();
    let text = fs::read_to_string(&reviewed.plan).unwrap();
    let turns = text.rfind("\"turns\"").unwrap();
    let open = text[turns..].replacen("\"steps\": [", "\"knownAfter\": \"x\", \"steps\": [", 1);
    let edited = reviewed.dir.path().join("edited");
    fs::write(&edited, format!("{}{open}", &text[..turns])).unwrap();
    fs::write(reviewed.root.join("etc/motd"), "edited\n").unwrap();
    reviewed.refused(&edited, 2, "was edited");
}

#[test]
fn apply_has_no_mode_of_its_own() {
    let reviewed = Reviewed::new();
    for words in [["--mode", "post", "apply"], ["apply", "--mode", "post"]] {
        let words = words.iter().map(AsRef::as_ref).chain(["--root".as_ref(), reviewed.root.as_path()]);
        let ran = run(words.chain([reviewed.plan.as_path()]));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("--mode"), "{}", ran.stderr);
    }
    assert_eq!(fs::read_to_string(reviewed.root.join("etc/motd")).unwrap(), "old\n");
}

#[test]
fn a_plan_is_refused_after_any_drift_and_nothing_is_changed() {
    let drifts: [fn(&Path); 5] = [
        |root| fs::write(root.join("etc/motd"), "edited\n").unwrap(),
        |root| fs::set_permissions(root.join("etc/motd"), fs::Permissions::from_mode(0o600)).unwrap(),
        |root| fs::remove_file(root.join("etc/motd")).unwrap(),
        |root| fs::write(root.join("etc/issue"), "new").unwrap(),
        |root| {
            fs::create_dir(root.join("etc/modules-load.d")).unwrap();
            fs::write(root.join("etc/modules-load.d/90-machineadm.conf"), "other\n").unwrap();
        },
    ];
    for drift in drifts {
        let reviewed = Reviewed::new();
        drift(&reviewed.root);
        reviewed.refused(&reviewed.plan, 6, "the machine has changed since the plan was made");
    }
}

#[test]
fn a_plan_for_another_machine_is_refused() {
    let reviewed = Reviewed::new();
    fs::write(reviewed.root.join("etc/machine-id"), "fedcba9876543210fedcba9876543210\n").unwrap();
    reviewed.refused(&reviewed.plan, 6, "another machine");
}

#[test]
fn what_is_no_plan_is_wrong_input() {
    testbed::needs!(Root);
    let reviewed = Reviewed::new();
    let text = fs::read_to_string(&reviewed.plan).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = reviewed.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let configuration = text.split_once("\"configuration\": \"").unwrap().1.split_once('"').unwrap().0;
    let edited = ["damaged", "other-configuration"];
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("garbage", vec![0xff; 1000]),
        ("torn", text.as_bytes()[..text.len() / 2].to_vec()),
        ("configuration", fs::read(reviewed.dir.path().join("configuration.yaml")).unwrap()),
        ("foreign", text.replace("SavedPlan", "Plan").into_bytes()),
        ("later", text.replacen("v1alpha1", "v9", 1).into_bytes()),
        ("unknown-member", text.replacen('{', "{\"more\": 1,", 1).into_bytes()),
        ("damaged", text.replace(configuration, "!!!").into_bytes()),
        ("other-configuration", text.replace(configuration, "a2luZDogTm90aGluZwo=").into_bytes()),
    ] {
        reviewed.refused(&put(name, &bytes), 2, if edited.contains(&name) { "was edited" } else { "is not a plan" });
    }
    reviewed.refused(&reviewed.dir.path().join("absent"), 2, "No such file");
    fs::set_permissions(&reviewed.plan, fs::Permissions::from_mode(0o666)).unwrap();
    reviewed.refused(&reviewed.plan, 2, "can be written by everybody");
    fs::set_permissions(&reviewed.plan, fs::Permissions::from_mode(0o620)).unwrap();
    chown(&reviewed.plan, None, Some(1)).unwrap();
    reviewed.refused(&reviewed.plan, 2, "can be written by its group");
    chown(&reviewed.plan, None, Some(0)).unwrap();
    assert_eq!(reviewed.apply(&reviewed.plan).code, Some(0), "root's group is root");
}

#[test]
fn a_saved_plan_is_for_its_owner_only() {
    let reviewed = Reviewed::new();
    assert_eq!(fs::metadata(&reviewed.plan).unwrap().permissions().mode() & 0o7777, 0o600);
}

#[test]
fn commands_that_were_altered_where_they_lie_are_not_run() {
    let commands = |list: &str| document("CommandsConfig", &format!("{{commands: [{list}]}}"));
    let reviewed = "{name: a, argv: ['true'], environment: {X: a}}, {name: b, argv: ['true']}";
    for (altered, why) in [
        ("{name: a, argv: ['true'], environment: {X: a, LD_PRELOAD: /x.so}}, {name: b, argv: ['true']}", "now needs"),
        ("{name: a, argv: ['true'], environment: {X: b}}, {name: b, argv: ['true']}", "now needs"),
        ("{name: a, argv: ['true'], environment: {X: a}, run: always}, {name: b, argv: ['true']}", "now needs"),
        ("{name: b, argv: ['true']}, {name: a, argv: ['true'], environment: {X: a}}", "in another order"),
        // A phase that can't tell yet what it will do has no steps to compare.
        (
            &format!("{reviewed}]}} # [{{"),
            "a document that the configuration fetches has changed since the plan was made",
        ),
    ] {
        let dir = Scratch::new("altered");
        let part = dir.path().join("part.yaml");
        fs::write(&part, commands(reviewed)).unwrap();
        let here = document("RemoteConfig", &format!("{{provider: file, uri: 'file://{}'}}", part.display()));
        let reviewed = Reviewed::of(&here);
        fs::write(&part, commands(altered)).unwrap();
        reviewed.refused(&reviewed.plan, 6, why);
    }
}
