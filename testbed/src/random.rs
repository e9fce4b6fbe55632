//! Numbers that look random, and are the same for the seed of a run.

/// The variable that has the seed: the run's own, or that of a run that is to be repeated.
pub const SEED: &str = "MACHINEADM_TESTS_SEED";

/// Numbers that look random and are the same for the same seed (SplitMix64).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// From the seed of this run, without one from the time; the seed is printed.
    pub fn of_this_run() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let given = std::env::var(SEED).ok().map(|text| text.parse().expect("a seed is a number"));
        let seed = given.unwrap_or_else(|| u64::from(now.subsec_nanos()));
        eprintln!("{SEED}={seed}");
        Self(seed)
    }

    /// Any number.
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number that is smaller than this one.
    pub fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Uniformly from 0 to 1.
    pub fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.number() >> 32).expect("32 bits")) / f64::from(u32::MAX)
    }
}
