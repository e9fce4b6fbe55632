//! Tokens and keys: written into kubeadm's file, shown nowhere else.
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroize;

/// A value that is never shown; only the file that kubeadm reads has it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Takes a value out of sight.
    pub const fn new(value: String) -> Self {
        Self(value)
    }

    /// The value, for the one place that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_of_itself() {
        assert_eq!(format!("{:?}", Secret::new("abcdef.0123456789abcdef".to_owned())), "[secret]");
    }
}
