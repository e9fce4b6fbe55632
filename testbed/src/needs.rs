//! What a test needs of its machine, and what is reported where that is missing.
//!
//! [`needs!`](crate::needs!) is the first line of a test that can't run everywhere. Where something is missing, the test is
//! left out: it ends without a verdict, a line on standard error names it, and the end of plain `cargo test` lists all of
//! them. The project's test command leaves nothing out ([`COMPLETE`]): there such a test goes on, and fails.
use crate::packages::Package;
use crate::programs::{CONTAINERD, COREDNS, ETCD, KUBERNETES, Set, TOOLS};
use crate::record::{Record, Subject};
use crate::{Error, doctor, judges};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The variable by which a run says that every test of its tier has to run.
pub const COMPLETE: &str = "MACHINEADM_TESTS_COMPLETE";

/// One thing that a test can't do without.
#[derive(Debug, Clone, Copy)]
pub enum Need {
    /// The rights of root.
    Root,
    /// Machines of the test bed: root, its capabilities, the programs that `doctor` lists.
    Machines,
    /// Machines that Kubernetes runs on.
    Nodes,
    /// A control plane on loopback.
    ControlPlane,
    /// Programs of others that are pinned: built already, or Go to build them with.
    Pinned(&'static Set),
    /// The same of several sets.
    EachPinned(&'static [&'static Set]),
    /// Packages of Debian releases: unpacked already, or apt to fetch them with.
    Packages(&'static [&'static Package]),
    /// A program of others that Debian has.
    Judge(&'static str),
}

impl Need {
    /// What this machine lacks, if it lacks it.
    fn missing(self) -> Option<String> {
        match self {
            Self::Root => (!rustix::process::geteuid().is_root()).then(|| "root".to_owned()),
            Self::Machines => match doctor::require_machines() {
                Err(Error::Missing { what, .. }) => Some(what),
                other => other.err().map(|error| error.to_string()),
            },
            Self::Nodes => {
                let sets = Self::EachPinned(&[&KUBERNETES, &ETCD, &CONTAINERD, &COREDNS, &TOOLS]);
                Self::Machines.missing().or_else(|| sets.missing())
            }
            Self::ControlPlane => Self::EachPinned(&[&KUBERNETES, &ETCD]).missing(),
            Self::EachPinned(sets) => sets.iter().find_map(|set| Self::Pinned(set).missing()),
            Self::Pinned(set) => {
                let there = set.is_built().unwrap_or(false) || doctor::require(&["go"]).is_ok();
                (!there).then(|| format!("{}, or Go to build it", set.name))
            }
            Self::Packages(packages) => packages.iter().find_map(|package| package.missing()),
            Self::Judge(name) => judges::find(name).is_none().then(|| name.to_owned()),
        }
    }
}

/// Whether the running test is left out because this machine lacks something; tells so.
pub fn are_missing(needs: &[Need]) -> bool {
    if std::env::var_os(COMPLETE).is_some() {
        return false;
    }
    let missing: Vec<String> = needs.iter().filter_map(|need| need.missing()).collect();
    if missing.is_empty() {
        return false;
    }
    let line = format!("{}: needs {}", running_test(), missing.join("; "));
    // A property test asks for each of its cases.
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if !TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(line.clone()) {
        return true;
    }
    // Past the harness, which would keep it back: a test that is left out counts as passed there.
    let told = writeln!(std::io::stderr(), "left out: {line}");
    let recorded = Record::of_this_run().and_then(|record| record.add(Subject::LeftOut, &line));
    assert!(told.is_ok() && recorded.is_ok(), "a test must not be left out silently: {line}");
    true
}

/// The test's file and name; the harness calls the thread of a test like it.
fn running_test() -> String {
    let binary = std::env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let binary = binary.unwrap_or_default();
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    format!("{}::{name}", binary.rsplit_once('-').map_or(binary.as_str(), |(name, _)| name))
}

/// What a test returns that is left out.
pub trait NoVerdict {
    /// The value.
    fn no_verdict() -> Self;
}

impl NoVerdict for () {
    fn no_verdict() -> Self {}
}

impl<E> NoVerdict for Result<(), E> {
    fn no_verdict() -> Self {
        Ok(())
    }
}

/// Leaves the running test out unless this machine has all that it needs: `testbed::needs!(Root, Pinned(&KUBERNETES));`.
#[macro_export]
macro_rules! needs {
    ($($need:ident $(($of:expr))?),+ $(,)?) => {
        if $crate::needs::are_missing(&[$($crate::needs::Need::$need $(($of))?),+]) {
            return $crate::needs::NoVerdict::no_verdict();
        }
    };
}
