//! The tests on whole machines once more, in a virtual machine whose kernel has control groups of version 2 alone.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use testbed::vm::{self, Manager, TestProgram, Workload};
use testbed::{Error, Result};

/// The test programs that boot machines, each a target of the workspace, and one of them once more without systemd.
const PROGRAMS: [(&str, Manager); 6] = [
    ("modules", Manager::Systemd),
    ("modules", Manager::Nobody),
    ("machine", Manager::Systemd),
    ("services", Manager::Systemd),
    ("walking_skeleton", Manager::Systemd),
    ("modes", Manager::Systemd),
];

const LIMIT: Duration = Duration::from_secs(90 * 60);

#[test]
#[ignore = "long tier: the machine tests on control groups of version 2, in an emulated virtual machine"]
fn whole_machines_work_where_control_groups_have_version_2_alone() -> Result<()> {
    let workload = Workload {
        programs: test_programs()?,
        files: vec![static_program()?],
        // The tests call cargo for the static program, which is there and fresh.
        environment: vec![("CARGO".to_owned(), "/bin/true".to_owned())],
    };
    let report = vm::run(&workload, LIMIT)?;
    assert_eq!(report.control_groups, "cgroup2fs", "control groups of version 1 are there too");
    let names: Vec<&str> = report.programs.iter().map(|program| program.name.as_str()).collect();
    let wanted: Vec<&str> = workload.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!(names, wanted, "every program is started once");
    for program in &report.programs {
        assert_eq!((program.exit_code, program.failed), (Some(0), 0), "{program:?}");
        assert!(program.passed > 0, "{} ran no test", program.name);
    }
    Ok(())
}

/// The test programs, as fresh as this one: cargo builds them if they are not.
fn test_programs() -> Result<Vec<TestProgram>> {
    let mut words = vec!["test", "--workspace", "--locked", "--no-run", "--message-format=json"];
    // All packages are named, so that cargo picks the features, and so the files, of `cargo test --workspace`.
    words.extend(PROGRAMS.iter().flat_map(|(target, _)| ["--test", target]));
    let printed = cargo(&words)?;
    let messages = printed.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let built: Vec<(String, PathBuf)> = messages
        .filter_map(|message| {
            let executable = message["executable"].as_str()?;
            Some((message["target"]["name"].as_str()?.to_owned(), executable.into()))
        })
        .collect();
    let program = |(target, manager): &(&str, Manager)| {
        let found = built.iter().find(|(name, _)| name == target);
        let (_, executable) = found.unwrap_or_else(|| panic!("cargo did not build the test {target}: {built:?}"));
        let name = match manager {
            Manager::Systemd => (*target).to_owned(),
            Manager::Nobody => format!("{target}-without-systemd"),
        };
        // One after another: a machine alone is slow enough.
        let arguments = vec!["--test-threads=1".to_owned()];
        TestProgram { name, executable: executable.clone(), arguments, manager: *manager }
    };
    Ok(PROGRAMS.iter().map(program).collect())
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
