//! Some tests on whole machines once more, in a virtual machine whose kernel has control groups of version 2 alone.
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testbed::vm::{self, Manager, TestProgram, Workload};
use testbed::{Error, Result};

/// A file of tests that boot machines, and how some of them run.
struct Choice {
    file: &'static str,
    /// The target of the workspace that it belongs to.
    target: &'static str,
    /// What they find in charge of control groups.
    manager: Manager,
    /// All whose names have this text.
    tests: &'static str,
}

const fn choice(file: &'static str, target: &'static str, manager: Manager, tests: &'static str) -> Choice {
    Choice { file, target, manager, tests }
}

/// What runs inside: one node from its seed to Ready and through a power cut, which takes a quarter of an hour, a control
/// plane and a worker as users have them, and all tests of the other three files.
const CHOICES: [Choice; 6] = [
    choice("modules", "documents", Manager::Systemd, "modules::"),
    choice("modules", "documents", Manager::Nobody, "modules::"),
    choice("machine", "machine", Manager::Systemd, ""),
    choice("services", "documents", Manager::Systemd, "services::"),
    choice("users_machine", "workers", Manager::Systemd, "users_machine::a_control_plane_and_a_worker"),
    choice("walking_skeleton", "boot", Manager::Systemd, "walking_skeleton::a_seeded_machine_becomes_a_ready_node"),
];

/// Names the files whose tests run, separated by commas; all without it.
const ONLY: &str = "MACHINEADM_CGROUP_V2_ONLY";

/// Files whose tests boot machines as well and do not run inside. Each would add minutes to hours of emulation, and those
/// that start a program of cargo's (`leftovers`, `command`, `faults`, `sealed_reboot`) would need it on the disk. Of
/// `walking_skeleton` the tests that kill and fail kubeadm are left out.
const LEFT_OUT: [&str; 30] = [
    "air_gap",
    "bare_image",
    "bare_kubeadm",
    "chaos",
    "command",
    "conformance",
    "container",
    "containerd_machine",
    "control_plane_files",
    "control_plane_change",
    "control_plane_join",
    "control_plane_kills",
    "control_plane_lost",
    "control_plane_remove",
    "control_plane_versions",
    "control_plane_ways",
    "failures",
    "faults",
    "first_boot",
    "getting_started",
    "init_command",
    "leftovers",
    "modes",
    "neighbours",
    "preflight",
    "reset",
    "sealed_reboot",
    "worker",
    "worker_versions",
    "worker_ways",
];

const LIMIT: Duration = Duration::from_secs(90 * 60);

#[test]
#[ignore = "long tier: some of the machine tests on control groups of version 2, in an emulated virtual machine"]
fn whole_machines_work_where_control_groups_have_version_2_alone() -> Result<()> {
    testbed::needs!(Nodes, Judge("qemu-system-x86_64"));
    let workload = Workload { programs: test_programs()?, files: vec![static_program()?], environment: environment() };
    let report = vm::run(&workload, LIMIT)?;
    assert_eq!(report.control_groups, "cgroup2fs", "control groups of version 1 are there too");
    let names: Vec<&str> = report.programs.iter().map(|program| program.name.as_str()).collect();
    let wanted: Vec<&str> = workload.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!(names, wanted, "every program is started once");
    for (outcome, program) in report.programs.iter().zip(&workload.programs) {
        assert_eq!((outcome.exit_code, outcome.failed), (Some(0), 0), "{outcome:?}");
        assert_eq!((outcome.passed > 0, outcome.passed), (true, listed(program)?), "{outcome:?}");
    }
    Ok(())
}

/// A new test on machines is chosen or left out on purpose, and the documentation says which.
#[test]
fn every_file_with_tests_on_machines_is_chosen_or_left_out_by_name() {
    let read = |path: &Path| std::fs::read_to_string(path).expect("a file");
    let entries = |path: &Path| {
        std::fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>()
    };
    // Tests are a file, or a folder of files: a target, or a module of one.
    let text = |path: &Path| match ["main.rs", "mod.rs"].iter().any(|name| path.join(name).is_file()) {
        true => entries(path)
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "rs"))
            .map(|path| read(path))
            .collect(),
        false if path.is_file() => read(path),
        false => String::new(),
    };
    let houses = entries(&repository().join("crates/machineadm/tests"));
    let houses = houses.into_iter().filter(|path| path.join("main.rs").is_file());
    let mut found = BTreeSet::new();
    for directory in houses.chain(["testbed/tests", "crates/kms-plugin/tests"].map(|name| repository().join(name))) {
        for path in entries(&directory) {
            let has_machines = |text: &str| ["needs!(Machines", "needs!(Nodes"].iter().any(|need| text.contains(need));
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if !file!().ends_with(&format!("{name}.rs")) && has_machines(&text(&path)) {
                found.insert(name);
            }
        }
    }
    let chosen = CHOICES.iter().map(|choice| choice.file);
    let listed: BTreeSet<String> = chosen.chain(LEFT_OUT).map(str::to_owned).collect();
    assert_eq!(listed, found);
    let page = read(&repository().join("docs/testbed.md"));
    let (_, section) = page.split_once("\n## The virtual machine\n").expect("a section");
    for name in listed {
        assert!(section.contains(&format!("`{name}`")), "docs/testbed.md does not say what becomes of {name}");
    }
}

/// What the tests go by: nothing is left out, and the program is the one that ships, for which they call cargo.
fn environment() -> Vec<(String, String)> {
    let set = [("CARGO", "/bin/true"), (testbed::needs::COMPLETE, "1"), (testbed::programs::TIER, "long")];
    set.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

/// How many tests a program has to run, as it lists them here.
fn listed(program: &TestProgram) -> Result<u32> {
    let mut list = Command::new(&program.executable);
    let output = list.args(&program.arguments).arg("--list").output();
    let output = output.map_err(|source| Error::Start { command: program.name.clone(), source })?;
    let tests = String::from_utf8_lossy(&output.stdout).lines().filter(|line| line.ends_with(": test")).count();
    Ok(u32::try_from(tests).unwrap_or(u32::MAX))
}

/// The test programs, as fresh as this one: cargo builds them if they are not.
fn test_programs() -> Result<Vec<TestProgram>> {
    let mut words = vec!["test", "--workspace", "--locked", "--no-run", "--message-format=json"];
    // All packages are named, so that cargo picks the features, and so the files, of `cargo test --workspace`.
    words.extend(CHOICES.iter().flat_map(|choice| ["--test", choice.target]));
    let printed = cargo(&words)?;
    let messages = printed.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let built: Vec<(String, PathBuf)> = messages
        .filter_map(|message| {
            let executable = message["executable"].as_str()?;
            Some((message["target"]["name"].as_str()?.to_owned(), executable.into()))
        })
        .collect();
    let program = |Choice { file, target, manager, tests }: &Choice| {
        let found = built.iter().find(|(name, _)| name == target);
        let (_, executable) = found.unwrap_or_else(|| panic!("cargo did not build the test {target}: {built:?}"));
        let name = match manager {
            Manager::Systemd => (*file).to_owned(),
            Manager::Nobody => format!("{file}-without-systemd"),
        };
        // One after another: a machine alone is slow enough.
        let filter = (!tests.is_empty()).then(|| (*tests).to_owned());
        let arguments = ["--include-ignored", "--test-threads=1"].map(str::to_owned);
        let arguments = filter.into_iter().chain(arguments).collect();
        TestProgram { name, executable: executable.clone(), arguments, manager: *manager }
    };
    let only = std::env::var(ONLY).ok();
    let is_wanted = |choice: &&Choice| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == choice.file));
    Ok(CHOICES.iter().filter(is_wanted).map(program).collect())
}

/// The static machineadm that the machine tests copy into their machines.
fn static_program() -> Result<PathBuf> {
    const TARGET: &str = "x86_64-unknown-linux-musl";
    cargo(&["build", "--release", "--locked", "-p", "machineadm", "--target", TARGET])?;
    Ok(repository().join("target").join(TARGET).join("release/machineadm"))
}

fn cargo(words: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).current_dir(repository()).args(words).output();
    let command = format!("cargo {}", words.join(" "));
    let output = output.map_err(|source| Error::Start { command: command.clone(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(Error::Failed { command, status: output.status.to_string(), output: said })
}

fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}
