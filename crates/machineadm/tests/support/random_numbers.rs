//! Numbers that look random, and are the same for the same seed.

/// Numbers that look random and are the same for the same seed (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    /// From the seed that a variable names, else from the time; the seed is printed.
    pub(crate) fn seeded(variable: &str) -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let given = std::env::var(variable).ok().map(|text| text.parse().expect("a seed is a number"));
        let seed = given.unwrap_or_else(|| u64::from(now.subsec_nanos()));
        eprintln!("{variable}={seed}");
        Self(seed)
    }

    /// Any number.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniformly from 0 to 1.
    pub(crate) fn part(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits")) / f64::from(u32::MAX)
    }
}
