//! `machineadm plan`: what bootstrap would change.
use crate::{
    cli::{ModeArgument, Plan},
    command_error::CommandError,
    context::{Configuration, configuration, silent_machine, sources},
    show,
};
use host::{
    Linux,
    contract::Exit,
    linux::input::{self, Care},
};
use machine::{Mode, PlanView, Preview, Reviewed, SavedPlan, outcome::chain, preview};
use std::path::Path;

pub(crate) fn run(asked: &Plan, mode: ModeArgument, root: &Path) -> Result<Exit, CommandError> {
    let mode = mode.into();
    let sources = sources(&asked.files, Care::Reading)?;
    let linux = silent_machine(root)?;
    let configuration = configuration(sources, &linux)?;
    let preview = look(mode, &configuration, &linux)?;
    let view = PlanView::new(linux.name(), mode, &configuration.machine, &preview);
    match asked.output {
        Some(output) => show::machine_readable(&view, output)?,
        None => {
            show::print(show::plan::text(&view))?;
            tell!("\n{}", hint(asked, &view, root));
        }
    }
    if let Some(out) = &asked.out {
        let saved = SavedPlan::new(&Reviewed {
            mode,
            machine_id: linux.machine_id(),
            machine: &linux.name(),
            configuration: &configuration.text,
            fetched: &configuration.parts,
            preview: &preview,
        });
        input::write_private(out, saved.bytes().expose())?;
    }
    let open = view.changes > 0 || view.phases.iter().any(|phase| phase.known_after.is_some());
    Ok(if asked.exit_code && open { Exit::Changes } else { Exit::Done })
}

/// Asks every phase; the first that can't even look stops it.
pub(super) fn look(mode: Mode, configuration: &Configuration, linux: &Linux) -> Result<Preview, CommandError> {
    preview(mode, &configuration.machine, linux).map_err(|(phase, error)| {
        let advice = if let machine::PlanError::Look(error) = &error { error.advice() } else { None };
        let text = configuration.redactor.redact(&format!("{phase}: {}", chain(&error)));
        CommandError::failed(text).with_remedies(advice)
    })
}

fn hint(asked: &Plan, view: &PlanView, root: &Path) -> String {
    let mut apply = match &asked.out {
        Some(out) => format!("machineadm apply {out}"),
        None => format!("machineadm bootstrap -f {}", asked.files.join(" -f ")),
    };
    if view.mode != Mode::Provision && asked.out.is_none() {
        apply.push_str(&format!(" --mode {}", view.mode.name()));
    }
    if root != Path::new("/") {
        apply.push_str(&format!(" --root {}", root.display()));
    }
    match view.changes {
        0 => "Nothing was changed.".into(),
        _ => format!("Nothing was changed. To apply: {apply}"),
    }
}
