//! The queue: which job starts next, and which wait for programs that are being built.
use super::job::{Job, Work};
use super::room::{Cost, Room};
use std::collections::BTreeSet;

/// Jobs that wait and jobs that run.
#[derive(Debug)]
pub(super) struct Queue {
    /// The longest last.
    waiting: Vec<Job>,
    running: Vec<(String, Cost)>,
    /// Pinned sets that are not built yet.
    not_built: BTreeSet<String>,
}

impl Queue {
    pub(super) fn of(jobs: Vec<Job>) -> Self {
        let set = |job: &Job| if let Work::Build(set) = job.work { Some(set.to_owned()) } else { None };
        let not_built = jobs.iter().filter_map(set).collect();
        let mut queue = Self { waiting: jobs, running: Vec::new(), not_built };
        queue.sort();
        queue
    }

    pub(super) fn add(&mut self, job: Job) {
        self.waiting.push(job);
        self.sort();
    }

    fn sort(&mut self) {
        self.waiting.sort_by_key(|job| job.expected);
    }

    /// The longest job that there is room for and whose programs are built; it counts as running from now on.
    pub(super) fn start_next(&mut self, room: &Room) -> Option<Job> {
        let running: Vec<Cost> = self.running.iter().map(|(_, cost)| *cost).collect();
        let can_start =
            |job: &Job| job.sets().all(|set| !self.not_built.contains(set)) && room.has_room_for(job.cost(), &running);
        let job = self.waiting.remove(self.waiting.iter().rposition(can_start)?);
        self.running.push((job.name.clone(), job.cost()));
        Some(job)
    }

    /// A job has ended; if it built programs, those that wait for them may start.
    pub(super) fn end(&mut self, job: &Job, well: bool) {
        if let Some(at) = self.running.iter().position(|(name, _)| *name == job.name) {
            self.running.remove(at);
        }
        if let (Work::Build(set), true) = (&job.work, well) {
            self.not_built.remove(*set);
        }
    }

    pub(super) fn nothing_runs(&self) -> bool {
        self.running.is_empty()
    }

    /// The names of what runs.
    pub(super) fn running(&self) -> Vec<&str> {
        self.running.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Those whose programs could not be built.
    pub(super) fn never_started(self) -> Vec<Job> {
        self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::History;
    use super::super::job::tests::test;
    use super::*;
    use std::time::Duration;
    use testbed::needs;

    const ROOM: Room = Room { cores: 1, memory: 8_000, instances: 1000 };

    fn job(path: &str, seconds: u64, needs: &[&str]) -> Job {
        let job = Job::of_test(test(path, None), &History::read("{}"));
        let needs = needs.iter().map(|line| (*line).to_owned()).collect();
        Job { expected: Duration::from_secs(seconds), name: path.to_owned(), ..job.with_needs(needs) }
    }

    fn started(queue: &mut Queue) -> Vec<String> {
        std::iter::from_fn(|| queue.start_next(&ROOM)).map(|job| job.name).collect()
    }

    #[test]
    fn the_longest_that_fits_starts_first() {
        let jobs = vec![
            job("short", 1, &[]),
            job("long", 9, &[]),
            job("node", 5, &[needs::NODES]),
            job("node 2", 4, &[needs::NODES]),
            job("node 3", 3, &[needs::NODES]),
        ];
        let mut queue = Queue::of(jobs);
        assert_eq!(started(&mut queue), ["long", "node", "node 2"]);
        queue.end(&job("long", 9, &[]), true);
        assert_eq!(started(&mut queue), ["short"]);
        queue.end(&job("node", 5, &[]), false);
        assert_eq!(started(&mut queue), ["node 3"]);
        assert_eq!(queue.running(), ["node 2", "short", "node 3"]);
    }

    #[test]
    fn a_test_starts_when_its_programs_are_built_and_never_if_they_can_not_be() {
        let build = Job { work: Work::Build("etcd-1"), ..job("build etcd-1", 100, &[]) };
        let jobs = || vec![build.clone(), job("needs it", 50, &["programs etcd-1"]), job("does not", 1, &[])];
        let mut queue = Queue::of(jobs());
        assert_eq!(started(&mut queue), ["build etcd-1", "does not"]);
        queue.end(&job("does not", 1, &[]), true);
        assert_eq!(started(&mut queue), [""; 0]);
        queue.end(&build, true);
        assert_eq!(started(&mut queue), ["needs it"]);

        let mut queue = Queue::of(jobs());
        started(&mut queue);
        queue.end(&build, false);
        queue.end(&job("does not", 1, &[]), true);
        assert!(started(&mut queue).is_empty() && queue.nothing_runs());
        assert_eq!(queue.never_started().len(), 1);
    }
}
