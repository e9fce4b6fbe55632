//! The commands and their options.
mod demo;
mod up;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use testbed::programs::{SETS, Set, Tier};
use testbed::{Bed, Error, Profile, Result, doctor, reaper};

/// Real Kubernetes on this machine: pinned programs, whole machines, nothing left behind.
#[derive(Debug, Parser)]
#[command(name = "testbed", arg_required_else_help = true)]
pub(crate) struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a cluster with kubeadm, say how to enter its machines, and leave it running.
    Up(up::Options),
    /// Boot a control plane and a worker from user data, show their status side by side, and leave them running.
    Demo(demo::Options),
    /// Open a shell in a machine that `up` or `demo` made; kubectl is ready in it.
    Enter {
        /// The machine's name, such as cp1.
        machine: String,
    },
    /// Remove what `up` and `demo` made, and what killed runs left.
    Down,
    /// Boot one machine and open a shell in it; it is gone when the shell ends.
    Shell {
        /// Give it everything that a Kubernetes node has, instead of Debian alone.
        #[arg(long)]
        node: bool,
    },
    /// Say what is missing on this host, and what brings it.
    Doctor,
    /// Build the pinned programs now rather than when a test first needs them, and remove old ones.
    Build {
        /// Sets to build, such as kubernetes-1.36.4; those of the quick tier unless named.
        set: Vec<String>,
        /// Build what the long tier needs as well.
        #[arg(long)]
        long: bool,
    },
}

impl Command {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.verb {
            Verb::Up(options) => up::up(&options).map(|()| ExitCode::SUCCESS),
            Verb::Demo(options) => demo::demo(&options).map(|()| ExitCode::SUCCESS),
            Verb::Enter { machine } => enter(&machine),
            Verb::Down => down(),
            Verb::Shell { node } => shell(&if node { Profile::node() } else { Profile::default() }),
            Verb::Doctor => examine(),
            Verb::Build { set, long } => build(&set, if long { Tier::Long } else { Tier::Quick }),
        }
    }
}

fn enter(machine: &str) -> Result<ExitCode> {
    let ended = testbed::shell_in_kept(machine)?.status();
    ended.map_err(|source| Error::Start { command: "bash".to_owned(), source })?;
    Ok(ExitCode::SUCCESS)
}

fn down() -> Result<ExitCode> {
    match reaper::reap_kept()?.as_slice() {
        [] => println!("There was nothing to remove."),
        gone => println!("Removed {}.", gone.join(", ")),
    }
    Ok(ExitCode::SUCCESS)
}

fn shell(profile: &Profile) -> Result<ExitCode> {
    let bed = Bed::new()?;
    let machine = bed.machine("m1", profile)?;
    machine.boot()?;
    println!("Bed {}: machine m1 has booted; leave the shell to remove it.", bed.id());
    let ended = machine.command(&["bash", "--login"])?.status();
    bed.down()?;
    ended.map_err(|source| Error::Start { command: "bash".to_owned(), source })?;
    Ok(ExitCode::SUCCESS)
}

fn examine() -> Result<ExitCode> {
    let findings = doctor::examine()?;
    for finding in &findings {
        match &finding.remedy {
            None => println!("  ok       {}", finding.what),
            Some(remedy) => println!("  missing  {}: {remedy}", finding.what),
        }
    }
    for set in SETS {
        let state = if set.is_built()? { "built" } else { "not built yet; a test that needs it builds it" };
        println!("  program  {}: {state}", set.name);
    }
    let missing = findings.iter().filter(|finding| finding.remedy.is_some()).count();
    if missing == 0 {
        println!("Everything is there.");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{missing} missing.");
    Ok(ExitCode::FAILURE)
}

fn build(names: &[String], tier: Tier) -> Result<ExitCode> {
    if let Some(name) = names.iter().find(|name| SETS.iter().all(|set| set.name != **name)) {
        let known: Vec<&str> = SETS.iter().map(|set| set.name).collect();
        return Err(Error::Misused(format!("there is no set {name}; there are {}", known.join(", "))));
    }
    let wanted =
        |set: &Set| if names.is_empty() { set.tier <= tier } else { names.iter().any(|name| name == set.name) };
    for set in SETS.iter().filter(|set| wanted(set)) {
        println!("{}: {}", set.name, set.ensure()?.directory().display());
    }
    for gone in testbed::cache::prune()? {
        println!("{gone}: removed, unused for two weeks");
    }
    Ok(ExitCode::SUCCESS)
}
