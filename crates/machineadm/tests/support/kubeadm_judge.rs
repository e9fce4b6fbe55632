//! Real kubeadm programs that judge: the files that we write for them, and what they would create by a dry run.
//!
//! kubeadm runs in a network namespace of its own, which is empty: otherwise it would ask the internet for a version.
use crate::support::sandbox::Sandbox;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use testbed::programs::{KUBEADM_1_30, KUBEADM_1_37, KUBERNETES, Set};

/// A kubeadm that judges.
pub(crate) struct Judge {
    pub(crate) version: &'static str,
    pub(crate) program: PathBuf,
}

/// One kubeadm for each API version that is in use.
pub(crate) const IN_USE: &[&Set] = &[&KUBEADM_1_30, &KUBERNETES, &KUBEADM_1_37];

/// Each is built when it is first needed; one that can't be had fails the test.
pub(crate) fn judges(sets: &[&Set]) -> Vec<Judge> {
    let judge = |set: &&Set| Judge {
        version: set.name.rsplit_once('-').expect("a version").1,
        program: set
            .ensure()
            .unwrap_or_else(|error| panic!("{}: {error}", set.name))
            .judge("kubeadm")
            .expect("a record"),
    };
    sets.iter().map(judge).collect()
}

impl Judge {
    pub(crate) fn minor(&self) -> u32 {
        self.version.split('.').nth(1).and_then(|minor| minor.parse().ok()).expect("a minor")
    }

    /// Runs kubeadm without any network.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        Command::new("unshare").arg("-n").arg(&self.program).args(arguments).output().expect("unshare runs")
    }

    /// Whether it takes a file without a word about unknown fields: `validate`, or `migrate` where there is no such.
    pub(crate) fn accepts(&self, file: &Path, scratch: &Path) -> Result<(), String> {
        let file = file.display().to_string();
        let migrated = scratch.join("migrated.yaml").display().to_string();
        let output = match self.minor() {
            ..28 => self.run(&["config", "migrate", "--old-config", &file, "--new-config", &migrated]),
            37.. => self.run(&["config", "validate", "--allow-experimental-api", "--config", &file]),
            _ => self.run(&["config", "validate", "--config", &file]),
        };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let complains = ["unknown field", "strict decoding", "old API"];
        if output.status.success() && !complains.iter().any(|word| said.contains(word)) { Ok(()) } else { Err(said) }
    }

    /// The file and the flags that `machineadm bootstrap` starts this kubeadm with.
    pub(crate) fn started_with(&self, documents: &str) -> (String, Vec<String>) {
        let machine = Sandbox::new();
        testbed::copy_program(&self.program, &machine.at("/usr/local/bin/real-kubeadm")).expect("a program");
        // Written inside, as the program is copied: no other thread's child has it open.
        machine.sh(&format!("cat > /usr/local/bin/kubeadm << 'END'\n{LISTENING_KUBEADM}END\n"));
        machine.sh("chmod +x /usr/local/bin/kubeadm; mkdir -p /run/containerd; : > /run/containerd/containerd.sock");
        let ran = machine.bootstrap(documents);
        assert!(ran.stderr.contains("kubeadm was listened to"), "{}{}", ran.stdout, ran.stderr);
        let said = machine.text("/srv/arguments").expect("the arguments of kubeadm");
        (machine.text("/srv/kubeadm.yaml").expect("the file of kubeadm"), said.lines().map(str::to_owned).collect())
    }

    /// What it would create, by its own dry run with what `machineadm bootstrap` starts it with, after a script on its
    /// machine.
    pub(crate) fn dry_run_after(&self, script: &str, documents: &str) -> String {
        let (file, flags) = self.started_with(documents);
        let machine = Sandbox::new();
        machine.sh(script);
        testbed::copy_program(&self.program, &machine.at("/usr/local/bin/kubeadm")).expect("a program");
        fs::write(machine.at("/srv/kubeadm.yaml"), file).expect("a file can be written");
        let flags: String = flags.iter().filter(|flag| !flag.is_empty()).map(|flag| format!(" '{flag}'")).collect();
        let ran = machine.sh(&format!(
            "kubeadm init --dry-run --config /srv/kubeadm.yaml{flags} > /srv/dry-run 2>&1 \
             || echo FAILED >> /srv/dry-run"
        ));
        let shown = machine.text("/srv/dry-run").unwrap_or_else(|| panic!("{ran:?}"));
        assert!(!shown.ends_with("FAILED\n"), "kubeadm {}: {shown}", self.version);
        shown
    }
}

/// The real kubeadm but for `init`, which stops where the real one would begin.
const LISTENING_KUBEADM: &str = r#"#!/bin/sh
[ "$1" = init ] || exec real-kubeadm "$@"
cp "$3" /srv/kubeadm.yaml
shift 4
printf '%s\n' "$@" > /srv/arguments
echo "kubeadm was listened to" >&2
exit 1
"#;
