//! ContainerdConfig: edits containerd's configuration, and restarts containerd when it has not read it.
//!
//! Nothing is proposed that containerd itself has not shown to understand: it ignores unknown keys with exit code 0.
use super::{
    OwnFile, Phase, Role, containerd_settings::settings, no_acts, proxy::Variables, service_files::ServiceFiles,
    write_if_other,
};
use crate::{Fault, Look, Named, PlanError, Planned, Problem, Remark, Step};
use containerd::{
    CERTS_DIR, CONVERTED, ImportedFile, Printed, Proposal, Seen, Version, data_root, import_patterns, missing, propose,
    unit_config_path, with_absolute_imports,
};
use documents::{AnyDocument, Decoded, Secret, v1alpha1::Containerd};
use host::{Change, EntrySort, Error, FileState, PathState, Service};
use outcome::ActSort;
use std::{collections::BTreeSet, time::Duration};

pub(super) const PHASE: Phase = Phase {
    kind: "ContainerdConfig",
    summary: "edits containerd's configuration and hosts.toml, and restarts containerd when it has not read them",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

const SERVICE: &str = "containerd";
const VERSION: [&str; 2] = ["containerd", "--version"];
/// Prints the configuration that containerd makes of a file.
const DUMP: [&str; 5] = ["containerd", "-c", "/dev/stdin", "config", "dump"];
/// Prints every plugin that containerd has.
const DEFAULTS: [&str; 3] = ["containerd", "config", "default"];
/// Shows what containerd's unit starts.
const UNIT: [&str; 5] = ["systemctl", "show", "-p", "Environment,ExecStart", "containerd.service"];
/// How long containerd may take to print something.
const WITHIN: Duration = Duration::from_secs(30);
/// The mode of a new configuration.
const NEW_FILE: u32 = 0o644;
/// Directories below containerd's root that have something in them once it has images.
const IMAGES: [&str; 3] = [
    "io.containerd.content.v1.content/blobs/sha256",
    "io.containerd.snapshotter.v1.overlayfs/snapshots",
    "io.containerd.snapshotter.v1.native/snapshots",
];

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Containerd(wanted) = &document.body else { return Ok(planned) };
    let hosts_files = wanted.registries.iter().map(|registry| &registry.hosts_file);
    for path in hosts_files.chain([&wanted.config_path]) {
        planned.names.push(Named::File { path: path.clone(), block: None });
    }
    if !look.host.live() {
        planned.remarks.push(Remark::OnRunningMachine("containerd is configured"));
        return Ok(planned);
    }
    planned.known_after = look.waits_for(installs_containerd);
    if planned.known_after.is_some() {
        return Ok(planned);
    }
    let Some(printed) = look.host.output(&VERSION, WITHIN)? else {
        planned.known_after = look.waits_for_acts();
        return if planned.known_after.is_some() { Ok(planned) } else { Err(not_installed()) };
    };
    let version = Version::read(&printed).map_err(|error| PlanError::unfit(error.to_string()))?;
    check_unit(wanted, look)?;
    let machine = Machine::see(version, wanted, look, &mut planned)?;
    let proposal = machine.proposal(document, wanted)?;
    machine.check_data_root(wanted, look)?;
    machine.check_dump(document, &proposal, look)?;
    machine.write(document, proposal, look, &mut planned)?;
    Ok(planned)
}

/// A file that containerd's unit does not name would have no effect.
fn check_unit(wanted: &Containerd, look: &Look<'_>) -> Result<(), PlanError> {
    if look.service(SERVICE)? == Service::Unmanaged {
        return Ok(());
    }
    let shown = look.host.output(&UNIT, WITHIN)?.unwrap_or_default();
    match unit_config_path(&shown).filter(|path| *path != wanted.config_path) {
        None => Ok(()),
        Some(path) => Err(PlanError::unfit(format!(
            "spec.configPath: is {}, and the unit containerd.service reads {}: set configPath to that file, or correct \
             the unit",
            wanted.config_path,
            objects::one_line(&path)
        ))),
    }
}

/// Whether a step installs another containerd than the one that would be asked now.
fn installs_containerd(step: &Step) -> bool {
    matches!(step, Step::Run(act) | Step::Redo(act) if act.sort() == ActSort::Program && act.name() == SERVICE)
}

fn not_installed() -> PlanError {
    PlanError::known(Fault::NotInstalled)(Error::Unfit {
        what: "containerd".to_owned(),
        why: "is not installed".to_owned(),
        advice: "install it, or put a ProgramsConfig that does before this document, then run again".to_owned(),
    })
}

/// What a machine has of containerd.
struct Machine<'a> {
    version: Version,
    wanted: &'a Containerd,
    file: Option<FileState>,
    /// The text of that file.
    config: Option<String>,
    imports: Vec<ImportedFile>,
    /// The registries that have a hosts.toml, but for those that machineadm has converted.
    hosts: BTreeSet<String>,
}

impl<'a> Machine<'a> {
    fn see(
        version: Version,
        wanted: &'a Containerd,
        look: &Look<'_>,
        planned: &mut Planned,
    ) -> Result<Self, PlanError> {
        let path = &wanted.config_path;
        let file = look.file(path)?;
        let config = file.as_ref().map(|file| text(path, file)).transpose()?;
        let mut imports = Vec::new();
        for pattern in import_patterns(config.as_deref().unwrap_or_default(), path, version) {
            let names = look.host.names_in(&pattern.directory)?.unwrap_or_default();
            for name in names.iter().filter(|name| pattern.fits(name)) {
                let path = format!("{}/{name}", pattern.directory);
                if let Some(file) = look.file(&path)? {
                    imports.push(ImportedFile { text: text(&path, &file)?, path });
                }
            }
        }
        let mut hosts = BTreeSet::new();
        for entry in look.host.tree(CERTS_DIR)? {
            let directory = entry.path.strip_suffix("/hosts.toml");
            let host = directory.and_then(|directory| directory.strip_prefix(CERTS_DIR)?.strip_prefix('/'));
            let Some(host) = host.filter(|_| entry.sort == EntrySort::File) else { continue };
            let Some(file) = look.file(&entry.path)? else { continue };
            if file.contents.expose().starts_with(CONVERTED.as_bytes()) {
                // It came from this document's conversion, and stays when the source is gone.
                planned.names.push(Named::File { path: entry.path.clone(), block: None });
            } else {
                hosts.insert(host.to_owned());
            }
        }
        Ok(Self { version, wanted, file, config, imports, hosts })
    }

    fn proposal(&self, document: &Decoded, wanted: &Containerd) -> Result<Proposal, PlanError> {
        let seen = Seen {
            version: self.version,
            config_path: &wanted.config_path,
            config: self.config.as_deref(),
            imports: &self.imports,
            hosts: &self.hosts,
        };
        propose(&settings(wanted), &seen).map_err(|problems| {
            let shown = |problem: &containerd::Problem| match &problem.field {
                Some(field) if document.sealed => format!("{field}: cannot be applied to {}", wanted.config_path),
                _ => problem.to_string(),
            };
            PlanError::Unfit(problems.iter().map(shown).map(Problem::from).collect())
        })
    }

    /// Images and containers in the old directory would be lost to containerd, and pods would run on.
    fn check_data_root(&self, wanted: &Containerd, look: &Look<'_>) -> Result<(), PlanError> {
        let old = data_root(self.config.as_deref());
        let Some(new) = wanted.data_root.as_ref().filter(|new| **new != old) else { return Ok(()) };
        for directory in IMAGES {
            let path = format!("{old}/{directory}");
            if matches!(look.host.state_at(&path)?, PathState::Directory { entries: 1.., .. }) {
                return Err(PlanError::unfit(format!(
                    "spec.dataRoot: cannot be changed to {new}: {old} has images, which containerd would no longer see. \
                     Drain the node, stop containerd, and move or delete {old}, then run again"
                )));
            }
        }
        Ok(())
    }

    /// containerd must show every value that it is given. It reads the text from memory, so that nothing is written.
    fn check_dump(&self, document: &Decoded, proposal: &Proposal, look: &Look<'_>) -> Result<(), PlanError> {
        if proposal.expected.is_empty() {
            return Ok(());
        }
        let path = &self.wanted.config_path;
        let text = with_absolute_imports(&proposal.config, path);
        let dump = match look.host.answer(&DUMP, &text, WITHIN) {
            Ok(Some(dump)) => dump,
            Ok(None) => return Err(not_installed()),
            Err(Error::Program { how, output, .. }) => {
                let reason = output.expose().lines().last().map(objects::one_line).unwrap_or_default();
                let reason = if document.sealed { "its reason may quote an encrypted document" } else { &*reason };
                let what = format!("containerd does not accept the new content of {path}");
                return Err(PlanError::unfit(format!("{what}: `containerd config dump` {how}: {reason}")));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(defaults) = look.host.answer(&DEFAULTS, "", WITHIN)? else { return Err(not_installed()) };
        let missing = missing(Printed { dump: &dump, defaults: &defaults }, proposal, &self.imports);
        let missing = missing.map_err(|error| PlanError::unfit(error.to_string()))?;
        if missing.is_empty() {
            return Ok(());
        }
        let shown = |one: &containerd::Missing| match document.sealed {
            true => format!("{}: containerd ignores a value, by `containerd config dump`", one.field),
            false => one.to_string(),
        };
        Err(PlanError::Unfit(missing.iter().map(shown).map(Problem::from).collect()))
    }

    /// Whatever config.toml refers to is written before it.
    fn write(
        self,
        document: &Decoded,
        proposal: Proposal,
        look: &Look<'_>,
        planned: &mut Planned,
    ) -> Result<(), PlanError> {
        for file in proposal.files {
            let contents = file.contents.expose().clone().into_bytes();
            OwnFile { path: &file.path, contents, mode: file.mode, confidential: document.sealed }
                .plan(look, planned)?;
        }
        let path = self.wanted.config_path.clone();
        let mut files = ServiceFiles { service: SERVICE.to_owned(), reads: Vec::new(), changes: false };
        if let Some(proxy) = &self.wanted.proxy {
            let variables = Variables::plan(proxy, document, look, planned)?;
            files = variables.of_service(SERVICE, look, planned)?;
        }
        if proposal.expected.is_empty() {
            // A document with nothing but a proxy.
            return files.plan(look, planned);
        }
        let contents = Secret::new(proposal.config.into_bytes());
        let file = match &self.file {
            Some(FileState { mode, uid, gid, .. }) => FileState { contents, mode: *mode, uid: *uid, gid: *gid },
            None => {
                let (uid, gid) = look.host.default_owner();
                FileState { contents, mode: NEW_FILE, uid, gid }
            }
        };
        let (was, confidential) = (self.file, document.sealed);
        let step = write_if_other(Change::WriteFile { path: path.clone(), block: None, was, file, confidential });
        files.changes |= step.is_some();
        files.reads.push(path);
        planned.steps.extend(step);
        files.plan(look, planned)
    }
}

fn text(path: &str, file: &FileState) -> Result<String, PlanError> {
    String::from_utf8(file.contents.expose().clone()).map_err(|_| {
        PlanError::Look(Error::Unfit {
            what: path.to_owned(),
            why: "is not UTF-8".to_owned(),
            advice: "correct it, then run again".to_owned(),
        })
    })
}
