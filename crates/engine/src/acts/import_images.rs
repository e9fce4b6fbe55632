//! An archive of container images of a ProgramsConfig, imported into containerd.
use super::{
    Act, AfterFailure, Effect, Sort, Undone,
    install_program::{compare_source, shown_source},
};
use crate::{Look, PlanError, World, downloads, fingerprint::Parts};
use documents::v1alpha1::{ProgramLocation, ProgramSource, Programs, Repeat};
use host::{Call, Program, Progress, contract::DOWNLOADS_DIR};
use outcome::{ActSort, Action};
use std::{rc::Rc, time::Duration};

/// The first words of the journal ids of images.
pub(crate) const ID: &str = ActSort::Images.id();
/// The namespace in which the kubelet finds images.
const NAMESPACE: &str = "k8s.io";
/// A large archive on a slow disk takes minutes.
const WITHIN: Duration = Duration::from_secs(30 * 60);

/// An archive of images.
#[derive(Clone, Debug)]
pub(crate) struct ImportImages {
    /// The name of its file.
    pub(crate) name: String,
    pub(crate) source: ProgramSource,
    /// Whether only root could have written the file, so that it is read where it is.
    pub(crate) is_in_place: bool,
    pub(crate) origin: Rc<Programs>,
    pub(crate) is_sealed: bool,
}

/// Images that were imported are as they should be, and an archive that was not is in a draft, which the next run deletes.
pub(super) const SORT: Sort = Sort { sort: ActSort::Images, left_behind: |_, _| Ok(None) };

impl Act for ImportImages {
    fn name(&self) -> &str {
        &self.name
    }

    fn verb(&self) -> Action {
        Action::Import
    }

    fn sort(&self) -> ActSort {
        ActSort::Images
    }

    fn id(&self) -> String {
        format!("{ID} {}", self.source.sha256)
    }

    fn repeat(&self) -> Repeat {
        Repeat::Once
    }

    /// containerd does not know from which archive its images are. To import one twice changes nothing.
    fn effect(&self, look: &Look<'_>) -> Result<Effect, PlanError> {
        Ok(match look.host.progress(&self.id())? {
            Progress::Ended => Effect::Done,
            Progress::New | Progress::Started | Progress::Failed => Effect::Absent,
        })
    }

    fn run(&self, world: &mut World<'_>) -> Result<(), PlanError> {
        let Self { name, source, origin, .. } = self;
        if let (true, ProgramLocation::Path(path)) = (self.is_in_place, &source.location) {
            return Ok(world.host.run(&import(path))?);
        }
        downloads::receive(&downloads::Wanted { name, source, origin }, world)?;
        let imported = world.host.run(&import(&format!("{DOWNLOADS_DIR}/{}", source.sha256)));
        Ok(imported.and(world.host.delete_draft(source.sha256))?)
    }

    fn after_failure(&self) -> AfterFailure {
        AfterFailure::Ended
    }

    fn undo(&self, _: &mut World<'_>) -> Result<Undone, PlanError> {
        Ok(Undone::Nothing)
    }

    fn shows(&self) -> String {
        shown_source("container images", &self.source, self.is_sealed)
    }

    fn compares(&self, parts: &mut Parts) {
        compare_source(&self.source, parts.text(ID).text(&self.name));
    }

    fn needs_reboot(&self) -> bool {
        false
    }
}

fn import(archive: &str) -> Program {
    let argv = ["ctr", "--namespace", NAMESPACE, "images", "import", archive].map(str::to_owned).to_vec();
    let name = "ctr images import".to_owned();
    Program { name, call: Call::Argv(argv), environment: [].into(), within: WITHIN }
}
