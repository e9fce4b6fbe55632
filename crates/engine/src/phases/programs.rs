//! ProgramsConfig: installs programs of a node, writes their units, starts containerd and imports images.
use super::{
    OwnFile, Phase, Role,
    program_units::{CONTAINERD, KUBELET, Unit},
};
use crate::{
    Look, Named, PlanError, Planned, Problem, Remark, Step,
    acts::{IMAGES_ID, ImportImages, InstallProgram, PROGRAM_ID},
    steps_for,
};
use documents::{
    AnyDocument, Decoded,
    v1alpha1::{
        CNI_PLUGINS_DIRECTORY, InstalledProgram, PROGRAM_DIRECTORIES, ProgramFile, ProgramLocation, ProgramSource,
        Programs,
    },
};
use host::{ArchiveRoot, Change, Enablement, Error, Packing, PathState, Service, UnitAction, UnitState};
use std::rc::Rc;

pub(super) const PHASE: Phase = Phase {
    kind: "ProgramsConfig",
    summary: "installs programs with their units, starts containerd and imports images",
    role: Role::Keeps,
    plan,
    acts: |_| vec![PROGRAM_ID.to_owned(), IMAGES_ID.to_owned()],
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::Programs(programs) = &document.body else { return Ok(Planned::default()) };
    check_shadowed(programs, look)?;
    let mut plan = Plan { document, programs: Rc::new((**programs).clone()), look, planned: Planned::default() };
    for file in &programs.programs {
        plan.program(file)?;
    }
    plan.images()?;
    Ok(plan.planned)
}

/// Programs of the same name that kubeadm would find before those of the document.
fn check_shadowed(programs: &Programs, look: &Look<'_>) -> Result<(), PlanError> {
    let earlier = PROGRAM_DIRECTORIES.iter().take_while(|directory| **directory != programs.directory);
    let mut problems = Vec::new();
    for directory in earlier {
        // Where `/bin` is a link to `/usr/bin`, one file has two names.
        if matches!(look.host.state_at(directory)?, PathState::Link { .. }) {
            continue;
        }
        for file in &programs.programs {
            let name = file.program.name();
            let is_called = matches!(file.program, InstalledProgram::Kubeadm | InstalledProgram::Kubelet);
            let path = format!("{directory}/{name}");
            if is_called && look.host.exists(&path)? && is_other_file(&path, programs, look)? {
                problems.push(format!(
                    "{path} exists, and is found before {}/{name}: delete it, or set `directory: {directory}`",
                    programs.directory
                ));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(PlanError::Unfit(problems.into_iter().map(Problem::from).collect())) }
}

/// Whether a path is not the document's own by another name.
fn is_other_file(path: &str, programs: &Programs, look: &Look<'_>) -> Result<bool, PlanError> {
    let PathState::Link { target } = look.host.state_at(path)? else { return Ok(true) };
    Ok(!target.starts_with(&format!("{}/", programs.directory)))
}

struct Plan<'a> {
    document: &'a Decoded,
    programs: Rc<Programs>,
    look: &'a Look<'a>,
    planned: Planned,
}

impl Plan<'_> {
    /// Installs a program; with it come its unit and the start of its service.
    fn program(&mut self, file: &ProgramFile) -> Result<(), PlanError> {
        let ProgramFile { program, source } = file;
        let directory = self.programs.directory.clone();
        let packing = match program {
            InstalledProgram::Containerd => Packing::Archive { directory, inside: ArchiveRoot::Bin },
            InstalledProgram::CniPlugins => {
                Packing::Archive { directory: CNI_PLUGINS_DIRECTORY.to_owned(), inside: ArchiveRoot::Top }
            }
            program => Packing::File { path: format!("{directory}/{}", program.name()) },
        };
        self.planned.names.push(match &packing {
            Packing::File { path } => Named::File { path: path.clone(), block: None },
            Packing::Archive { .. } => Named::Archive(source.sha256),
        });
        let act = InstallProgram {
            name: program.name().to_owned(),
            source: source.clone(),
            packing,
            document: crate::ownership::title(self.document),
            origin: Rc::clone(&self.programs),
            is_sealed: self.document.sealed,
        };
        let installs = self.act(Rc::new(act))?;
        match program {
            InstalledProgram::Containerd => self.service(&CONTAINERD, installs),
            InstalledProgram::Kubelet => self.service(&KUBELET, installs),
            _ => Ok(()),
        }
    }

    /// Plans an act, and gives whether it runs.
    fn act(&mut self, act: Rc<dyn crate::Act>) -> Result<bool, PlanError> {
        let Planned { steps, remarks, .. } = steps_for(act, self.look)?;
        let runs = steps.iter().any(Step::is_act);
        self.planned.steps.extend(steps);
        self.planned.remarks.extend(remarks);
        Ok(runs)
    }

    /// Writes and enables a unit. A service that runs is restarted if its program or its unit changes.
    fn service(&mut self, unit: &Unit, installs: bool) -> Result<(), PlanError> {
        let program = format!("{}/{}", self.programs.directory, unit.service);
        let mut changes = installs;
        for (path, contents) in unit.files(&self.programs.directory) {
            let file = OwnFile { path: &path, contents: contents.into_bytes(), mode: 0o644, confidential: false };
            changes |= file.plan(self.look, &mut self.planned)?;
        }
        self.enable(unit)?;
        let state = self.look.service(unit.service)?;
        if state == Service::Unmanaged {
            self.planned.remarks.push(Remark::AtServiceStart(unit.service.to_owned()));
            return Ok(());
        }
        let name = format!("{}.service", unit.service);
        if changes || !self.look.host.has_read(unit.service, &program)? {
            let (service, running) = (unit.service.to_owned(), state == Service::Active);
            self.planned.steps.push(Step::Ensure(Change::Restart { service, reads: vec![program], running }));
        }
        if unit.is_started && state != Service::Active {
            self.start(name);
        }
        Ok(())
    }

    /// As `systemctl enable` does it, which a root without systemctl does not have.
    fn enable(&mut self, unit: &Unit) -> Result<(), PlanError> {
        let (path, target) = unit.enablement();
        self.planned.names.push(Named::File { path: path.clone(), block: None });
        let was = match self.look.state_after(&self.planned, &path)? {
            PathState::Link { target: other } if other.ends_with(&format!("/{}.service", unit.service)) => {
                return Ok(());
            }
            PathState::Link { target } => Some(target),
            PathState::Absent => None,
            other => {
                return Err(PlanError::Look(Error::Unfit {
                    what: path,
                    why: format!("is {}, and not the link that enables the unit", other.noun()),
                    advice: "delete it, then run again".to_owned(),
                }));
            }
        };
        self.planned.steps.push(Step::Ensure(Change::MakeLink { path, was, target }));
        Ok(())
    }

    fn start(&mut self, name: String) {
        let was = UnitState { enablement: Enablement::Enabled, activity: Service::Inactive };
        self.planned.steps.push(Step::Ensure(Change::Unit { name, action: UnitAction::Start, was }));
    }

    fn images(&mut self) -> Result<(), PlanError> {
        let programs = Rc::clone(&self.programs);
        if programs.images.is_empty() && programs.images_directory.is_none() {
            return Ok(());
        }
        if !self.look.host.live() {
            self.planned.remarks.push(Remark::OnRunningMachine("images are imported"));
            return Ok(());
        }
        let has_containerd = programs.programs.iter().any(|file| file.program == InstalledProgram::Containerd);
        if !has_containerd && self.look.service(CONTAINERD.service)? == Service::Inactive {
            self.start(format!("{}.service", CONTAINERD.service));
        }
        for source in &programs.images {
            let shown = source.location.shown();
            let name = if self.document.sealed { "images" } else { shown.rsplit('/').next().unwrap_or(&shown) };
            self.import(name.to_owned(), source.clone(), false)?;
        }
        match &programs.images_directory {
            Some(directory) => self.images_in(directory),
            None => Ok(()),
        }
    }

    fn images_in(&mut self, directory: &str) -> Result<(), PlanError> {
        let Some(names) = self.look.host.names_in(directory)? else {
            // What is still to run may mount or fill it.
            self.planned.known_after = self.look.waits_for_acts();
            return match self.planned.known_after {
                Some(_) => Ok(()),
                None => Err(unfit(directory, "does not exist", "create it, or correct `images.directory`")),
            };
        };
        for name in names.into_iter().filter(|name| name.ends_with(".tar")) {
            let path = format!("{directory}/{name}");
            let Some(found) = self.look.host.sum(&path)? else { continue };
            if !found.is_trusted {
                let advice = format!("check its content, then run: chown root {path} && chmod go-w {path}");
                return Err(unfit(&path, "can be written by other users than root", &advice));
            }
            let source = ProgramSource { location: ProgramLocation::Path(path), sha256: found.sum };
            self.import(name, source, true)?;
        }
        Ok(())
    }

    fn import(&mut self, name: String, source: ProgramSource, is_in_place: bool) -> Result<(), PlanError> {
        let (origin, is_sealed) = (Rc::clone(&self.programs), self.document.sealed);
        self.act(Rc::new(ImportImages { name, source, is_in_place, origin, is_sealed })).map(drop)
    }
}

fn unfit(what: &str, why: &str, advice: &str) -> PlanError {
    PlanError::Look(Error::Unfit { what: what.to_owned(), why: why.to_owned(), advice: advice.to_owned() })
}
