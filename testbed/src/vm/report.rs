//! What the virtual machine reports on its second serial port, as `inside.sh` writes it.

/// What a virtual machine reported until it was off.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The file system type at `/sys/fs/cgroup`, as the kernel names it.
    pub control_groups: String,
    /// The test programs that were started, in their order.
    pub programs: Vec<Outcome>,
}

/// How one test program ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Its name.
    pub name: String,
    /// Its exit code; `None` if the virtual machine was off before its end.
    pub exit_code: Option<i32>,
    /// How many of its tests passed.
    pub passed: u32,
    /// How many of its tests failed.
    pub failed: u32,
}

impl Report {
    /// Reads the lines that a serial port has written.
    pub(super) fn read(text: &str) -> Self {
        let mut report = Self::default();
        for line in text.lines() {
            report.take(line.trim_end());
        }
        report
    }

    fn take(&mut self, line: &str) {
        if let Some(kind) = line.strip_prefix(">>> control groups: ") {
            kind.clone_into(&mut self.control_groups);
        } else if let Some(name) = line.strip_prefix(">>> start ") {
            self.programs.push(Outcome { name: name.to_owned(), ..Outcome::default() });
        } else if let Some(outcome) = self.programs.last_mut() {
            outcome.take(line);
        }
    }
}

impl Outcome {
    fn take(&mut self, line: &str) {
        if let Some(end) = line.strip_prefix(">>> end ") {
            self.exit_code = end.strip_prefix(&self.name).and_then(|code| code.trim().parse().ok());
        } else if let Some(counts) = line.strip_prefix("test result: ") {
            self.passed += count(counts, "passed");
            self.failed += count(counts, "failed");
        }
    }
}

/// The number before a word: `ok. 4 passed; 0 failed; …`.
fn count(counts: &str, word: &str) -> u32 {
    let words: Vec<&str> = counts.split([' ', ';']).collect();
    let number = words.windows(2).find(|pair| pair[1] == word).and_then(|pair| pair[0].parse().ok());
    number.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_tells_what_ran_and_how_it_ended() {
        let text = ">>> control groups: cgroup2fs\r\n>>> start services\r\nrunning 4 tests\r\n\
            test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured\r\n>>> end services 101\r\n>>> start modes\r\n";
        let report = Report::read(text);
        assert_eq!(report.control_groups, "cgroup2fs");
        let services = Outcome { name: "services".to_owned(), exit_code: Some(101), passed: 3, failed: 1 };
        let modes = Outcome { name: "modes".to_owned(), ..Outcome::default() };
        assert_eq!(report.programs, [services, modes]);
    }
}
