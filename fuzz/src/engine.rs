//! The loop: mutate, read, keep what shows something new, stop at the first thing that does not hold.
use crate::{Seen, Target, mutate::mutate, random::Random};
use std::{
    collections::HashSet,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

/// More seeds of the same kind teach nothing.
const LARGEST_CORPUS: usize = 4096;

/// What a loop did.
#[derive(Debug)]
pub struct Run {
    /// Inputs that were read.
    pub inputs: u64,
    /// Different things that were seen.
    pub seen: usize,
}

/// An input with which something did not hold.
#[derive(Debug)]
pub struct Failure {
    /// It.
    pub input: Vec<u8>,
    /// What the panic said.
    pub message: String,
}

/// When a loop ends.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// After this time: how many inputs it reads depends on the machine.
    Time(Duration),
    /// After so many inputs, on every machine the same.
    Inputs(u64),
}

/// Runs a target up to a limit; the same seed tries the same inputs in the same order.
pub fn run(target: &Target, limit: Limit, seed: u64) -> Result<Run, Failure> {
    let begun = Instant::now();
    let mut random = Random(seed);
    let mut seen = HashSet::new();
    let mut corpus = (target.seeds)();
    let mut inputs = 0;
    for input in &corpus {
        seen.insert(replay(target, input)?);
        inputs += 1;
    }
    let is_over = |inputs| match limit {
        Limit::Time(time) => begun.elapsed() >= time,
        Limit::Inputs(most) => inputs >= most,
    };
    while !is_over(inputs) {
        let mut input = random.pick(&corpus).cloned().unwrap_or_default();
        let other = random.pick(&corpus).cloned().unwrap_or_default();
        mutate(&mut input, &other, target.words, &mut random);
        inputs += 1;
        if seen.insert(replay(target, &input)?) && corpus.len() < LARGEST_CORPUS {
            corpus.push(input);
        }
    }
    Ok(Run { inputs, seen: seen.len() })
}

/// Reads one input.
pub fn replay(target: &Target, input: &[u8]) -> Result<Seen, Failure> {
    catch_unwind(AssertUnwindSafe(|| (target.read)(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let message = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words");
        Failure { input: input.to_vec(), message: message.to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8]) -> Seen {
        assert!(!input.windows(4).any(|window| window == b"deep"), "the loop got there");
        Seen::new(b"deep".iter().zip(input).take_while(|(wanted, given)| wanted == given).count())
    }

    #[test]
    fn a_loop_finds_what_lies_behind_several_checks_and_gives_the_input_back() {
        let target = Target { name: "test", inputs: 1, seeds: || vec![b"d___".to_vec()], words: &["e", "p"], read };
        let failure = run(&target, Limit::Time(Duration::from_secs(60)), 1).expect_err("it must find the word");
        assert_eq!(failure.message, "the loop got there");
        assert_eq!(replay(&target, &failure.input).expect_err("it must fail again").message, "the loop got there");
    }
}
