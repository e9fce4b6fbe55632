//! Documents under `tests/containerd/`: what they make of config.toml, and whether four real containerds start with it
//! and have every value.
//!
//! `<case>`: `document.yaml`, `before.toml` (if any), `expected-<version>.toml` for each containerd, or
//! `refused-<version>.txt`, and `hosts.txt` with the files of registries. UPDATE_CASES=1 writes what is expected anew.
use crate::support::own_containerd::{Dump, OwnContainerd, PROGRAMS, Program, dump};
use containerd::{CgroupDriver, OptionValue, Printed, Proposal, Runtime, Seen, Settings, Version, missing, propose};
use documents::{AnyDocument, Source};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};
use testbed::{
    packages::{CONTAINERD_1_6, CONTAINERD_1_7, CONTAINERD_2_1},
    programs::CONTAINERD,
};

const UPDATE: &str = "UPDATE_CASES";
const CONFIG: &str = "/etc/containerd/config.toml";

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/containerd");
    let mut cases: Vec<_> = fs::read_dir(folder).expect("cases").map(|entry| entry.expect("a case").path()).collect();
    cases.sort();
    assert_eq!(cases.len(), 20, "twenty documents");
    cases
}

fn settings_of(text: &str) -> Settings {
    let read = documents::read(vec![Source { name: "case".into(), bytes: text.as_bytes().to_vec().into() }]);
    assert!(!read.report.has_errors(), "{}", read.report);
    let AnyDocument::Containerd(wanted) = &read.documents[0].body else { panic!("another kind") };
    engine::containerd_settings(wanted)
}

fn proposed(settings: &Settings, version: Version, before: Option<&str>) -> Result<Proposal, String> {
    let seen = Seen { version, config_path: CONFIG, config: before, imports: &[], hosts: &BTreeSet::new() };
    propose(settings, &seen).map_err(|problems| problems.iter().map(|problem| format!("{problem}\n")).collect())
}

/// Compares with a file of the case, or writes it.
fn same_as(case: &Path, name: &str, got: Option<&str>) {
    let file = case.join(name);
    if std::env::var_os(UPDATE).is_some() {
        match got {
            Some(got) => fs::write(&file, got).expect("the case can be updated"),
            None => drop(fs::remove_file(&file)),
        }
    }
    let wanted = fs::read_to_string(&file).ok();
    assert_eq!(got, wanted.as_deref(), "{} differs; see it with {UPDATE}=1", file.display());
}

/// What a containerd does not show of a proposal.
fn not_taken_up(program: &Program, proposal: &Proposal) -> Vec<String> {
    let dump = dump(program, &proposal.config).accepted();
    let printed = Printed { dump: &dump, defaults: &program.print_defaults() };
    missing(printed, proposal, &[]).expect("a dump").iter().map(ToString::to_string).collect()
}

/// A document on one containerd.
struct Trial {
    case: PathBuf,
    program: &'static Program,
}

impl Trial {
    /// Proposes, compares, and gives what can be started.
    fn proposal(&self) -> Option<(Settings, Proposal)> {
        let text = fs::read_to_string(self.case.join("document.yaml")).expect("a document");
        let before = fs::read_to_string(self.case.join("before.toml")).ok();
        let settings = settings_of(&text);
        let name = self.program.name;
        let version = Version::read(&self.program.print_version()).expect("a version");
        let proposal = proposed(&settings, version, before.as_deref());
        same_as(&self.case, &format!("expected-{name}.toml"), proposal.as_ref().ok().map(|one| one.config.as_str()));
        same_as(&self.case, &format!("refused-{name}.txt"), proposal.as_ref().err().map(String::as_str));
        let proposal = proposal.ok()?;
        let shown: String = proposal
            .files
            .iter()
            .map(|file| format!("{:04o} {}\n{}\n", file.mode, file.path, file.contents.expose()))
            .collect();
        same_as(&self.case, "hosts.txt", (!shown.is_empty()).then_some(&shown));
        let again = proposed(&settings, version, Some(&proposal.config)).expect("it can be edited again");
        assert_eq!(again.config, proposal.config, "{}: a second run changes nothing", self.case.display());
        Some((settings, proposal))
    }

    fn run(&self) {
        let Some((settings, proposal)) = self.proposal() else { return };
        let at = format!("{} on containerd {}", self.case.display(), self.program.name);
        assert_eq!(not_taken_up(self.program, &proposal), [""; 0], "{at}");
        let containerd = OwnContainerd::start(self.program, &proposal);
        let report = containerd.report();
        assert_eq!(report.not_ready, None, "{at}");
        let root = settings.data_root.as_deref().unwrap_or("/var/lib/containerd");
        assert_eq!(report.root.as_deref(), Some(root), "{at}");
        if let (Some(driver), Some(told)) = (settings.cgroup_driver, report.cgroup_driver) {
            let is_systemd = told == cri::CgroupDriver::Systemd;
            assert_eq!(is_systemd, driver == CgroupDriver::Systemd, "{at}");
        }
        let config = report.config.expect("its status has its configuration");
        self.runtimes_are_shown(&settings, &config);
        // The status of 2.x has nothing of images, neither the sandbox image: there the dump above is the judge.
        if self.program.name.starts_with("1.") {
            images_are_shown(&settings, &config, &at);
        }
    }

    fn runtimes_are_shown(&self, settings: &Settings, config: &Value) {
        let at = format!("{} on containerd {}: {config}", self.case.display(), self.program.name);
        let all = &config["containerd"]["runtimes"];
        for Runtime { name, runtime_type, binary, options } in &settings.runtimes {
            let shown = &all[name.as_str()];
            assert_eq!(shown["runtimeType"], json!(runtime_type), "{at}");
            for (option, value) in options {
                let value = match value {
                    OptionValue::Bool(value) => json!(value),
                    OptionValue::Integer(value) => json!(value),
                    OptionValue::Text(value) => json!(value),
                };
                assert_eq!(shown["options"][option.as_str()], value, "{at}");
            }
            if let Some(binary) = binary {
                assert_eq!(shown["options"]["BinaryName"], json!(binary), "{at}");
            }
        }
        if let Some(name) = &settings.default_runtime {
            assert_eq!(config["containerd"]["defaultRuntimeName"], json!(name), "{at}");
        }
        if let Some(driver) = settings.cgroup_driver {
            let is_systemd = json!(driver == CgroupDriver::Systemd);
            assert_eq!(all["runc"]["options"]["SystemdCgroup"], is_systemd, "{at}");
        }
        assert_eq!(all["runc"]["runtimeType"], "io.containerd.runc.v2", "{at}");
    }
}

fn images_are_shown(settings: &Settings, config: &Value, at: &str) {
    if let Some(image) = &settings.sandbox_image {
        assert_eq!(config["sandboxImage"], json!(image), "{at}: {config}");
    }
    if let Some(snapshotter) = &settings.snapshotter {
        assert_eq!(config["containerd"]["snapshotter"], json!(snapshotter), "{at}: {config}");
    }
    if !settings.registries.is_empty() {
        assert_eq!(config["registry"]["configPath"], "/etc/containerd/certs.d", "{at}: {config}");
        assert!(config["registry"]["mirrors"].as_object().is_none_or(serde_json::Map::is_empty), "{at}: {config}");
    }
}

#[test]
fn four_containerds_start_with_twenty_documents_and_have_every_value() {
    testbed::needs!(
        Root,
        Judge("unshare"),
        Judge("ip"),
        Pinned(&CONTAINERD),
        Packages(&[&CONTAINERD_1_6, &CONTAINERD_1_7, &CONTAINERD_2_1])
    );
    let trials: Vec<Trial> =
        PROGRAMS.iter().flat_map(|program| cases().into_iter().map(move |case| Trial { case, program })).collect();
    let next = AtomicUsize::new(0);
    // containerd waits more than it works.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                    trial.run();
                }
            });
        }
    });
    assert!(next.into_inner() >= 80);
}

#[test]
fn a_value_that_a_containerd_ignores_or_refuses_is_found_before_it_is_written() {
    testbed::needs!(
        Root,
        Judge("unshare"),
        Judge("ip"),
        Pinned(&CONTAINERD),
        Packages(&[&CONTAINERD_1_6, &CONTAINERD_1_7, &CONTAINERD_2_1])
    );
    let extra = |text: &str| Settings { extra: Some(text.to_owned()), ..Settings::default() };
    let of_cri = |program: &Program| match program.name.starts_with("1.") {
        true => "io.containerd.grpc.v1.cri",
        false => "io.containerd.cri.v1.runtime",
    };
    for program in &PROGRAMS {
        let version = Version::read(&program.print_version()).expect("a version");
        let plugin = of_cri(program);
        for (text, key) in [
            (format!("[plugins.'{plugin}']\nno_such_key = 1\n"), "no_such_key"),
            ("[plugins.'io.containerd.no-such.v1.plugin']\na = 'b'\n".to_owned(), "no-such"),
            ("[no_such_table]\na = true\n".to_owned(), "no_such_table"),
            ("[timeouts]\n'io.containerd.timeout.task.state' = '3s'\n[debug]\nlevle = 'debug'\n".to_owned(), "levle"),
        ] {
            let proposal = proposed(&extra(&text), version, None).expect("its form is right");
            let found = not_taken_up(program, &proposal);
            assert_eq!(found.len(), 1, "containerd {}: {text}: {found:?}", program.name);
            assert!(found[0].contains(key), "{found:?}");
        }
        // What has another type ends with an exit code, and the reason names the key.
        let wrong = extra(&format!("[plugins.'{plugin}']\nenable_selinux = 'often'\n"));
        let proposal = proposed(&wrong, version, None).expect("its form is right");
        let refused = dump(program, &proposal.config);
        assert!(matches!(&refused, Dump::Refused(_)), "containerd {}: {refused:?}", program.name);
    }
}
