//! A rendering: what a read-only program makes of a file, in a directory of its own.
use secret::Secret;
use std::{collections::BTreeMap, time::Duration};

/// A program that reads one file and writes another. Both are in a directory that exists only while it runs, and it
/// changes nothing else on the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// The program and its arguments; [`Self::DIRECTORY`] in a word stands for the directory.
    pub argv: Vec<String>,
    /// Variables for this program only; [`Self::DIRECTORY`] stands for the directory here too.
    pub environment: BTreeMap<String, Secret<String>>,
    /// What it reads, as the file [`Self::INPUT`] in the directory.
    pub input: Secret<String>,
    /// The name of the file that it writes into the directory.
    pub output: String,
    /// When to give up.
    pub within: Duration,
}

impl Rendering {
    /// Stands for the directory.
    pub const DIRECTORY: &str = "{directory}";
    /// The name of the file that the program reads.
    pub const INPUT: &str = "input.yaml";
}
