//! The configuration that a first-boot tool delivered: which run takes it, and when it is deleted.
//!
//! It holds secrets and is needed by no later run: the success of the run that took it deletes it. Of a run that was
//! interrupted, the saved configuration is what continues; the delivered file is then recognised by its text.
use crate::{command_error::CommandError, context::sources};
use documents::{Source, joined};
use host::{
    Inspect, Linux,
    contract::{self, DELIVERED},
    linux::input::Care,
};
use std::path::Path;
use zeroize::Zeroizing;

/// What a run took from the delivered file, or what an earlier run may have taken from it and this one continues.
pub(super) struct Delivered {
    text: Zeroizing<Vec<u8>>,
}

impl Delivered {
    /// What the files that the command line named, by exactly its path, had from it.
    pub(super) fn among(sources: &[Source], linux: &Linux) -> Option<Self> {
        let place = linux.place_of(DELIVERED);
        let source = sources.iter().position(|source| Path::new(&source.name) == place)?;
        Some(Self { text: joined(&sources[source..=source]) })
    }

    /// The saved configuration of an interrupted run, which was copied from the delivered file or from another one.
    pub(super) fn of_saved(sources: &[Source]) -> Self {
        Self { text: joined(sources) }
    }

    /// Whether the delivered file is what was taken; `None` where there is none, or none that can be read.
    pub(super) fn is_there(&self, linux: &Linux) -> Option<bool> {
        let bytes = Zeroizing::new(linux.file(DELIVERED).ok()??.contents.expose().clone());
        Some(joined(&[Source { name: DELIVERED.into(), bytes }]) == self.text)
    }

    /// Deletes the delivered file unless another one has been delivered since. The machine is a node whether or not this
    /// works, so that a failure is a warning.
    pub(super) fn delete(&self, linux: &Linux) {
        if self.is_there(linux) != Some(true) {
            return;
        }
        if let Err(error) = linux.state().remove(DELIVERED) {
            let place = linux.place_of(DELIVERED);
            warn!("{error}; {} holds secrets and is no longer needed: delete it", place.display());
        }
    }
}

/// The delivered file, read under the rules of `-f`; `None` where there is none.
pub(super) fn read(linux: &Linux) -> Result<Option<Vec<Source>>, CommandError> {
    match linux.exists(DELIVERED)? {
        true => sources(&[linux.place_of(DELIVERED).to_string_lossy().into_owned()], Care::Applying).map(Some),
        false => Ok(None),
    }
}

/// Warns where a file was delivered that an interrupted run did not take: that run is continued first.
pub(super) fn warn_of_another(saved: &Delivered, linux: &Linux) {
    if saved.is_there(linux) == Some(false) {
        let [saved, delivered] = [contract::CONFIGURATION, DELIVERED].map(|path| linux.place_of(path));
        warn!(
            "{} differs from {}, the configuration of the interrupted run, which continues; to use the former, pass it with -f",
            delivered.display(),
            saved.display()
        );
    }
}
