//! Each target with a fixed number of inputs from a fixed seed: what CI tries of a commit is the same each time.
use fuzz::{Bounds, TARGETS, run};
use std::time::Duration;

/// A very slow machine tries fewer, and says so.
const TIME: Duration = Duration::from_secs(60);
const SEED: u64 = 1;
/// Fewer would mean that the loop does not run.
const FEWEST: u64 = 100;

fn inputs(name: &str, inputs: u64) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the target is in the list");
    match run(target, Bounds { inputs, time: TIME }, SEED) {
        Ok(done) => {
            let early = if done.inputs < inputs { format!(" of {inputs}, when time was up") } else { String::new() };
            println!("{name}: {} inputs{early}, {} different things seen", done.inputs, done.seen);
            assert!(done.inputs >= FEWEST && done.seen > 1, "{done:?}");
        }
        Err(failure) => panic!("{name}: {}\ninput: {}", failure.message, failure.input.escape_ascii()),
    }
}

macro_rules! loops {
    ($($name:ident: $inputs:literal),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { inputs(stringify!($name), $inputs); })*
    };
}

// What a third of a minute suffices for while the other tests of CI keep two processors busy.
loops! {
    stream: 5_000,
    expansion: 8_000,
    decryption: 12_000,
    token: 3_000_000,
    expiration: 4_000_000,
    kubeconfig: 40_000,
    jws: 700_000,
    token_secret: 600_000,
    kubeadm_configuration: 40_000,
}

#[test]
fn every_target_has_its_loop() {
    let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(known, NAMES);
}
