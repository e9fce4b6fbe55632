//! The test bed's command for people: real clusters on this machine, from nothing, in half a minute.
mod command;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    match command::Command::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("testbed: {error}");
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                eprintln!("  because: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}
