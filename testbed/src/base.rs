//! The root file system below every machine: Debian, as the host's own package sources give it.
use crate::error::file;
use crate::{Error, Result, cache, child, digest, doctor};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What every machine has.
const PACKAGES: &[&str] = &[
    "ca-certificates",
    "chrony",
    "cloud-init",
    "conntrack",
    "containerd",
    "containernetworking-plugins",
    "curl",
    "dbus",
    "iproute2",
    "iptables",
    "iputils-ping",
    "kmod",
    "locales",
    "nftables",
    "procps",
    "runc",
    "socat",
    "systemd",
    "systemd-sysv",
    "udev",
];

/// 80 seconds on two half-busy cores.
const LIMIT: Duration = Duration::from_secs(15 * 60);
const TRIES: u32 = 2;

/// The base with these packages besides the usual ones; made now unless the cache has it.
pub(crate) fn ensure(further: &[String]) -> Result<PathBuf> {
    let sources = sources()?;
    let mut packages: Vec<&str> = PACKAGES.iter().copied().chain(further.iter().map(String::as_str)).collect();
    packages.sort_unstable();
    packages.dedup();
    let packages = packages.join(",");
    let key = digest::short(format!("{} {packages}", sources.suite));
    let place = cache::directory()?.join("bases").join(format!("{}-{key}", sources.suite));
    cache::make_once(&place, |partial| make(&sources, &packages, partial))?;
    Ok(place)
}

fn make(sources: &Sources, packages: &str, into: &Path) -> Result<()> {
    doctor::require(&["mmdebstrap"])?;
    let began = Instant::now();
    println!("testbed: making a root file system of {} (needs 1 GiB of disk)", sources.suite);
    let mut said = String::new();
    for attempt in 1..=TRIES {
        // It mounts /proc and /sys where the host does not see them, and dies with this process: the next run removes what
        // it left half made, and must neither meet it nor its mounts.
        let mut mmdebstrap = Command::new("setpriv");
        mmdebstrap.args([
            "--pdeathsig",
            "KILL",
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
        ]);
        mmdebstrap
            .args(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase"])
            .arg(format!("--include={packages}"));
        mmdebstrap.args(["--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*"]);
        mmdebstrap.arg(&sources.suite).arg(into).args(&sources.files);
        match child::check(&mut mmdebstrap, LIMIT) {
            Ok(_) => {
                println!("testbed: made the root file system in {:.0?}", began.elapsed());
                return Ok(());
            }
            Err(error) => {
                said = error.to_string();
                println!("testbed: try {attempt} of {TRIES} to make the root file system: {said}");
                cache::remove_tree(into)?;
            }
        }
    }
    Err(Error::Missing {
        what: format!("a root file system ({})", said.lines().last().unwrap_or_default()),
        remedy: "make the Debian mirror that apt is configured for reachable".to_owned(),
    })
}

/// Where the host itself gets its packages from.
pub(crate) struct Sources {
    suite: String,
    files: Vec<PathBuf>,
}

/// The host's own source files that serve its own release; others (browsers, vendors) are left alone.
pub(crate) fn sources() -> Result<Sources> {
    let release = fs::read_to_string("/etc/os-release").map_err(file("read", "/etc/os-release"))?;
    let suite = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let suite = suite.unwrap_or_default().trim_matches('"').to_owned();
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let listed = fs::read_dir("/etc/apt/sources.list.d").map(|entries| entries.flatten().map(|entry| entry.path()));
    files.extend(listed.into_iter().flatten());
    files.retain(|path| {
        let apt_reads_it = path.extension().is_some_and(|ending| ending == "list" || ending == "sources");
        apt_reads_it && fs::read_to_string(path).is_ok_and(|text| serves(&text, &suite))
    });
    files.sort();
    if suite.is_empty() || files.is_empty() {
        let remedy = "use a Debian or Ubuntu host whose apt is configured for its own release".to_owned();
        return Err(Error::Missing { what: "a package source of the host".to_owned(), remedy });
    }
    Ok(Sources { suite, files })
}

/// The mirror that the host's own packages come from, which has all releases.
pub(crate) fn mirror() -> Result<String> {
    let sources = sources()?;
    let texts = sources.files.iter().filter_map(|path| fs::read_to_string(path).ok());
    let found = texts.filter_map(|text| uri(&text, &sources.suite)).next();
    found.ok_or_else(|| Error::Missing {
        what: "the address of the host's package source".to_owned(),
        remedy: "give apt a source with an http or https address".to_owned(),
    })
}

/// The address in a source of either of apt's two forms, of the part that has this release.
fn uri(text: &str, suite: &str) -> Option<String> {
    let parts = text.split("\n\n").filter(|part| serves(part, suite));
    let words = |part: &str| -> Vec<String> {
        let lines = part.lines().filter(|line| line.starts_with("URIs:") || line.starts_with("deb "));
        lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
    };
    parts.flat_map(words).find(|word| word.starts_with("http://") || word.starts_with("https://"))
}

/// Whether a source file has the release itself, in either of apt's two forms.
fn serves(text: &str, suite: &str) -> bool {
    text.lines().filter(|line| line.starts_with("Suites:") || line.starts_with("deb ")).any(|line| {
        let mut words = line.split_whitespace();
        words.any(|word| word == suite)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_that_of_the_release() {
        let text = "Types: deb\nURIs: http://vendor/a\nSuites: nodistro\n\nTypes: deb\nURIs: http://mirror/b\n\
                    Suites: bookworm bookworm-updates\n";
        assert_eq!(uri(text, "bookworm").as_deref(), Some("http://mirror/b"));
        assert_eq!(
            uri("deb [arch=amd64] https://mirror/c bookworm main\n", "bookworm").as_deref(),
            Some("https://mirror/c")
        );
        assert_eq!(uri("deb cdrom:x bookworm main\n", "bookworm"), None);
    }

    #[test]
    fn a_vendors_source_is_not_mistaken_for_the_release() {
        assert!(serves("Types: deb\nSuites: bookworm bookworm-updates\n", "bookworm"));
        assert!(serves("deb http://mirror/debian bookworm main\n", "bookworm"));
        assert!(!serves("Types: deb\nSuites: nodistro\n", "bookworm"));
        assert!(!serves("deb http://vendor/apt cloud-sdk-bookworm main\n", "bookworm"));
    }
}
