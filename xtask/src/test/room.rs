//! How much of the machine a job takes, and how much there is: processors, memory, instances of inotify.
use std::collections::BTreeSet;
use std::fs;
use testbed::needs;

/// How a job uses the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// It uses a processor while it runs: as many at once as there are.
    Computing,
    /// It computes as well, and others of its kind would wait for it: cargo in one folder.
    Compiling,
    /// It builds programs of others, and uses all processors that are free: one at a time.
    Building,
    /// It waits for machines, control planes or clocks most of its time: as many at once as memory and inotify allow.
    Waiting,
    /// It measures, or emulates a processor: nothing beside it.
    Alone,
}

/// What a job takes while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) class: Class,
    /// In MiB.
    memory: u64,
    /// Of inotify.
    instances: u64,
}

/// What tests take that wait: the need, and how much memory (in MiB) and how many instances of inotify they had at most.
/// A node has some 25 instances and 0.3 to 1 GiB; tests of nodes have two to four.
const WAITING: &[(&str, u64, u64)] = &[
    (needs::NODES, 3584, 120),
    (needs::CONTROL_PLANE, 1536, 10),
    (needs::MACHINES, 1024, 30),
    (needs::CLOCKS, 256, 5),
];
/// A process of ours, or a compiler.
const COMPUTING: u64 = 512;
/// What stays for the system, for its cache of files, and for builds.
const RESERVE: u64 = 4096;
/// Waiting jobs for each processor at most, and one more: a machine that boots computes for some seconds.
const WAITING_PER_CORE: usize = 2;

impl Cost {
    pub(super) fn of(class: Class) -> Self {
        Self { class, memory: COMPUTING, instances: 0 }
    }

    /// From the lines of `testbed::needs`.
    pub(super) fn of_needs(lines: &BTreeSet<String>) -> Self {
        if lines.contains(needs::ALONE) {
            return Self::of(Class::Alone);
        }
        let waiting = WAITING.iter().find(|(line, ..)| lines.contains(*line));
        waiting.map_or(Self::of(Class::Computing), |(_, memory, instances)| Self {
            class: Class::Waiting,
            memory: *memory,
            instances: *instances,
        })
    }
}

/// What the machine has for jobs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) cores: usize,
    pub(super) memory: u64,
    pub(super) instances: u64,
}

impl Room {
    pub(super) fn of_this_machine() -> Result<Self, String> {
        let available = number_after("/proc/meminfo", "MemAvailable:")? >> 10;
        let instances = number_after("/proc/sys/fs/inotify/max_user_instances", "")?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self { cores, memory: available.saturating_sub(RESERVE), instances })
    }

    /// Whether a job of this cost may start beside those that run.
    pub(super) fn has_room_for(&self, cost: Cost, running: &[Cost]) -> bool {
        let count = |class| running.iter().filter(|cost| cost.class == class).count();
        if count(Class::Alone) > 0 {
            return false;
        }
        let sum = |part: fn(&Cost) -> u64| running.iter().map(part).sum::<u64>() + part(&cost);
        let fits = sum(|cost| cost.memory) <= self.memory && sum(|cost| cost.instances) <= self.instances;
        match cost.class {
            Class::Computing => count(Class::Computing) + count(Class::Compiling) < self.cores,
            Class::Compiling => count(Class::Compiling) == 0 && count(Class::Computing) < self.cores,
            Class::Building => count(Class::Building) == 0,
            // One that is larger than the machine is tried by itself.
            Class::Waiting => {
                count(Class::Waiting) == 0 || (fits && count(Class::Waiting) <= self.cores * WAITING_PER_CORE)
            }
            Class::Alone => running.is_empty(),
        }
    }
}

/// The number behind a word of a file of the kernel.
fn number_after(file: &str, word: &str) -> Result<u64, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let rest = text.split_once(word).map(|(_, rest)| rest.split_whitespace().next());
    rest.flatten().and_then(|number| number.parse().ok()).ok_or_else(|| format!("{file} has no number after `{word}`"))
}

/// How much the processors have done, counted by the kernel since it started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Busy {
    work: u64,
    all: u64,
}

impl Busy {
    pub(super) fn now() -> Self {
        Self::read(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// From the first line of /proc/stat, whose fourth and fifth number count nothing done.
    fn read(text: &str) -> Self {
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = line.split_whitespace().skip(1).take(8).filter_map(|tick| tick.parse().ok()).collect();
        let all: u64 = ticks.iter().sum();
        let idle: u64 = ticks.iter().skip(3).take(2).sum();
        Self { work: all - idle, all }
    }

    /// The share of the time since then in which processors worked, in percent.
    pub(super) fn share_since(self, then: Self) -> f64 {
        let all = self.all.saturating_sub(then.all).max(1);
        self.work.saturating_sub(then.work) as f64 * 100.0 / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { cores: 2, memory: 16_000, instances: 1000 };

    fn cost(line: &str) -> Cost {
        Cost::of_needs(&[line.to_owned()].into())
    }

    #[test]
    fn as_many_compute_as_there_are_processors_and_others_wait_beside_them() {
        let computing = cost("programs etcd-1");
        assert_eq!(computing.class, Class::Computing);
        assert!(ROOM.has_room_for(computing, &[computing, cost(needs::NODES)]));
        assert!(!ROOM.has_room_for(computing, &[computing, computing]));
        assert!(ROOM.has_room_for(cost(needs::NODES), &[computing, computing]));
    }

    #[test]
    fn one_job_compiles_in_the_place_of_one_that_computes() {
        let (computing, compiling) = (Cost::of(Class::Computing), Cost::of(Class::Compiling));
        assert!(ROOM.has_room_for(compiling, &[computing]));
        assert!(!ROOM.has_room_for(compiling, &[computing, computing]));
        assert!(!ROOM.has_room_for(compiling, &[compiling]));
        assert!(ROOM.has_room_for(computing, &[compiling]));
        assert!(!ROOM.has_room_for(computing, &[compiling, computing]));
    }

    #[test]
    fn waiting_jobs_are_as_many_as_memory_inotify_and_a_limit_allow() {
        let node = cost(needs::NODES);
        let at_once =
            |room: Room, cost: Cost| (1..).find(|count| !room.has_room_for(cost, &vec![cost; *count])).unwrap();
        assert_eq!(at_once(ROOM, node), 4);
        assert_eq!(at_once(Room { instances: 300, ..ROOM }, node), 2);
        assert_eq!(at_once(ROOM, cost(needs::CLOCKS)), 5);
        assert_eq!(at_once(Room { memory: 1, ..ROOM }, node), 1, "one is tried even on the smallest machine");
    }

    #[test]
    fn what_measures_runs_alone_and_one_build_at_a_time() {
        let alone = cost(needs::ALONE);
        assert!(ROOM.has_room_for(alone, &[]));
        assert!(!ROOM.has_room_for(alone, &[cost(needs::CLOCKS)]));
        assert!(!ROOM.has_room_for(cost(needs::CLOCKS), &[alone]));
        let building = Cost::of(Class::Building);
        assert!(ROOM.has_room_for(building, &[Cost::of(Class::Computing); 2]));
        assert!(!ROOM.has_room_for(building, &[building]));
    }

    #[test]
    fn the_share_of_work_leaves_out_idle_time_and_waiting_for_disks() {
        let then = Busy::read("cpu  10 0 10 100 20 0 0 0 0 0\ncpu0 1 1 1 1\n");
        let now = Busy::read("cpu  30 0 20 130 60 0 0 0 0 0\n");
        assert_eq!(now.share_since(then), 30.0);
    }
}
