//! The command line: what the program is started with, and its exit codes.
use crate::configuration::Configuration;
use crate::confinement::Confinement;
use crate::driver::{self, QuickCalls};
use crate::log::{self, Level};
use crate::paths::Directories;
use crate::{check, plugin};
use clap::Parser;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use serde_json::json;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::Builder;

/// Probes of all keys that may wait for their services at once, each on a thread.
const BLOCKING_THREADS: usize = 128;

/// Exit codes of a process that ends without the destructors of libraries.
const DONE: i32 = 0;
const FAILED: i32 = 1;

const EXAMPLE: &str = "Example:
  machineadm-kms-plugin --config /etc/machineadm/kms.yaml --check
  machineadm-kms-plugin --config /etc/machineadm/kms.yaml

SIGHUP reads the configuration again; the plugin also notices by itself when the file changes. SIGTERM finishes requests that are under way, then ends.
Exit codes: 0 done, 1 failed, 2 invalid configuration or arguments.";

/// Serve keys to kube-apiserver as a KMS v2 plugin.
///
/// Each key of the configuration has a unix socket of its own, which an EncryptionConfiguration names as endpoint. Key
/// services: AWS KMS, the transit engine of Vault and OpenBao, tokens behind PKCS#11 modules (not in the static program),
/// and a file with keys for tests and single machines.
#[derive(Debug, Parser)]
#[command(name = "machineadm-kms-plugin", version, after_help = EXAMPLE)]
pub struct Cli {
    /// Configuration file (YAML or JSON)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Check the configuration and encrypt and decrypt once with each key, then exit
    ///
    /// No socket is created. Every key must encrypt, an old one too: kube-apiserver reads nothing through a provider
    /// before one successful Encrypt.
    #[arg(long)]
    check: bool,
}

/// Runs the program.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody can be told that nobody listens.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    // Before a key is read that a core dump could hold; sockets are created for their owner alone.
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        return fail(&format!("cannot switch core dumps off: {error}"));
    }
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let configuration = match read(&cli.config) {
        Ok(configuration) => configuration,
        Err(problems) => {
            let shown = cli.config.display();
            problems.iter().for_each(|problem| eprintln!("{shown}: {problem}"));
            return ExitCode::from(2);
        }
    };
    // Before any thread is started, so that all of them are confined.
    let confinement = match Confinement::enter(&Directories::of(&cli.config, &configuration)) {
        Ok(confinement) => confinement,
        Err(error) => return fail(&error),
    };
    if cli.check {
        end(if check::check(&configuration) { DONE } else { FAILED });
    }
    // One thread: what is left beside the calls of key services is less work than waking a second one for it.
    let mut runtime = Builder::new_current_thread();
    runtime.max_blocking_threads(BLOCKING_THREADS).enable_all();
    let calls = Arc::new(QuickCalls::default());
    let plugin = plugin::serve(cli.config, configuration, confinement, Arc::clone(&calls));
    let ended = runtime.build().and_then(|runtime| driver::run(runtime, calls, plugin));
    let ended = ended.unwrap_or_else(|error| Err(format!("cannot start: {error}")));
    if let Err(error) = ended {
        fail(&error);
        end(FAILED);
    }
    end(DONE)
}

/// Ends the process without the destructors of libraries: a thread that is still in a PKCS#11 module, for a probe or in a
/// call that hangs, would crash in what they have destroyed.
fn end(code: i32) -> ! {
    // Nobody can be told that nobody listens.
    let _ = std::io::stdout().flush();
    signal_hook::low_level::exit(code)
}

/// Reads and checks a configuration file.
pub(crate) fn read(path: &Path) -> Result<Configuration, Vec<String>> {
    // A FIFO that replaces the file would stop all keys until somebody writes to it.
    let file = fs::metadata(path).and_then(|found| {
        let is_small = found.is_file() && found.len() <= objects::SMALL_FILE_LIMIT as u64;
        if is_small { fs::read_to_string(path) } else { Err(std::io::Error::other("not a file of at most 1 MiB")) }
    });
    Configuration::parse(&file.map_err(|error| vec![format!("cannot read the configuration: {error}")])?)
}

fn fail(message: &str) -> ExitCode {
    log::line(Level::Error, message, json!({}));
    ExitCode::FAILURE
}
