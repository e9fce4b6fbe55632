//! Work on the repository itself: `cargo xtask TASK`.
mod generate;
mod image;
mod mutants;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// One thing that `cargo xtask` can do.
struct Task {
    name: &'static str,
    about: &'static str,
    run: Run,
}

/// A task gets the repository's top folder; some take options as well.
enum Run {
    Plain(fn(&Path) -> Result<(), String>),
    WithOptions(fn(&Path, &[String]) -> Result<(), String>),
}

/// Every task, in the order in which the usage shows them.
const TASKS: &[Task] = &[
    Task { name: "tidy", about: "check what holds for the whole repository", run: Run::Plain(tidy::check_and_print) },
    Task {
        name: "generate",
        about: "write schema, docs, man pages and completions anew",
        run: Run::Plain(generate::write),
    },
    Task {
        name: "test",
        about: "run every test of the quick tier, or with --long of both",
        run: Run::WithOptions(test::run),
    },
    Task { name: "image", about: "write the container image of machineadm-kms-plugin", run: Run::Plain(image::write) },
    Task {
        name: "mutants",
        about: "put faults into the rules and see whether tests notice",
        run: Run::WithOptions(mutants::run),
    },
];

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let task =
        asked.split_first().and_then(|(name, options)| Some((TASKS.iter().find(|task| task.name == name)?, options)));
    let ended = match task {
        Some((task, [])) if let Run::Plain(run) = task.run => (task, run(&repository())),
        Some((task, options)) if let Run::WithOptions(run) = task.run => (task, run(&repository(), options)),
        _ => {
            eprintln!("{}", usage());
            return ExitCode::from(2);
        }
    };
    match ended {
        (_, Ok(())) => ExitCode::SUCCESS,
        (task, Err(message)) => {
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
    format!("usage: cargo xtask TASK [OPTIONS]\n{tasks}")
}
