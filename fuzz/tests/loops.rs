//! Each target for a minute, always from the same seed: what CI tries is the same each time, only how far it gets is not.
use fuzz::{TARGETS, run};
use std::time::Duration;

const TIME: Duration = Duration::from_secs(60);
const SEED: u64 = 1;
/// Fewer would mean that the loop does not run.
const FEWEST: u64 = 100;

fn minute(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).expect("the target is in the list");
    match run(target, TIME, SEED) {
        Ok(done) => {
            println!("{name}: {} inputs, {} different things seen", done.inputs, done.seen);
            assert!(done.inputs >= FEWEST && done.seen > 1, "{done:?}");
        }
        Err(failure) => panic!("{name}: {}\ninput: {}", failure.message, failure.input.escape_ascii()),
    }
}

macro_rules! loops {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { minute(stringify!($name)); })*
    };
}

loops!(
    stream,
    expansion,
    decryption,
    token,
    expiration,
    kubeconfig,
    jws,
    token_secret,
    kubeadm_configuration,
    ca_bundle
);

#[test]
fn every_target_has_its_minute() {
    let known: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(known, NAMES);
}
