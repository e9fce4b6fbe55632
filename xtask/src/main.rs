//! Work on the repository itself: `cargo xtask TASK`.
mod generate;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One thing that `cargo xtask` can do.
struct Task {
    name: &'static str,
    about: &'static str,
    run: fn(&Path) -> Result<(), String>,
}

/// Every task, in the order in which the usage shows them.
const TASKS: &[Task] = &[
    Task { name: "tidy", about: "check what holds for the whole repository", run: tidy::check_and_print },
    Task { name: "generate", about: "write schema, docs, man pages and completions anew", run: generate::write },
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let task = match asked.as_slice() {
        [name] => TASKS.iter().find(|task| task.name == name),
        _ => None,
    };
    let Some(task) = task else {
        eprintln!("{}", usage());
        return ExitCode::from(2);
    };
    match (task.run)(&repository()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{}: {message}", task.name);
            ExitCode::FAILURE
        }
    }
}

/// The top folder of the repository that this program was built from.
fn repository() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

fn usage() -> String {
    let tasks: String = TASKS.iter().map(|task| format!("\n  {:<10} {}", task.name, task.about)).collect();
    format!("usage: cargo xtask TASK\n{tasks}")
}
