//! A saved plan is done exactly, or refused: when the machine has drifted, is another one, or the file is no plan.
mod support {
    pub(crate) mod binary;
    pub(crate) mod differences;
    pub(crate) mod documents;
    pub(crate) mod ran;
    pub(crate) mod scratch;
    pub(crate) mod tree;
}

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};
use support::{
    binary::run,
    differences::differences,
    documents::document,
    ran::Ran,
    scratch::Scratch,
    tree::{Tree, look},
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

    fn apply(&self, plan: &Path) -> Ran {
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
fn a_reviewed_plan_is_applied_and_then_no_longer_fits() {
    let reviewed = Reviewed::new();
    let ran = reviewed.apply(&reviewed.plan);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(reviewed.root.join("etc/motd")).unwrap(), "new");
    reviewed.refused(&reviewed.plan, 6, "no longer needs");
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
    let reviewed = Reviewed::new();
    let text = fs::read_to_string(&reviewed.plan).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = reviewed.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let configuration = text.split_once("\"configuration\": \"").unwrap().1.split_once('"').unwrap().0;
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("garbage", vec![0xff; 1000]),
        ("torn", text.as_bytes()[..text.len() / 2].to_vec()),
        ("configuration", fs::read(reviewed.dir.path().join("configuration.yaml")).unwrap()),
        ("foreign", text.replace("SavedPlan", "Plan").into_bytes()),
        ("later", text.replace("v1alpha1", "v9").into_bytes()),
        ("unknown-member", text.replacen('{', "{\"more\": 1,", 1).into_bytes()),
        ("damaged", text.replace(configuration, "!!!").into_bytes()),
        ("other-configuration", text.replace(configuration, "a2luZDogTm90aGluZwo=").into_bytes()),
    ] {
        reviewed.refused(&put(name, &bytes), 2, "");
    }
    reviewed.refused(&reviewed.dir.path().join("missing"), 2, "missing");
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
        (&format!("{reviewed}]}} # [{{"), "what the configuration points to has changed since the plan was made"),
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
