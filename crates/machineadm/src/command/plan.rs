//! `machineadm plan`: what bootstrap would change.
use super::{
    bootstrap::{Allowed, can_succeed, command_line, manifests, prune},
    saved_plan,
};
use crate::{
    api_servers::ApiServers,
    cli::{ModeArgument, Output, Plan, PlanCommand},
    command_error::CommandError,
    context::{Configuration, configuration, silent_machine, sources},
    runtimes::Runtimes,
    show,
};
use documents::Source;
use engine::{
    Ask, Checks, Failure, Manifests, Mode, PlanView, Preview, Prune, Reviewed, ReviewedPlan, SavedPlan, TurnId, cause,
    outcome::Stage, preview,
};
use host::{Linux, contract::Exit, linux::input::Care};
use std::{path::Path, time::Duration};

/// How long a plan waits for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(3);

pub(crate) fn run(asked: &Plan, mode: ModeArgument, root: &Path) -> Result<Exit, CommandError> {
    if let Some(PlanCommand::Show(asked)) = &asked.command {
        return saved_plan::show(asked, root);
    }
    let mode = mode.into();
    let prune = prune(asked.prune, mode)?;
    if let Some(out) = &asked.out {
        saved_plan::check_target(out, asked)?;
    }
    let sources = sources(&asked.files, Care::Reading)?;
    let linux = silent_machine(root)?;
    let configuration = configuration(sources, &linux)?;
    can_succeed(mode, &configuration.wanted, &linux)?;
    configuration.wanted.warnings(mode).iter().for_each(|warning| warn!("{warning}"));
    let checks = if asked.no_commands { Checks::LeftOut } else { Checks::Executed };
    let manifests = manifests(asked.force);
    let ask = Ask { mode, wanted: &configuration.wanted, prune, manifests, checks, patience: PATIENCE };
    let preview = look(&ask, &configuration, &linux)?;
    let view = PlanView::new(linux.name(), mode, &configuration.wanted, &preview);
    let view = match linux.lock_holder()? {
        Some(holder) => view.during(holder.0),
        None => view,
    };
    if asked.out.is_some() {
        check_checked(&view)?;
    }
    print(asked, &view, root)?;
    let exit = if asked.exit_code && view.is_open { Exit::Changes } else { Exit::Done };
    if let Some(out) = &asked.out {
        let plan = SavedPlan::new(Reviewed {
            prune,
            manifests,
            machine_id: linux.machine_id(),
            configuration: &configuration.text,
            fetched: &configuration.parts,
            preview: &preview,
            shown: view,
            key: &saved_plan::machine_key(&linux)?,
            number: saved_plan::number()?,
        });
        saved_plan::write(out, &plan)?;
    }
    Ok(exit)
}

/// Shows what documents that a command made of its flags would change.
pub(super) fn of_sources(sources: Vec<Source>, output: Option<Output>, root: &Path) -> Result<Exit, CommandError> {
    let mode = Mode::Provision;
    let linux = silent_machine(root)?;
    let configuration = configuration(sources, &linux)?;
    can_succeed(mode, &configuration.wanted, &linux)?;
    let (prune, manifests, checks) = (Prune::List, Manifests::Respected, Checks::Executed);
    let ask = Ask { mode, wanted: &configuration.wanted, prune, manifests, checks, patience: PATIENCE };
    let view = PlanView::new(linux.name(), mode, &configuration.wanted, &look(&ask, &configuration, &linux)?);
    match output {
        Some(output) => show::machine_readable(&view, output)?,
        None => {
            show::print_text(&show::plan::text(&view))?;
            tell!("\nNothing was changed.");
        }
    }
    Ok(Exit::Done)
}

/// A plan with commands that nobody checked can't be compared later.
fn check_checked(view: &PlanView) -> Result<(), CommandError> {
    if view.not_checked == 0 {
        return Ok(());
    }
    let text = format!("the plan is not saved: {} not checked", show::count(view.not_checked, "command"));
    let remedy = "leave --no-commands out, and make every `unless` end within its time limit";
    Err(CommandError::failed(text).with_remedy(remedy))
}

fn print(asked: &Plan, view: &PlanView, root: &Path) -> Result<(), CommandError> {
    match asked.output {
        Some(output) => show::machine_readable(view, output),
        // The saved plan itself is the result.
        None if asked.out.as_deref() == Some("-") => Ok(()),
        None => {
            show::print_text(&show::plan::text(view))?;
            tell!("\n{}", hint(asked, view, root));
            Ok(())
        }
    }
}

/// Asks every turn for a plan that is compared with a reviewed one.
pub(super) fn look_again(
    plan: &ReviewedPlan,
    configuration: &Configuration,
    linux: &Linux,
) -> Result<Preview, CommandError> {
    let (mode, wanted, prune, manifests) = (plan.mode(), &configuration.wanted, plan.prune(), plan.manifests());
    let ask = Ask { mode, wanted, prune, manifests, checks: Checks::Executed, patience: PATIENCE };
    look(&ask, configuration, linux)
}

/// Asks every turn; the first that can't even look stops it.
fn look(ask: &Ask<'_>, configuration: &Configuration, linux: &Linux) -> Result<Preview, CommandError> {
    preview(ask, linux, &ApiServers, &Runtimes).map_err(|Failure { at, cause: error, .. }| {
        let advice = error.of_host().and_then(host::Error::advice);
        let cause = cause(&error, &configuration.redactor);
        let text = if at == TurnId::from(Stage::Start) { cause } else { format!("{at}: {cause}") };
        let exit = if error.needs_operator() { Exit::Person } else { Exit::Failed };
        CommandError::of_machine(text).with_exit(exit).with_remedies(advice)
    })
}

fn hint(asked: &Plan, view: &PlanView, root: &Path) -> String {
    if !view.is_open {
        return "Nothing was changed.".into();
    }
    let apply = match &asked.out {
        Some(out) => saved_plan::apply_command(out, root),
        None => {
            let prune = if asked.prune { Prune::Restore } else { Prune::List };
            command_line(&asked.files, Allowed { prune, manifests: manifests(asked.force) }, view.mode, root)
        }
    };
    format!("Nothing was changed. To apply: {apply}")
}
