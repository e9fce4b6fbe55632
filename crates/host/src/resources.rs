//! What a machine has and is, for whoever judges whether it is fit: disk space, control groups, the clock.
use std::{collections::BTreeSet, time::SystemTime};

/// The space of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// Its size in bytes.
    pub bytes: u64,
    /// What an ordinary user may still take of that.
    pub available: u64,
    /// How many inodes it has; 0 where it makes them as it needs them.
    pub inodes: u64,
    /// How many of them are free.
    pub available_inodes: u64,
}

/// Control groups as `/sys/fs/cgroup` shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroups {
    /// Which version is mounted there.
    pub version: CgroupVersion,
    /// The controllers that can be used.
    pub controllers: BTreeSet<String>,
}

/// A version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupVersion {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy for all.
    V2,
}

/// What the machine knows of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Its clock.
    pub now: SystemTime,
    /// Whether its time service has set the clock; `None` where none tells.
    pub synchronized: Option<bool>,
}
