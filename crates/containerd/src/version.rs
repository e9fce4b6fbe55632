//! Versions: of containerd, and of its configuration file.
use std::fmt;

/// The version of an installed containerd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Such as 2 of 2.1.9.
    pub major: u32,
    /// Such as 1 of 2.1.9.
    pub minor: u32,
}

/// Why a containerd cannot be configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedVersion {
    /// What it prints is not a version.
    #[error("containerd --version printed no version: {}", objects::one_line(.0))]
    NoVersion(String),
    /// machineadm does not know its configuration.
    #[error("containerd {0} is not supported; install containerd 1.6 to 2.x")]
    Unknown(Version),
}

impl Version {
    /// Reads the output of `containerd --version`: program, package, version, revision.
    pub fn read(output: &str) -> Result<Self, UnsupportedVersion> {
        let word = output.split_whitespace().nth(2).unwrap_or_default();
        let mut numbers = word.trim_start_matches('v').split('.').map(leading_number);
        let (Some(Some(major)), Some(Some(minor))) = (numbers.next(), numbers.next()) else {
            return Err(UnsupportedVersion::NoVersion(output.to_owned()));
        };
        let version = Self { major, minor };
        let is_supported = (major == 1 && minor >= 6) || major == 2;
        if is_supported { Ok(version) } else { Err(UnsupportedVersion::Unknown(version)) }
    }

    /// The newest configuration version that it reads.
    pub(crate) const fn newest(self) -> ConfigVersion {
        match (self.major, self.minor) {
            (..2, _) => ConfigVersion::V2,
            (2, ..3) => ConfigVersion::V3,
            _ => ConfigVersion::V4,
        }
    }

    /// The configuration version of a new file. Version 3 is read by all of 2.x, so that a downgrade within it works.
    pub(crate) const fn of_new_file(self) -> ConfigVersion {
        if self.major < 2 { ConfigVersion::V2 } else { ConfigVersion::V3 }
    }

    /// Whether an imported file replaces whole tables of plugins, as it does before 2.0.
    pub(crate) const fn imports_replace_tables(self) -> bool {
        self.major < 2
    }
}

fn leading_number(word: &str) -> Option<u32> {
    let end = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
    word[..end].parse().ok()
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The version of a configuration file that can be edited. Version 1 cannot: its plugins have other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigVersion {
    /// One CRI plugin; since containerd 1.3.
    V2,
    /// CRI in two plugins; since containerd 2.0.
    V3,
    /// Servers are plugins; since containerd 2.3.
    V4,
}

impl ConfigVersion {
    pub(crate) const fn read(number: i64) -> Option<Self> {
        match number {
            2 => Some(Self::V2),
            3 => Some(Self::V3),
            4 => Some(Self::V4),
            _ => None,
        }
    }

    /// The number in the file.
    pub const fn number(self) -> i64 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
            Self::V4 => 4,
        }
    }

    /// The first containerd that reads it.
    pub(crate) const fn since(self) -> &'static str {
        match self {
            Self::V2 => "1.3",
            Self::V3 => "2.0",
            Self::V4 => "2.3",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_containerd_says_its_version() {
        for (output, major, minor) in [
            ("containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3", 1, 6),
            ("containerd containerd.io 1.7.24 88bf19b2105c8b17560993bee28a01ddc2f97182", 1, 7),
            ("containerd github.com/containerd/containerd/v2 2.1.9+unknown ", 2, 1),
            ("containerd github.com/containerd/containerd/v2 v2.4.2 \n", 2, 4),
        ] {
            assert_eq!(Version::read(output), Ok(Version { major, minor }), "{output}");
        }
    }

    #[test]
    fn what_is_no_version_or_an_unknown_one_is_refused() {
        for output in ["", "containerd", "containerd a b c", "containerd a 1 c"] {
            assert!(matches!(Version::read(output), Err(UnsupportedVersion::NoVersion(_))), "{output}");
        }
        for (major, minor) in [(0, 2), (1, 5), (3, 0)] {
            let read = Version::read(&format!("containerd package v{major}.{minor}.0 revision"));
            assert_eq!(read, Err(UnsupportedVersion::Unknown(Version { major, minor })));
        }
    }

    #[test]
    fn a_containerd_reads_versions_up_to_its_own_and_writes_the_oldest() {
        let versions = |major, minor| {
            let version = Version { major, minor };
            (version.newest().number(), version.of_new_file().number())
        };
        assert_eq!((versions(1, 6), versions(1, 7)), ((2, 2), (2, 2)));
        assert_eq!((versions(2, 0), versions(2, 2), versions(2, 3), versions(2, 4)), ((3, 3), (3, 3), (4, 3), (4, 3)));
    }
}
