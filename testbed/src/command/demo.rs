//! `demo`: a control plane and a worker boot from user data, side by side on the screen with their status.
use std::collections::BTreeMap;
use std::fs;
use std::io::{IsTerminal, Write, stdout};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use testbed::{Bed, Error, Machine, Profile, Result, until};

/// Where machines have the program.
const PROGRAM: &str = "/usr/bin/machineadm";
/// Stands in user data for the address of the control plane.
const ADDRESS: &str = "CONTROL_PLANE_ADDRESS";
/// How long the two machines may take in all.
const LIMIT: Duration = Duration::from_secs(900);
/// Between two columns.
const GAP: &str = " │ ";
/// A terminal that does not say how wide it is.
const WIDTH: usize = 160;

/// What the machines get.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The static machineadm.
    #[arg(long)]
    program: PathBuf,
    /// User data of the control plane.
    #[arg(long)]
    control_plane: PathBuf,
    /// User data of the worker; CONTROL_PLANE_ADDRESS in it is replaced.
    #[arg(long)]
    worker: PathBuf,
}

/// Boots both at once, shows them until both are Ready, and leaves them running.
pub(crate) fn demo(options: &Options) -> Result<()> {
    let began = Instant::now();
    let bed = Bed::new()?;
    println!("Creating two machines (what they need is built when it is not in the cache).");
    let first = machine(&bed, "cp", &text(&options.control_plane)?, &options.program)?;
    let user_data = text(&options.worker)?.replace(ADDRESS, &first.address().to_string());
    let second = machine(&bed, "w1", &user_data, &options.program)?;
    let machines = vec![first, second];
    machines.iter().try_for_each(Machine::power_on)?;
    let mut screen = Screen::new();
    until("both machines to be nodes", LIMIT, || {
        screen.show(&machines, began.elapsed());
        match machines.iter().find(|machine| !has_succeeded(machine)) {
            None => Ok(()),
            Some(machine) => Err(format!("{} is not done", machine.name())),
        }
    })?;
    screen.show(&machines, began.elapsed());
    machines[0].wait_for_nodes(&["cp", "w1"])?;
    println!(
        "\n$ kubectl get nodes\n{}",
        machines[0].shell("KUBECONFIG=/etc/kubernetes/admin.conf kubectl get nodes")?
    );
    println!("Nothing → Ready: {:.0} s, without a login.", began.elapsed().as_secs_f64());
    println!("Enter them:   cargo run -p testbed -- enter cp    (or w1)\nRemove them:  scripts/demo --remove");
    bed.keep(machines)
}

fn machine(bed: &Bed, name: &str, user_data: &str, program: &std::path::Path) -> Result<Machine> {
    let machine = bed.machine(name, &Profile::node().with_user_data(user_data))?;
    machine.copy_in(program, PROGRAM)?;
    Ok(machine)
}

fn text(path: &std::path::Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| Error::Misused(format!("{}: {error}", path.display())))
}

fn has_succeeded(machine: &Machine) -> bool {
    let outcome = machine.read("/var/lib/machineadm/outcome.json").unwrap_or_default();
    let outcome: serde_json::Value = serde_json::from_str(&outcome).unwrap_or_default();
    outcome["state"] == "succeeded"
}

/// What `machineadm status` prints on a machine, as far as it can be asked.
fn status(machine: &Machine) -> Vec<String> {
    let asked = machine.run_within(&[PROGRAM, "status"], Duration::from_secs(10));
    let printed = asked.map(|output| output.stdout).unwrap_or_default();
    match printed.trim().is_empty() {
        true => vec![format!("{}  boots", machine.name())],
        false => printed.lines().map(str::to_owned).collect(),
    }
}

/// A terminal shows columns, anything else a line for each change.
enum Screen {
    Columns { width: usize },
    Lines { shown: BTreeMap<String, String> },
}

impl Screen {
    fn new() -> Self {
        match stdout().is_terminal() {
            true => {
                let size = rustix::termios::tcgetwinsize(stdout()).ok();
                Self::Columns { width: size.map_or(WIDTH, |size| usize::from(size.ws_col)).max(40) }
            }
            false => Self::Lines { shown: BTreeMap::new() },
        }
    }

    fn show(&mut self, machines: &[Machine], elapsed: Duration) {
        let all: Vec<Vec<String>> = machines.iter().map(status).collect();
        match self {
            Self::Columns { width } => {
                // Clears the screen, and writes both from its top.
                print!("\x1b[H\x1b[2J{:.0} s\n\n{}", elapsed.as_secs_f64(), columns(&all, *width));
            }
            Self::Lines { shown } => {
                for (machine, lines) in machines.iter().zip(&all) {
                    // Without the time that has passed, which changes at every look.
                    let state = lines[0].split("   ").next().unwrap_or_default().to_owned();
                    if shown.insert(machine.name().to_owned(), state.clone()).as_ref() != Some(&state) {
                        println!("{:6.1} s  {state}", elapsed.as_secs_f64());
                    }
                }
            }
        }
        // A terminal that is gone ends the program with the next line.
        let _ = stdout().flush();
    }
}

/// Lines side by side, each cut to its column.
fn columns(all: &[Vec<String>], width: usize) -> String {
    let each = width.saturating_sub(GAP.chars().count() * all.len().saturating_sub(1)) / all.len().max(1);
    let rows = all.iter().map(Vec::len).max().unwrap_or_default();
    let cell = |lines: &Vec<String>, row: usize| {
        let text: String = lines.get(row).map(String::as_str).unwrap_or_default().chars().take(each).collect();
        format!("{text:each$}")
    };
    let line = |row| all.iter().map(|lines| cell(lines, row)).collect::<Vec<_>>().join(GAP);
    (0..rows).map(|row| format!("{}\n", line(row).trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn lines_stand_side_by_side_and_are_cut_to_their_column() {
        let all = [vec!["cp  RUNNING".to_owned(), "✔ preflight".to_owned()], vec!["w1  boots".to_owned()]];
        assert_eq!(columns(&all, 21), "cp  RUNNI │ w1  boots\n✔ preflig │\n");
    }
}
