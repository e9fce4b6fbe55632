//! One Go build: downloads with a short time limit and retries, then the compiler without the network.
use super::{KMS_PEER, Set};
use crate::error::file;
use crate::{Error, Result, cache, child, doctor};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A download may stand still for ever on an open connection; what has arrived is kept for the next try.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(240);
const DOWNLOAD_TRIES: u32 = 4;
/// Kubernetes takes 7 minutes on two idle cores.
const COMPILE_LIMIT: Duration = Duration::from_secs(45 * 60);

/// Sets that call C code, which the others do without: a PKCS#11 module is a C library.
const WITH_C: &[&str] = &[KMS_PEER.name];

/// Builds a set into an empty directory.
pub(super) fn build(set: &Set, into: &Path) -> Result<()> {
    doctor::require(&["go"])?;
    doctor::require_disk(into, set.disk)?;
    let began = Instant::now();
    println!("testbed: building {} (needs up to {} GiB of disk while it builds)", set.name, set.disk);
    let work = cache::directory()?.join("go").join(set.name);
    let pins = work.join("pins");
    cache::remove_tree(&pins)?;
    for (name, text) in set.files {
        let path = pins.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(file("create", parent))?;
        }
        fs::write(&path, text).map_err(file("write", &path))?;
    }
    let calls_c = WITH_C.contains(&set.name);
    let go = Go { work, pins, calls_c };
    download(&go, set)?;
    println!("testbed: {}: sources are here after {:.0?}", set.name, began.elapsed());
    go.compile(set, into)?;
    cache::remove_tree(&go.work)?;
    println!("testbed: built {} in {:.0?}", set.name, began.elapsed());
    Ok(())
}

fn download(go: &Go, set: &Set) -> Result<()> {
    let packages = set.programs.iter().map(|(_, package)| *package);
    let mut words = vec!["-mod=readonly", "-deps"];
    words.extend(set.programs.iter().any(|(program, _)| is_tests(program)).then_some("-test"));
    words.extend(packages);
    let mut said = String::new();
    for attempt in 1..=DOWNLOAD_TRIES {
        match child::check(go.command("list").args(&words), DOWNLOAD_LIMIT) {
            Ok(_) => return Ok(()),
            Err(error) => {
                said = error.to_string();
                println!("testbed: {}: try {attempt} of {DOWNLOAD_TRIES} to download: {said}", set.name);
            }
        }
    }
    Err(Error::Missing {
        what: format!("the source of {} ({})", set.name, said.lines().last().unwrap_or_default()),
        remedy: "make a Go module proxy reachable (GOPROXY), then run `cargo run -p testbed -- build`".to_owned(),
    })
}

/// Where one set is built: sources and compiler cache of its own, dropped when the programs are there.
struct Go {
    work: PathBuf,
    pins: PathBuf,
    calls_c: bool,
}

impl Go {
    fn command(&self, verb: &str) -> Command {
        let mut go = Command::new("go");
        go.arg(verb).current_dir(&self.pins);
        go.env("CGO_ENABLED", if self.calls_c { "1" } else { "0" })
            .env("GOFLAGS", "-modcacherw")
            .env("GOTOOLCHAIN", "local")
            .env("GOWORK", "off");
        go.env("GOMODCACHE", self.work.join("modules")).env("GOCACHE", self.work.join("compiled"));
        go.env("GOPATH", self.work.join("path"));
        go
    }

    /// All programs in one call, so that one is linked while another is still compiled; then the packages' tests.
    fn compile(&self, set: &Set, into: &Path) -> Result<()> {
        let stamps = set.stamps.iter().map(|(variable, value)| format!(" -X {variable}={value}"));
        let linker = format!("-s -w{}", stamps.collect::<String>());
        let offline = |verb: &str| {
            let mut go = self.command(verb);
            go.env("GOPROXY", "off").args(["-mod=readonly", "-trimpath", "-ldflags", &linker]);
            go
        };
        let (tests, programs): (Vec<_>, Vec<_>) = set.programs.iter().partition(|(program, _)| is_tests(program));
        let mut go = offline("build");
        go.arg("-o").arg(into.join(".")).args(programs.iter().map(|(_, package)| package));
        child::check(&mut go, COMPILE_LIMIT)?;
        for (program, package) in programs {
            let built = into.join(built_as(package));
            fs::rename(&built, into.join(program)).map_err(file("rename", built))?;
        }
        for (program, package) in tests {
            child::check(offline("test").arg("-c").arg("-o").arg(into.join(program)).arg(package), COMPILE_LIMIT)?;
        }
        Ok(())
    }
}

/// Whether a program is the tests of its package, which Go names so.
fn is_tests(program: &str) -> bool {
    program.ends_with(".test")
}

/// What Go calls the program of a package: its last element that is not a major version.
fn built_as(package: &str) -> &str {
    let is_major = |element: &str| element.strip_prefix('v').is_some_and(|digits| digits.parse::<u32>().is_ok());
    package.rsplit('/').find(|element| !is_major(element)).unwrap_or(package)
}
