//! A program of a ProgramsConfig: fetched or copied, verified, then installed.
use super::{Act, AfterFailure, Effect, Sort, Undone};
use crate::{Look, PlanError, World, downloads, fingerprint::Parts, owned_program::Program, ownership::Ownership};
use documents::v1alpha1::{ProgramLocation, ProgramSource, Programs, Repeat};
use host::{FileSum, InstalledFile, PROGRAM_MODE, Packing};
use outcome::{ActSort, Action};
use std::rc::Rc;

/// The first words of the journal ids of programs.
pub(crate) const ID: &str = ActSort::Program.id();

/// A program, or an archive of programs.
#[derive(Clone, Debug)]
pub(crate) struct InstallProgram {
    pub(crate) name: String,
    pub(crate) source: ProgramSource,
    pub(crate) packing: Packing,
    /// The kind and name of the document, which owns what is installed.
    pub(crate) document: String,
    pub(crate) origin: Rc<Programs>,
    /// Whether the document came encrypted, so that its locations are not shown.
    pub(crate) is_sealed: bool,
}

/// What is not installed yet is in a draft, which the next run deletes.
pub(super) const SORT: Sort = Sort { sort: ActSort::Program, left_behind: |_, _| Ok(None) };

impl Act for InstallProgram {
    fn name(&self) -> &str {
        &self.name
    }

    fn verb(&self) -> Action {
        Action::Install
    }

    fn sort(&self) -> ActSort {
        ActSort::Program
    }

    fn id(&self) -> String {
        format!("{ID} {} {}", self.name.replace(' ', "-"), self.source.sha256.short())
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        let owner = look.host.default_owner().0;
        let is_there = |file: &InstalledFile| -> Result<bool, PlanError> {
            let InstalledFile { path, sum, mode } = file;
            let found = look.host.sum(path)?;
            let is_so = |found: FileSum| (found.sum, found.mode, found.uid) == (*sum, *mode, owner);
            Ok(found.is_some_and(is_so))
        };
        let files = match &self.packing {
            Packing::File { path } => {
                vec![InstalledFile { path: path.clone(), sum: self.source.sha256, mode: PROGRAM_MODE }]
            }
            Packing::Archive { directory, .. } => Ownership::unpacked(directory, self.source.sha256, look.host)?,
        };
        let mut is_installed = !files.is_empty();
        for file in &files {
            is_installed = is_installed && is_there(file)?;
        }
        Ok(if is_installed { Effect::Done } else { Effect::Absent })
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let Self { name, source, packing, document, origin, .. } = self;
        downloads::receive(&downloads::Wanted { name, source, origin }, world)?;
        let files = match world.host.contents_of_draft(source.sha256, packing) {
            Ok(files) => files,
            Err(error) => {
                // The reason is worth more than that of a failed clean-up.
                let _ = world.host.delete_draft(source.sha256);
                return Err(error.into());
            }
        };
        let program =
            Program { document, archive: matches!(packing, Packing::Archive { .. }).then_some(source.sha256) };
        Ownership::note_program(&program, &files, world.host)?;
        world.host.install(source.sha256, packing, &files)?;
        Ok(world.host.delete_draft(source.sha256)?)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    /// Files get their names only when all are whole: it is installed once more.
    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        let to = match &self.packing {
            Packing::File { path } => path.clone(),
            Packing::Archive { directory, .. } => format!("{directory}/"),
        };
        shown_source(&to, &self.source, self.is_sealed)
    }

    fn compares(&self, parts: &mut Parts) {
        parts.text(ID).text(&self.name);
        match &self.packing {
            Packing::File { path } => parts.text("file").text(path),
            Packing::Archive { directory, inside } => {
                parts.text("archive").text(directory).text(&format!("{inside:?}"))
            }
        };
        compare_source(&self.source, parts);
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

/// Where a file comes from, in a few words.
pub(super) fn shown_source(to: &str, source: &ProgramSource, is_sealed: bool) -> String {
    let from = match is_sealed {
        true => "the location in the encrypted document".to_owned(),
        false => source.location.shown(),
    };
    format!("{to} from {from}, sha256 {}…", source.sha256.short())
}

/// What a reviewed plan compares of a source.
pub(super) fn compare_source(source: &ProgramSource, parts: &mut Parts) {
    match &source.location {
        ProgramLocation::Uri(uri) => parts.text("uri").text(uri.expose()),
        ProgramLocation::Path(path) => parts.text("path").text(path),
    };
    parts.text(&source.sha256.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanKey, Step};
    use documents::{AnyDocument, Secret, Source};
    use host::ArchiveRoot;
    use objects::Sha256Sum;
    use std::collections::BTreeSet;

    fn programs() -> Rc<Programs> {
        let text = "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ProgramsConfig\nspec: {images: {directory: \
                    /a}}\n";
        let mut read = documents::read(vec![Source { name: "test".into(), bytes: text.as_bytes().to_vec().into() }]);
        let AnyDocument::Programs(programs) = read.documents.remove(0).body else { panic!() };
        programs.into()
    }

    #[test]
    fn an_installation_with_any_other_member_is_another_step() {
        let source = |uri: &str, byte| ProgramSource {
            location: ProgramLocation::Uri(Secret::new(uri.to_owned())),
            sha256: Sha256Sum([byte; 32]),
        };
        let install = || InstallProgram {
            name: "a".into(),
            source: source("https://a/", 0),
            packing: Packing::File { path: "/a".into() },
            document: "ProgramsConfig".into(),
            origin: programs(),
            is_sealed: false,
        };
        let archive = |inside| Packing::Archive { directory: "/a".into(), inside };
        let path = ProgramSource { location: ProgramLocation::Path("https://a/".into()), ..source("", 0) };
        let changed = [
            install(),
            InstallProgram { name: "b".into(), ..install() },
            InstallProgram { source: source("https://b/", 0), ..install() },
            InstallProgram { source: source("https://a/", 1), ..install() },
            InstallProgram { source: path, ..install() },
            InstallProgram { packing: Packing::File { path: "/b".into() }, ..install() },
            InstallProgram { packing: archive(ArchiveRoot::Top), ..install() },
            InstallProgram { packing: archive(ArchiveRoot::Bin), ..install() },
        ];
        let mut prints = BTreeSet::new();
        for install in changed {
            let shown = format!("{install:?}");
            let step = Step::Run(Rc::new(install));
            assert!(prints.insert(step.fingerprint(&PlanKey::new([7; 32]))), "{shown} is not told from another");
        }
    }
}
