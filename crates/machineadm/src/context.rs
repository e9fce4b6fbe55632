//! What the commands stand on: the configuration that was read, and the machine that it is for.
use crate::provider;
use documents::{Decoded, Read, Report, Source, limits, v1alpha1::Identity};
use host::{
    Linux,
    contract::Exit,
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

/// Reads a configuration with all that it points to or seals, and checks it; all its problems go to standard error.
/// What is kept of it is its text as it came: what was sealed stays so.
pub(crate) fn configuration(sources: Vec<Source>, linux: &Linux) -> Result<Configuration, Exit> {
    let text = documents::joined(&sources);
    let read = provider::open(sources, identity(linux));
    if !read.report.is_empty() {
        eprint!("{}", read.report);
    }
    usable(&read.report)?;
    let redactor = redactor(&read);
    Ok(Configuration { text, machine: Machine::of(read.documents), redactor })
}

/// Whether a report lets one go on.
pub(crate) fn usable(report: &Report) -> Result<(), Exit> {
    if report.has_errors() { Err(Exit::Input) } else { Ok(()) }
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
        eprintln!("error: --root {}: there is no such directory", root.display());
        return Err(Exit::Input);
    }
    let itself = std::env::current_exe().map_err(|error| fail(&format!("cannot find its own program: {error}")))?;
    Linux::new(root, itself, echo).map_err(failed)
}

/// Prints an error with its causes and its remedy.
pub(crate) fn complain(error: &host::Error) {
    eprintln!("error: {}", chain(error));
    if let Some(advice) = error.advice() {
        eprintln!("remedy: {advice}");
    }
}

/// Prints a machine fault and gives its exit code.
pub(crate) fn failed(error: host::Error) -> Exit {
    complain(&error);
    Exit::Failed
}

/// Prints an error of our own.
pub(crate) fn fail(text: &str) -> Exit {
    eprintln!("error: {text}");
    Exit::Failed
}
