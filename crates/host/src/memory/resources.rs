//! What a machine in memory has; by default, enough.
use crate::{CgroupVersion, Cgroups, Clock, DiskSpace};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, SystemTime},
};

/// What a machine in memory has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Areas that memory is swapped to.
    pub swaps: Vec<String>,
    /// Memory in bytes.
    pub memory: u64,
    /// Processors.
    pub processors: usize,
    /// File systems that are not the usual one, by the path at which they are mounted.
    pub spaces: BTreeMap<String, DiskSpace>,
    /// Control groups.
    pub cgroups: Cgroups,
    /// The clock.
    pub clock: Clock,
    /// Names that the resolver knows.
    pub names: BTreeSet<String>,
    /// Programs that it does not have.
    pub missing_programs: BTreeSet<String>,
    /// Kernel modules that could be loaded.
    pub loadable: BTreeSet<String>,
}

/// The disk of a machine that has enough.
const USUAL_SPACE: DiskSpace =
    DiskSpace { bytes: 100 << 30, available: 80 << 30, inodes: 1 << 20, available_inodes: 1 << 19 };
/// 2026-11-01, in seconds of Unix.
const NOW: Duration = Duration::from_secs(1_793_491_200);

impl Default for Resources {
    fn default() -> Self {
        let controllers = ["cpu", "cpuset", "io", "memory", "pids"].map(str::to_owned).into();
        Self {
            swaps: Vec::new(),
            memory: 8 << 30,
            processors: 4,
            spaces: BTreeMap::new(),
            cgroups: Cgroups { version: CgroupVersion::V2, controllers },
            clock: Clock { now: SystemTime::UNIX_EPOCH + NOW, synchronized: None },
            names: BTreeSet::new(),
            missing_programs: BTreeSet::new(),
            loadable: ["overlay".to_owned()].into(),
        }
    }
}

impl Resources {
    /// The space of the file system that a path is on.
    pub(super) fn space(&self, path: &str) -> DiskSpace {
        let below = |mount: &str| path.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let mounts = self.spaces.iter().filter(|(mount, _)| below(mount));
        mounts.max_by_key(|(mount, _)| mount.len()).map_or(USUAL_SPACE, |(_, space)| *space)
    }
}
