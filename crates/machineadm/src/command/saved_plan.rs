//! Saved plans on disk: the file, the key of this machine that they are made with, and `machineadm plan show`.
use crate::{
    cli::{Plan, PlanShow},
    command_error::CommandError,
    context::{input_file, silent_machine},
    show,
};
use engine::{PlanKey, SavedPlan};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
    linux::{
        fresh_bytes,
        input::{self, Care},
    },
};
use objects::{hex, shell};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// A plan holds its configuration in base64 and a line per step.
const LARGEST_PLAN: u64 = 16 << 20;

/// Reads a saved plan.
pub(super) fn read(name: &str, care: Care) -> Result<SavedPlan, CommandError> {
    let bytes = input_file(name, care, LARGEST_PLAN)?;
    SavedPlan::read(&bytes).map_err(|error| CommandError::invalid(format!("{name} {error}")))
}

/// Writes a saved plan to a file, or to standard output.
pub(super) fn write(out: &str, plan: &SavedPlan) -> Result<(), CommandError> {
    match out {
        "-" => show::print(plan.bytes().expose()),
        _ => Ok(input::write_private(out, plan.bytes().expose())?),
    }
}

/// Refuses a file that is not there for plans: the configuration itself above all.
pub(super) fn check_target(out: &str, asked: &Plan) -> Result<(), CommandError> {
    if out == "-" {
        let both = "--out - and --output exclude each other: standard output has one result";
        return asked.output.map_or(Ok(()), |_| Err(CommandError::usage(both)));
    }
    let Ok(there) = fs::symlink_metadata(out) else { return Ok(()) };
    let is_same = |file: &String| {
        let meant = |path: &str| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
        file != "-" && meant(file).is_some() && meant(file) == meant(out)
    };
    if let Some(file) = asked.files.iter().find(|file| is_same(file)) {
        let text = format!("--out {out} is the configuration {file}: it would be overwritten; choose another file");
        return Err(CommandError::invalid(text));
    }
    let is_plan = there.is_file() && read(out, Care::Reading).is_ok();
    match is_plan {
        true => Ok(()),
        false => {
            let text =
                format!("--out {out}: the path exists and is not a saved plan; choose another path, or delete it");
            Err(CommandError::invalid(text))
        }
    }
}

/// The key of this machine; the first plan that is saved creates it.
pub(super) fn machine_key(linux: &Linux) -> Result<PlanKey, CommandError> {
    if let Some(key) = existing_key(linux)? {
        return Ok(key);
    }
    let new: [u8; 32] = fresh_bytes()?;
    let unsaved = |error: host::Error| {
        let why =
            "a saved plan needs a key on this machine, so that it can't be edited and nobody guesses secrets by it";
        CommandError::from(error).with_remedy(format!("{why}; run as root, or leave --out away"))
    };
    linux.state().create(contract::PLAN_KEY, hex::encode(&new).as_bytes(), 0o600).map_err(unsaved)?;
    // Another process may have been faster: its key stays.
    existing_key(linux)?.ok_or_else(|| CommandError::failed(format!("{} vanished", contract::PLAN_KEY)))
}

/// The key, if this machine has saved a plan before.
pub(super) fn existing_key(linux: &Linux) -> Result<Option<PlanKey>, CommandError> {
    let Some(file) = linux.file(contract::PLAN_KEY)? else { return Ok(None) };
    let text = String::from_utf8_lossy(file.contents.expose());
    let key = hex::decode(text.trim()).map(PlanKey::new);
    key.map(Some).ok_or_else(|| {
        CommandError::failed(format!("{} is damaged", contract::PLAN_KEY))
            .with_remedy("delete it; plans that were saved before can no longer be applied, make new ones")
    })
}

/// A random number for a new plan.
pub(super) fn number() -> Result<String, CommandError> {
    Ok(hex::encode(&fresh_bytes::<16>()?))
}

/// The command that applies a saved plan.
pub(super) fn apply_command(plan: &str, root: &Path) -> String {
    let root = root.to_string_lossy();
    let at: &[&str] = if root == "/" { &[] } else { &["--root", &root] };
    shell::command(&[&["machineadm", "apply", plan], at].concat())
}

/// Prints a saved plan, on any machine.
pub(super) fn show(asked: &PlanShow, root: &Path) -> Result<Exit, CommandError> {
    let root = asked.root.root.clone().unwrap_or_else(|| PathBuf::from(root));
    let plan = read(&asked.plan, Care::Reading)?;
    let shown = plan.shown().clone();
    match asked.output {
        Some(output) => show::machine_readable(&shown, output)?,
        None => show::print_text(&show::plan::text(&shown))?,
    }
    let linux = silent_machine(&root)?;
    let is_here = plan.machine_id() == linux.machine_id();
    match existing_key(&linux).ok().flatten().filter(|_| is_here) {
        None => warn!("not verified: only the machine that saved this plan can tell whether it was edited"),
        Some(key) => match plan.verified(&key) {
            Ok(_) => tell!("\nNothing was changed. To apply: {}", apply_command(&asked.plan, &root)),
            Err(error) => return Err(CommandError::invalid(format!("{} {error}", asked.plan))),
        },
    }
    Ok(Exit::Done)
}
