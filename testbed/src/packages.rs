//! Programs of Debian releases, unpacked into the cache beside the host: nothing is installed.
use crate::error::file;
use crate::programs::Programs;
use crate::{Error, Result, base, cache, child, digest, doctor};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A package of a Debian release, pinned to the version of its upstream.
#[derive(Debug)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    /// The release, by its codename.
    suite: &'static str,
    /// Upstream's version; Debian's own revisions of it may follow each other.
    pub version: &'static str,
}

/// Debian 12's container runtime.
pub const CONTAINERD_1_6: Package = Package { name: "containerd", suite: "bookworm", version: "1.6.20" };
/// Debian 13's container runtime.
pub const CONTAINERD_1_7: Package = Package { name: "containerd", suite: "trixie", version: "1.7.24" };
/// The container runtime of Debian's next release.
pub const CONTAINERD_2_1: Package = Package { name: "containerd", suite: "sid", version: "2.1.9" };
/// A registry of images.
pub const REGISTRY: Package = Package { name: "docker-registry", suite: "bookworm", version: "2.8.2" };

/// What Debian's archives are signed with.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// A list of packages has 10 MB, containerd 30 MB.
const LIMIT: Duration = Duration::from_secs(240);
const TRIES: u32 = 3;

impl Package {
    /// Its programs, fetched and unpacked now unless they are there.
    pub fn ensure(&self) -> Result<Programs> {
        let tree = self.tree()?;
        cache::make_once(&tree, |partial| self.unpack(partial))?;
        Ok(Programs::unpacked(tree.join("usr/bin"), self.version))
    }

    /// A file of the package, by its absolute path.
    pub fn file(&self, path: &str) -> Result<PathBuf> {
        self.ensure()?;
        Ok(self.tree()?.join(path.trim_start_matches('/')))
    }

    /// Whether it is there, or could be fetched.
    pub(crate) fn missing(&self) -> Option<String> {
        if self.tree().is_ok_and(|tree| tree.exists()) {
            return None;
        }
        doctor::require(&["apt-get", "dpkg-deb"])
            .err()
            .map(|_| format!("{} {}, or apt to fetch it", self.name, self.version))
    }

    fn tree(&self) -> Result<PathBuf> {
        let Self { name, suite, version } = self;
        let key = digest::short(format!("{suite} {name} {version}"));
        Ok(cache::directory()?.join("programs").join(format!("{name}-{version}-{key}")))
    }

    fn unpack(&self, into: &Path) -> Result<()> {
        doctor::require(&["apt-get", "dpkg-deb"])?;
        println!("testbed: fetching {} {} of Debian {}", self.name, self.version, self.suite);
        let apt = Apt { directory: into.join("apt") };
        let mut said = String::new();
        for attempt in 1..=TRIES {
            match apt.download(self) {
                Ok(package) => {
                    child::check(Command::new("dpkg-deb").arg("-x").arg(&package).arg(into), LIMIT)?;
                    return cache::remove_tree(&apt.directory);
                }
                Err(error @ Error::Misused(_)) => return Err(error),
                Err(error) => said = error.to_string(),
            }
            println!("testbed: try {attempt} of {TRIES} to fetch {}: {said}", self.name);
        }
        Err(Error::Missing {
            what: format!("{} {} ({})", self.name, self.version, said.lines().last().unwrap_or_default()),
            remedy: "make the Debian mirror that apt is configured for reachable".to_owned(),
        })
    }
}

/// apt with lists and a cache of its own, so that the host's stay as they are.
struct Apt {
    directory: PathBuf,
}

impl Apt {
    fn download(&self, package: &Package) -> Result<PathBuf> {
        let Package { name, suite, version } = package;
        cache::remove_tree(&self.directory)?;
        for folder in ["lists/partial", "archives/partial"] {
            let folder = self.directory.join(folder);
            fs::create_dir_all(&folder).map_err(file("create", &folder))?;
        }
        let source = format!("deb [signed-by={KEYRING}] {} {suite} main\n", base::mirror()?);
        let list = self.directory.join("sources.list");
        fs::write(&list, source).map_err(file("write", &list))?;
        child::check(self.command("apt-get").arg("update"), LIMIT)?;
        let known = child::check(self.command("apt-cache").args(["madison", name]), LIMIT)?;
        let full = pinned(&known, version).ok_or_else(|| {
            let known = versions(&known).collect::<Vec<_>>().join(", ");
            let pin = format!("{name} {version}, which testbed/src/packages.rs pins");
            Error::Misused(format!("Debian {suite} no longer has {pin}: it has {known}. Pin another version"))
        })?;
        child::check(self.command("apt-get").args(["download", &format!("{name}={full}")]), LIMIT)?;
        let entries = fs::read_dir(&self.directory).map_err(file("list", &self.directory))?;
        let mut paths = entries.flatten().map(|entry| entry.path());
        let found = paths.find(|path| path.extension().is_some_and(|ending| ending == "deb"));
        found.ok_or_else(|| Error::Unreadable { what: "a download of apt".to_owned(), found: "no package".to_owned() })
    }

    fn command(&self, program: &str) -> Command {
        let here = self.directory.display();
        let mut apt = Command::new(program);
        apt.current_dir(&self.directory);
        for option in [
            format!("Dir::Etc::SourceList={here}/sources.list"),
            "Dir::Etc::SourceParts=/dev/null".to_owned(),
            format!("Dir::State::Lists={here}/lists"),
            format!("Dir::Cache={here}"),
            "Dir::State::Status=/dev/null".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
        ] {
            apt.args(["-o", &option]);
        }
        apt.arg("-q");
        apt
    }
}

/// The versions that apt knows: `containerd | 1.6.20~ds1-1+deb12u3 | http://…`.
fn versions(known: &str) -> impl Iterator<Item = &str> {
    known.lines().filter_map(|line| line.split('|').nth(1)).map(str::trim)
}

/// The first version of Debian's that is of this version of upstream.
fn pinned<'a>(known: &'a str, upstream: &str) -> Option<&'a str> {
    let is_of = |version: &&str| {
        let rest = version.strip_prefix(upstream);
        rest.is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.'))
    };
    versions(known).find(is_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_fits_every_revision_of_its_version_and_no_other_version() {
        let known = "c | 1.6.201-1 | a\nc | 1.6.20.1-1 | a\nc | 1.6.20~ds1-1+deb12u3 | b\nc | 1.6.20-1 | c\n";
        assert_eq!(pinned(known, "1.6.20"), Some("1.6.20~ds1-1+deb12u3"));
        assert_eq!(pinned(known, "1.6.2"), None);
        assert_eq!(pinned("", "1"), None);
    }
}
