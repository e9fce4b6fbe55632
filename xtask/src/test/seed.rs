//! The seed of property tests and of everything in tests that is random.
use std::hash::{BuildHasher, Hasher, RandomState};
use testbed::programs::Tier;

/// What lands must not depend on luck: always the same in the quick tier. The long one looks for what is new.
pub(super) fn of(tier: Tier) -> u64 {
    match tier {
        Tier::Quick => 1,
        Tier::Long => RandomState::new().build_hasher().finish(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_tier_has_one_seed_and_the_long_one_draws() {
        assert_eq!(of(Tier::Quick), of(Tier::Quick));
        assert_ne!(of(Tier::Long), of(Tier::Long));
    }
}
