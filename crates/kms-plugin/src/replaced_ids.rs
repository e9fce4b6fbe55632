//! The key ids of one key that others have replaced, to tell when a key goes back to one of them: kube-apiserver requires
//! that no id is used twice, and a migration that was done for an id is not done again.
use kms::KeyId;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// How many are remembered.
const MOST: usize = 100;

/// Those that this process has reported, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct ReplacedIds(Mutex<VecDeque<KeyId>>);

impl ReplacedIds {
    /// Notes that an id was replaced by another; whether that one was replaced before.
    pub(crate) fn note(&self, old: &KeyId, new: &KeyId) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(old) {
            all.push_back(old.clone());
        }
        if all.len() > MOST {
            all.pop_front();
        }
        all.contains(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kms::KeyVersion;

    #[test]
    fn an_id_that_was_replaced_before_is_known_again_and_not_too_many_are() {
        let version = KeyVersion { provider: "test", key: String::new(), version: String::new() };
        let (replaced, [a, b, c]) = (ReplacedIds::default(), [1, 2, 3].map(|epoch| version.id(epoch)));
        let seen = [(&a, &b), (&b, &c), (&c, &a), (&a, &b)].map(|(old, new)| replaced.note(old, new));
        assert_eq!(seen, [false, false, true, true]);
        for epoch in 10..310 {
            assert!(!replaced.note(&version.id(epoch), &version.id(epoch + 1)));
        }
        assert_eq!(replaced.0.lock().unwrap().len(), MOST);
    }
}
