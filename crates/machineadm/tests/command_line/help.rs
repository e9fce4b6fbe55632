//! Every `--help`, as people read it: one golden file each below `tests/help`. `UPDATE_HELP=1` writes them anew.
use crate::support::binary::run;
use clap::CommandFactory;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// What `--help` prints for each command, by its words.
fn printed() -> BTreeMap<String, String> {
    let mut command = machineadm::Cli::command();
    command.build();
    let mut found = BTreeMap::new();
    collect(&command, &[], &mut found);
    found
}

fn collect(command: &clap::Command, path: &[&str], found: &mut BTreeMap<String, String>) {
    let ran = run(path.iter().copied().chain(["--help"]));
    assert_eq!(ran.code, Some(0), "{path:?}: {}", ran.stderr);
    let name = [&["machineadm"], path].concat().join("-");
    found.insert(format!("{name}.txt"), ran.stdout);
    for below in command.get_subcommands() {
        collect(below, &[path, &[below.get_name()]].concat(), found);
    }
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/help")
}

#[test]
fn every_help_is_as_its_golden_file_says() {
    let printed = printed();
    if std::env::var_os("UPDATE_HELP").is_some() {
        fs::create_dir_all(golden()).expect("a directory can be made");
        for (name, text) in &printed {
            fs::write(golden().join(name), text).expect("a file can be written");
        }
    }
    let files = fs::read_dir(golden()).expect("there are golden files");
    let stored: BTreeMap<String, String> = files
        .map(|file| file.expect("it can be listed"))
        .map(|file| (file.file_name().into_string().expect("ASCII"), fs::read_to_string(file.path()).expect("text")))
        .collect();
    assert_eq!(printed.keys().collect::<Vec<_>>(), stored.keys().collect::<Vec<_>>());
    for (name, text) in printed {
        assert_eq!(text, stored[&name], "{name} differs; see it with UPDATE_HELP=1");
    }
}

/// A broken line can't be copied.
#[test]
fn no_line_of_an_example_is_broken() {
    let mut command = machineadm::Cli::command();
    command.build();
    let printed = printed();
    let mut examples = 0;
    each(&command, &mut |command| {
        let name = command.get_bin_name().unwrap_or("machineadm").replace(' ', "-");
        let lines: Vec<&str> = printed[&format!("{name}.txt")].lines().collect();
        for line in command.get_after_help().map(ToString::to_string).unwrap_or_default().lines() {
            assert!(lines.contains(&line), "{name}: this line is too long and is broken: {line}");
            examples += usize::from(line.starts_with("  "));
        }
        assert!(lines.iter().all(|line| line.chars().count() <= 120), "{name}");
    });
    assert!(examples > 40, "{examples} examples");
}

fn each(command: &clap::Command, see: &mut dyn FnMut(&clap::Command)) {
    see(command);
    command.get_subcommands().for_each(|below| each(below, see));
}

#[test]
fn options_are_shown_only_where_they_mean_something() {
    for (name, text) in printed() {
        let has = |option: &str| text.contains(&format!(" {option} <"));
        let command = name.trim_start_matches("machineadm").trim_start_matches('-').trim_end_matches(".txt");
        let works_on_machine = ["", "bootstrap", "plan", "plan-show", "apply", "validate", "status", "discover"]
            .contains(&command)
            || ["certs-upload", "certs-download", "init", "init-phase-upload-certs", "join"].contains(&command);
        assert_eq!(has("--root"), works_on_machine, "{name}");
        assert_eq!(has("--mode"), ["", "bootstrap", "plan"].contains(&command), "{name}");
        let works_on_cluster = ["token", "token-create", "token-list", "token-delete"].contains(&command)
            || ["discovery-objects", "config-edit-map", "config-import", "init-phase-upload-certs"].contains(&command)
            || ["certs", "certs-upload", "certs-download", "certs-list", "certs-delete"].contains(&command);
        // It works on the etcd of this machine and must not follow a kubeconfig to another cluster.
        let works_on_etcd = command.starts_with("control-plane") || command == "reset";
        let expected = (works_on_cluster || works_on_etcd, works_on_cluster);
        assert_eq!((has("--kubeconfig"), has("--context")), expected, "{name}");
        let tries = works_on_cluster
            && !["token-list", "config-import", "init-phase-upload-certs"].contains(&command)
            && !command.starts_with("certs")
            || ["certs-delete", "init", "join", "reset", "control-plane", "control-plane-remove"].contains(&command);
        assert_eq!(text.contains(" --dry-run"), tries, "{name}");
        if has("--root") {
            let globals = text.split("Global options:").nth(1).expect("a heading of their own");
            assert!(globals.contains("--root"), "{name}");
        }
    }
    for (words, option) in [(["--root", "/", "version"], "--root"), (["--mode", "post", "status"], "--mode")] {
        let ran = run(words);
        assert_eq!(ran.code, Some(2), "{words:?}");
        assert!(ran.stderr.contains(option), "{}", ran.stderr);
    }
}

#[test]
fn help_has_help_and_prints_that_of_every_command() {
    assert_eq!(run(["help", "--help"]).code, Some(0));
    assert_eq!(run(["help", "token", "create"]).stdout, run(["token", "create", "--help"]).stdout);
    let unknown = run(["help", "nonsense"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stdout);
}

#[test]
fn what_users_of_kubeadm_type_names_our_command_or_where_to_read_on() {
    for (words, named) in [
        (&["upgrade", "plan"][..], "machineadm config convert"),
        (&["certs", "renew", "all"], "kubeadm certs renew"),
        (&["certs", "certificate-key"], "machineadm certs key"),
        (&["certs", "check-expiration"], "kubeadm certs check-expiration"),
        (&["config", "print", "init-defaults"], "machineadm config defaults"),
        (&["config", "migrate", "--old-config", "a"], "machineadm config convert"),
        (&["config", "images", "list"], "kubeadm config images list"),
    ] {
        let ran = run(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(named), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn the_starter_configuration_is_valid() {
    let generated = run(["generate", "--kubernetes-version", "1.35.2"]);
    assert_eq!(generated.code, Some(0), "{}", generated.stderr);
    assert!(generated.stdout.contains("kubernetesVersion: v1.35.2\n") && generated.stdout.starts_with("# "));
    let path = std::env::temp_dir().join(format!("machineadm-generated-{}.yaml", std::process::id()));
    fs::write(&path, &generated.stdout).expect("a file can be written");
    let validated = run(["validate".as_ref(), "-f".as_ref(), path.as_path()]);
    fs::remove_file(&path).expect("it is ours");
    assert_eq!((validated.code, validated.stderr.as_str()), (Some(0), ""));
    assert!(validated.stdout.ends_with("4 documents, no problems\n"), "{}", validated.stdout);
}

#[test]
fn a_version_that_validate_rejects_is_not_generated() {
    for (version, reason) in [
        ("1.99", "unsupported version: from 1.13 to 1.40"),
        ("2.0.0", "unsupported version"),
        ("1.12.10", "unsupported version"),
        ("latest", "invalid Kubernetes version"),
    ] {
        let ran = run(["generate", "--kubernetes-version", version]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{version}");
        let error = format!("error: --kubernetes-version {version}: {reason}");
        assert!(ran.stderr.starts_with(&error), "{version}: {}", ran.stderr);
    }
    let newer = run(["generate", "--kubernetes-version", "1.38.0"]);
    assert!(newer.stderr.starts_with("warning: --kubernetes-version 1.38.0: is newer than 1.37"), "{}", newer.stderr);
    assert_eq!((newer.code, newer.stdout.contains("kubernetesVersion: v1.38.0\n")), (Some(0), true));
}
