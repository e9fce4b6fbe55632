//! Feeds every reader of foreign bytes with mutated input, on stable Rust: a fixed number of inputs for each change, a
//! minute in the long tier, longer by command.
//!
//! A target tells what it saw as a number; inputs that show something new join the corpus, so that the loop finds its
//! way behind the first check without instrumented code.
mod engine;
mod mutate;
mod random;
mod targets;

pub use engine::{Failure, Limit, Run, replay, run};
pub use targets::TARGETS;

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
};

/// One reader and what must hold whatever it is given.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// How many inputs judge each change: on two cores of 2026 some two seconds of them.
    pub inputs: u64,
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that this reader knows; mutations insert them.
    pub words: &'static [&'static str],
    /// Reads the input, panics when something does not hold, and tells what it saw.
    pub read: fn(&[u8]) -> Seen,
}

/// What a target saw, as a number: equal numbers mean nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seen(u64);

impl Seen {
    /// Of anything that describes the reader's way through the input.
    pub fn new(what: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        what.hash(&mut hasher);
        Self(hasher.finish())
    }
}
