//! `machineadm plan`: what bootstrap would change.
use super::bootstrap::prune;
use crate::{
    api_servers::ApiServers,
    cli::{ModeArgument, Plan},
    command_error::CommandError,
    context::{Configuration, configuration, silent_machine, sources},
    show,
};
use engine::{Ask, Checks, Failure, Mode, PlanView, Preview, Reviewed, SavedPlan, outcome::chain, preview};
use host::{
    Linux,
    contract::Exit,
    linux::input::{self, Care},
};
use std::{path::Path, time::Duration};

/// How long a plan waits for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(3);

pub(crate) fn run(asked: &Plan, mode: ModeArgument, root: &Path) -> Result<Exit, CommandError> {
    let mode = mode.into();
    let prune = prune(asked.prune, mode)?;
    let sources = sources(&asked.files, Care::Reading)?;
    let linux = silent_machine(root)?;
    let configuration = configuration(sources, &linux)?;
    configuration.wanted.warnings(mode).iter().for_each(|warning| tell!("warning: {warning}"));
    let checks = if asked.no_commands { Checks::LeftOut } else { Checks::Executed };
    let ask = Ask { mode, wanted: &configuration.wanted, prune, checks, patience: PATIENCE };
    let preview = look(&ask, &configuration, &linux)?;
    let view = PlanView::new(linux.name(), mode, &configuration.wanted, &preview);
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
            prune,
            machine_id: linux.machine_id(),
            machine: &linux.name(),
            configuration: &configuration.text,
            fetched: &configuration.parts,
            preview: &preview,
        });
        input::write_private(out, saved.bytes().expose())?;
    }
    Ok(if asked.exit_code && view.is_open { Exit::Changes } else { Exit::Done })
}

/// Asks every turn for a plan that is compared with a reviewed one.
pub(super) fn look_again(
    plan: &SavedPlan,
    configuration: &Configuration,
    linux: &Linux,
) -> Result<Preview, CommandError> {
    let (mode, wanted, prune) = (plan.mode, &configuration.wanted, plan.prune());
    look(&Ask { mode, wanted, prune, checks: Checks::Executed, patience: PATIENCE }, configuration, linux)
}

/// Asks every turn; the first that can't even look stops it.
fn look(ask: &Ask<'_>, configuration: &Configuration, linux: &Linux) -> Result<Preview, CommandError> {
    preview(ask, linux, &ApiServers).map_err(|Failure { at, cause: error, .. }| {
        let advice = if let engine::PlanError::Look(error) = &*error { error.advice() } else { None };
        let text = configuration.redactor.redact(&format!("{at}: {}", chain(&error)));
        let exit = if error.needs_operator() { Exit::Person } else { Exit::Failed };
        CommandError::new(exit, text).with_remedies(advice)
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
    if asked.prune && asked.out.is_none() {
        apply.push_str(" --prune");
    }
    if root != Path::new("/") {
        apply.push_str(&format!(" --root {}", root.display()));
    }
    match view.changes {
        0 => "Nothing was changed.".into(),
        _ => format!("Nothing was changed. To apply: {apply}"),
    }
}
