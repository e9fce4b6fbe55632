//! Finds texts in all that a machine has written.
use super::{Machine, OWN_DISK};
use crate::{Result, child};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);
/// What a machine that is on has in memory.
const MEMORY: [&str; 3] = ["/run", "/tmp", "/dev/shm"];

impl Machine {
    /// The files of the machine's own that hold one of these texts, in the order of paths: on its disk and, while it is on,
    /// in memory. What it shares with other machines it has not written.
    pub fn files_with(&self, texts: &[&str]) -> Result<Vec<String>> {
        let mut find = Command::new("find");
        let places = self.places();
        // An image is one file with many names: each machine has one.
        find.args(places.iter().map(|(place, _)| place)).args(["-xdev", "-type", "f", "-links", "1"]);
        find.args(["-exec", "grep", "-lsaF"]).args(texts.iter().flat_map(|text| ["-e", text])).args(["{}", "+"]);
        // It complains of files that end while it looks; one that sees nothing at all fails the test that uses it.
        let found = child::output(&mut find, child::Input::Nothing, LIMIT)?;
        let inside = |line: &str| {
            let (place, inside) = places.iter().find(|(place, _)| line.starts_with(&place.display().to_string()))?;
            Some(line.replacen(&place.display().to_string(), inside, 1))
        };
        let mut files: Vec<String> = found.stdout.lines().filter_map(inside).collect();
        files.sort();
        Ok(files)
    }

    /// Where the machine's files are on the host, and where in the machine.
    fn places(&self) -> Vec<(PathBuf, String)> {
        let own = OWN_DISK.iter().map(|(own, inside)| (self.directory.join(own), (*inside).to_owned()));
        let mut places: Vec<_> = own.collect();
        places.push((self.directory.join("upper"), String::new()));
        if let Some(leader) = self.leader() {
            let root = PathBuf::from(format!("/proc/{}/root", leader.as_raw_nonzero()));
            places.extend(MEMORY.map(|inside| (root.join(&inside[1..]), inside.to_owned())));
        }
        places
    }
}
