//! Every reader's loop: so many inputs from a fixed seed for each change, a minute from a new one in the long tier.
use fuzz::{Limit, TARGETS, Target, run};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::time::Duration;

/// Fewer would mean that the loop does not run.
const FEWEST: u64 = 100;

fn feed(target: &Target, limit: Limit, seed: u64) {
    match run(target, limit, seed) {
        Ok(done) => assert!(done.inputs >= FEWEST && done.seen > 1, "{}: {done:?}", target.name),
        Err(failure) => {
            panic!("{} from seed {seed}: {}\ninput: {}", target.name, failure.message, failure.input.escape_ascii())
        }
    }
}

/// What lands must not depend on luck or on the machine: always the same seed and the same number of inputs.
#[test]
fn every_reader_withstands_the_same_spoiled_inputs_each_time() {
    for target in TARGETS {
        feed(target, Limit::Inputs(target.inputs), 1);
    }
}

#[test]
#[ignore = "long tier: a minute for every reader, from a new seed that it prints"]
fn every_reader_withstands_a_minute_of_spoiled_input_from_a_new_seed() {
    for target in TARGETS {
        let seed = RandomState::new().build_hasher().finish();
        // Past the harness, which keeps back what a test prints that passes: the runner shows notes.
        writeln!(std::io::stdout(), "note: {} from seed {seed}", target.name).unwrap();
        feed(target, Limit::Time(Duration::from_secs(60)), seed);
    }
}
