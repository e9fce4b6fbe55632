//! Files that documents fetch: received into a draft of the machine, verified by their SHA-256, and only then used.
use crate::{Fault, PlanError, World};
use documents::{
    Secret,
    v1alpha1::{ProgramLocation, ProgramSource, Programs},
};
use host::{Draft, Error};

/// Fetches files over https. Connected in a binary, through `crates/fetch`.
pub trait Downloads {
    /// Adds to a draft what it lacks of a file, or replaces what is in it where the server can't send the rest. Retries
    /// while there is time. What was received is not verified.
    fn receive(&self, download: &Download<'_>, draft: &mut dyn Draft) -> host::Result<()>;
}

/// A file to fetch.
#[derive(Debug)]
pub struct Download<'a> {
    /// What it is, for people.
    pub name: &'a str,
    /// Where it is.
    pub uri: &'a Secret<String>,
    /// The document that names it: how its server is reached.
    pub origin: &'a Programs,
}

/// A file of a ProgramsConfig.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// What it is, for people.
    pub(crate) name: &'a str,
    pub(crate) source: &'a ProgramSource,
    pub(crate) origin: &'a Programs,
}

/// Brings a file into its draft. What does not have the wanted SHA-256 is deleted.
pub(crate) fn receive(wanted: &Wanted<'_>, world: &mut World<'_>) -> Result<(), PlanError> {
    let Wanted { name, source: ProgramSource { location, sha256 }, origin } = *wanted;
    let received = match location {
        ProgramLocation::Path(path) => world.host.copy_to_draft(*sha256, path).map_err(PlanError::from),
        ProgramLocation::Uri(uri) => fetch(&Download { name, uri, origin }, wanted, world),
    };
    let is_out_of_space = |error: &PlanError| error.of_host().is_some_and(Error::is_out_of_space);
    if received.as_ref().is_err_and(is_out_of_space) {
        // A draft that fills the disk leaves no room for the outcome, nor for anything else on the machine.
        let _ = world.host.delete_draft(*sha256);
    }
    received?;
    let found = world.host.draft_sum(*sha256)?;
    if found == *sha256 {
        return Ok(());
    }
    world.host.delete_draft(*sha256)?;
    Err(PlanError::known(Fault::Checksum)(Error::Unfit {
        what: name.to_owned(),
        why: format!(
            "the file has SHA-256 {found}, and the document requires {sha256}; it was deleted, nothing was executed"
        ),
        advice: "check the source of the file, or correct `sha256`".to_owned(),
    }))
}

fn fetch(download: &Download<'_>, wanted: &Wanted<'_>, world: &mut World<'_>) -> Result<(), PlanError> {
    let sha256 = wanted.source.sha256;
    let mut draft = world.host.open_draft(sha256)?;
    let is_resumed = draft.size() > 0;
    // An interrupted run may have received all of it.
    if is_resumed && world.host.draft_sum(sha256)? == sha256 {
        return Ok(());
    }
    world.downloads.receive(download, &mut *draft).map_err(not_received)?;
    // The file of the server may be another one than that of the interrupted run.
    if is_resumed && world.host.draft_sum(sha256)? != sha256 {
        draft.clear()?;
        world.downloads.receive(download, &mut *draft).map_err(not_received)?;
    }
    Ok(())
}

/// Of the server, unless the machine did not take what it sent.
fn not_received(error: Error) -> PlanError {
    match error {
        error @ Error::Unfit { .. } => PlanError::known(Fault::Download)(error),
        error => error.into(),
    }
}
