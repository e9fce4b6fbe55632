//! What a test needs of its machine, and what is reported where that is missing.
//!
//! [`needs!`](crate::needs!) is the first line of a test that can't run everywhere. Where something is missing, the test is
//! left out: it ends without a verdict, a line on standard error names it, and the end of plain `cargo test` lists all of
//! them. The project's test command leaves nothing out ([`COMPLETE`]): there such a test goes on, and fails.
//!
//! That command runs each test in a process of its own and learns here what it needs. It names what it has granted
//! ([`GRANTED`]); a test that needs more writes its needs into the record of the run and ends at once ([`NOT_GRANTED`]), to
//! be started again when there is room and its programs are built.
use crate::packages::Package;
use crate::programs::{CONTAINERD, COREDNS, ETCD, KUBERNETES, Set, TOOLS};
use crate::record::{Record, Subject};
use crate::{Error, doctor, judges};
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The variable by which a run says that every test of its tier has to run.
pub const COMPLETE: &str = "MACHINEADM_TESTS_COMPLETE";

/// The variable by which a run names the needs that it has granted to this test, with `;` between them.
pub const GRANTED: &str = "MACHINEADM_TESTS_GRANTED";

/// How a test ends that needs what it was not granted: EX_TEMPFAIL of sysexits.
pub const NOT_GRANTED: i32 = 75;

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
    /// Minutes of clocks of others, such as those of the KMS plugin and of kube-apiserver, and hardly a processor.
    Clocks,
    /// The whole machine: it measures, or it emulates a processor.
    Alone,
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
            Self::Nodes => Self::Machines.missing().or_else(|| Self::EachPinned(OF_NODES).missing()),
            Self::ControlPlane => Self::EachPinned(OF_A_CONTROL_PLANE).missing(),
            Self::EachPinned(sets) => sets.iter().find_map(|set| Self::Pinned(set).missing()),
            Self::Pinned(set) => {
                let there = set.is_built().unwrap_or(false) || doctor::require(&["go"]).is_ok();
                (!there).then(|| format!("{}, or Go to build it", set.name))
            }
            Self::Packages(packages) => packages.iter().find_map(|package| package.missing()),
            Self::Judge(name) => judges::find(name).is_none().then(|| name.to_owned()),
            Self::Clocks | Self::Alone => None,
        }
    }

    /// Its lines in the record of a run, each a word and for some a name: `nodes`, `programs etcd-3.6.8`.
    fn lines(self) -> Vec<String> {
        let sets = |sets: &[&Set]| sets.iter().map(|set| format!("{PROGRAMS} {}", set.name)).collect::<Vec<_>>();
        match self {
            Self::Root | Self::Judge(_) | Self::Packages(_) => Vec::new(),
            Self::Machines => vec![MACHINES.to_owned()],
            Self::Nodes => [vec![NODES.to_owned()], sets(OF_NODES)].concat(),
            Self::ControlPlane => [vec![CONTROL_PLANE.to_owned()], sets(OF_A_CONTROL_PLANE)].concat(),
            Self::Pinned(set) => sets(&[set]),
            Self::EachPinned(named) => sets(named),
            Self::Clocks => vec![CLOCKS.to_owned()],
            Self::Alone => vec![ALONE.to_owned()],
        }
    }
}

/// The line of [`Need::Machines`].
pub const MACHINES: &str = "machines";
/// The first line of [`Need::Nodes`].
pub const NODES: &str = "nodes";
/// The first line of [`Need::ControlPlane`].
pub const CONTROL_PLANE: &str = "control-plane";
/// The line of [`Need::Clocks`].
pub const CLOCKS: &str = "clocks";
/// The line of [`Need::Alone`].
pub const ALONE: &str = "alone";
/// The word before the name of a set of pinned programs.
pub const PROGRAMS: &str = "programs";

const OF_NODES: &[&Set] = &[&KUBERNETES, &ETCD, &CONTAINERD, &COREDNS, &TOOLS];
const OF_A_CONTROL_PLANE: &[&Set] = &[&KUBERNETES, &ETCD];

/// Whether the running test is left out because this machine lacks something; tells so.
pub fn are_missing(needs: &[Need]) -> bool {
    if let Ok(granted) = std::env::var(GRANTED) {
        check_granted(needs, &granted);
    }
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

/// Ends the process of a test that needs what its run has not granted.
fn check_granted(needs: &[Need], granted: &str) {
    let granted: BTreeSet<&str> = granted.split(';').collect();
    let lines: Vec<String> = needs.iter().flat_map(|need| need.lines()).collect();
    if lines.iter().all(|line| granted.contains(line.as_str())) {
        return;
    }
    let record = |line: &String| Record::of_this_run().and_then(|record| record.add(Subject::Needs, line));
    let recorded = lines.iter().try_for_each(record);
    assert!(recorded.is_ok(), "the run must learn what this test needs: {recorded:?}");
    std::process::exit(NOT_GRANTED);
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
