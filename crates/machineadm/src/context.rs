//! What the commands stand on: the configuration that was read, and the machine that it is for.
use crate::provider::{self, Fetched};
use documents::{Decoded, ForeignKinds, Given, Read, Report, Source, limits, v1alpha1::Identity};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
    linux::{
        Echo,
        input::{self, Care},
    },
};
use machine::{Machine, Redactor, outcome::chain};
use std::path::Path;
use zeroize::Zeroizing;

/// A configuration without errors.
pub(crate) struct Configuration {
    /// Its text, as it came.
    pub(crate) text: Zeroizing<Vec<u8>>,
    /// What it asks.
    pub(crate) machine: Machine,
    /// Knows its secrets.
    pub(crate) redactor: Redactor,
    /// What it fetched and may keep.
    pub(crate) fetched: Fetched,
    /// The digest of each part that it fetched.
    pub(crate) parts: Vec<String>,
}

/// A configuration that can't be used.
pub(crate) struct Unusable {
    /// Whether it is wrong, or something that it names could not be had.
    pub(crate) exit: Exit,
    /// Why, in one line.
    pub(crate) why: String,
    /// What was read of it, and every problem.
    pub(crate) read: Read,
    /// What it fetched and may keep.
    pub(crate) fetched: Fetched,
}

impl Unusable {
    fn of(read: Read, fetched: Fetched) -> Self {
        let cause = read.report.cause().unwrap_or_default();
        let (exit, why) = match fetched.despite() {
            _ if read.report.is_unavailable() => (Exit::Failed, cause),
            // What is wrong is what was kept, and there is no other.
            Some(despite) => (Exit::Failed, format!("{despite}; what the run before had fetched is no help: {cause}")),
            None => (Exit::Input, cause),
        };
        Self { exit, why, read, fetched }
    }

    /// Tells all its problems.
    pub(crate) fn tell(&self) {
        tell_on!("{}", self.read.report);
    }
}

/// Reads files; what can't be read at all is wrong input.
pub(crate) fn sources(files: &[String], care: Care) -> Result<Vec<Source>, Exit> {
    let mut sources = Vec::new();
    let mut problems = 0;
    for name in files {
        match input::read(name, care, limits::TEXT_BYTES as u64) {
            Ok(bytes) => sources.push(Source { name: name.clone(), bytes }),
            Err(error) => {
                complain(&error);
                problems += 1;
            }
        }
    }
    if problems == 0 { Ok(sources) } else { Err(Exit::Input) }
}

/// Reads what lies here of a configuration; all its problems go to standard error.
pub(crate) fn given(sources: Vec<Source>) -> Result<Given, Exit> {
    Given::read(sources, ForeignKinds::Refused).map_err(|Read { report, .. }| {
        tell_on!("{report}");
        Exit::Input
    })
}

/// Fetches and opens the rest; warnings go to standard error. What is kept of a configuration is its text as it
/// came: what was sealed stays so.
pub(crate) fn expanded(given: Given, text: Zeroizing<Vec<u8>>, linux: &Linux) -> Result<Configuration, Box<Unusable>> {
    // What can't be read is as good as nothing.
    let kept = linux.file(contract::FETCHED).ok().flatten();
    let fetched = Fetched::after(kept.as_ref().map(|file| file.contents.expose().as_slice()));
    let read = provider::expand(given, identity(linux), &fetched);
    if read.report.has_errors() {
        return Err(Box::new(Unusable::of(read, fetched)));
    }
    if !read.report.is_empty() {
        tell_on!("{}", read.report);
    }
    let redactor = redactor(&read);
    Ok(Configuration { text, machine: Machine::of(read.documents), redactor, fetched, parts: read.fetched })
}

/// A configuration with all that it points to or seals, for somebody who only looks.
pub(crate) fn configuration(sources: Vec<Source>, linux: &Linux) -> Result<Configuration, Exit> {
    let text = documents::joined(&sources);
    expanded(given(sources)?, text, linux).map_err(|unusable| {
        unusable.tell();
        unusable.exit
    })
}

/// Whether a report lets one go on.
pub(crate) fn usable(report: &Report) -> Result<(), Exit> {
    match report.has_errors() {
        false => Ok(()),
        true if report.is_unavailable() => Err(Exit::Failed),
        true => Err(Exit::Input),
    }
}

fn redactor(read: &Read) -> Redactor {
    Redactor::new(read.documents.iter().chain(&read.replaced).flat_map(Decoded::secrets))
}

/// What a machine is known by.
pub(crate) fn identity(linux: &Linux) -> Identity {
    Identity { hostname: linux.name(), machine_id: linux.machine_id().to_owned(), product_uuid: linux.product_uuid() }
}

/// The machine below a root, only to be looked at.
pub(crate) fn silent_machine(root: &Path) -> Result<Linux, Exit> {
    machine(root, Box::new(|_| ()))
}

/// The machine below a root; commands that it runs are echoed line by line.
pub(crate) fn machine(root: &Path, echo: Echo) -> Result<Linux, Exit> {
    if !root.is_dir() {
        tell!("error: --root {}: there is no such directory", root.display());
        return Err(Exit::Input);
    }
    let itself = std::env::current_exe().map_err(|error| fail(&format!("cannot find its own program: {error}")))?;
    Linux::new(root, itself, echo).map_err(failed)
}

/// Prints an error with its causes and its remedy.
pub(crate) fn complain(error: &host::Error) {
    tell!("error: {}", chain(error));
    if let Some(advice) = error.advice() {
        tell!("remedy: {advice}");
    }
}

/// Prints a machine fault and gives its exit code.
pub(crate) fn failed(error: host::Error) -> Exit {
    complain(&error);
    Exit::Failed
}

/// Prints an error of our own.
pub(crate) fn fail(text: &str) -> Exit {
    tell!("error: {text}");
    Exit::Failed
}
