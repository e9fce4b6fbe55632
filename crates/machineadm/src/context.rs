//! What the commands stand on: the configuration that was read, and the machine that it is for.
use crate::{
    command_error::{CommandError, all_succeeded},
    provider::{self, Fetched, Waiting},
};
use documents::{Decoded, ForeignKinds, Given, Read, Report, Source, limits, v1alpha1::Identity};
use engine::{Redactor, Wanted};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
    linux::{
        Echo,
        input::{self, Care},
    },
};
use std::path::Path;
use zeroize::Zeroizing;

/// A configuration without errors.
pub(crate) struct Configuration {
    /// Its text, as it came.
    pub(crate) text: Zeroizing<Vec<u8>>,
    /// What it asks.
    pub(crate) wanted: Wanted,
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
            Some(despite) => {
                (Exit::Failed, format!("{despite}; what the previous run had fetched cannot be used either: {cause}"))
            }
            None => (Exit::Input, cause),
        };
        Self { exit, why, read, fetched }
    }

    /// All its problems.
    pub(crate) fn error(&self) -> CommandError {
        CommandError::report(self.exit, self.read.report.to_string())
    }
}

/// Reads a file that the command line names; `-` is standard input. One that cannot be read is invalid input.
pub(crate) fn input_file(name: &str, care: Care, limit: u64) -> Result<Zeroizing<Vec<u8>>, CommandError> {
    input::read(name, care, limit).map_err(|error| CommandError::from(error).with_exit(Exit::Input).of_input())
}

/// Reads the files of a configuration; all that cannot be read are reported.
pub(crate) fn sources(files: &[String], care: Care) -> Result<Vec<Source>, CommandError> {
    let mut sources = Vec::new();
    let read = files.iter().map(|name| {
        let bytes = input_file(name, care, limits::TEXT_BYTES as u64)?;
        sources.push(Source { name: name.clone(), bytes });
        Ok(())
    });
    all_succeeded(read)?;
    Ok(sources)
}

/// Reads the local part of a configuration.
pub(crate) fn given(sources: Vec<Source>) -> Result<Given, CommandError> {
    Given::read(sources, ForeignKinds::Refused)
        .map_err(|Read { report, .. }| CommandError::report(Exit::Input, report.to_string()))
}

/// Fetches and opens the rest; warnings go to standard error. What is kept of a configuration is its text as it
/// came: what was sealed stays so.
pub(crate) fn expanded(
    given: Given,
    text: Zeroizing<Vec<u8>>,
    linux: &Linux,
    waiting: Waiting,
) -> Result<Configuration, Box<Unusable>> {
    // The caller has checked who could have written it; an unreadable one only has to be fetched again.
    let kept = linux.file(contract::FETCHED).ok().flatten();
    let fetched = Fetched::after(kept.as_ref().map(|file| file.contents.expose().as_slice()));
    let read = provider::expand(given, identity(linux), &fetched, waiting);
    if read.report.has_errors() {
        return Err(Box::new(Unusable::of(read, fetched)));
    }
    warn_report!("{}", read.report);
    let redactor = redactor(&read);
    Ok(Configuration { text, wanted: Wanted::of(read.documents), redactor, fetched, parts: read.fetched })
}

/// A configuration with all that it points to or seals, for somebody who only looks.
pub(crate) fn configuration(sources: Vec<Source>, linux: &Linux) -> Result<Configuration, CommandError> {
    linux.state().check()?;
    let text = documents::joined(&sources);
    expanded(given(sources)?, text, linux, Waiting::Briefly).map_err(|unusable| unusable.error())
}

/// Documents without errors; warnings go to standard error.
pub(crate) fn without_errors(read: Read) -> Result<Read, CommandError> {
    if read.report.has_errors() {
        return Err(CommandError::report(exit_of(&read.report), read.report.to_string()));
    }
    warn_report!("{}", read.report);
    Ok(read)
}

/// The exit code of a report: invalid input, unless something that it names was unavailable.
pub(crate) fn exit_of(report: &Report) -> Exit {
    match report.has_errors() {
        false => Exit::Done,
        true if report.is_unavailable() => Exit::Failed,
        true => Exit::Input,
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
pub(crate) fn silent_machine(root: &Path) -> Result<Linux, CommandError> {
    machine(root, Box::new(|_| ()))
}

/// The machine below a root; commands that it runs are echoed line by line.
pub(crate) fn machine(root: &Path, echo: Echo) -> Result<Linux, CommandError> {
    if !root.is_dir() {
        return Err(CommandError::invalid(format!("--root {}: the directory does not exist", root.display())));
    }
    let unknown = |error| CommandError::failed(format!("cannot find the machineadm program itself: {error}"));
    let itself = std::env::current_exe().map_err(unknown)?;
    Ok(Linux::new(root, itself, echo)?)
}
