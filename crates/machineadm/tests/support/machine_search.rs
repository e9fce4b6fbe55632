//! Where secret words are on a machine: its files, its journal, and the arguments and environments of its processes.
use crate::support::encodings::encodings;
use testbed::{Machine, Result};

/// What the sampler has seen.
const SAMPLES: &str = "/srv/samples";
/// Reads arguments and environments of all processes again and again, and writes each word once.
const SAMPLER: &str = "while :; do cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; sleep 0.05; \
                       done | awk '!seen[$0]++ { print; fflush() }' > /srv/samples";
/// How the journal is named among the files.
const JOURNAL: &str = "the journal";

/// Starts to sample what processes of a machine that is on show to others.
pub(crate) fn sample(machine: &Machine) -> Result<()> {
    // In a container on control groups of version 1 systemd does not notice that all of them have ended.
    let limit = "--property=TimeoutStopSec=1";
    machine.check(&["systemd-run", "--quiet", "--unit=sampler", limit, "sh", "-c", SAMPLER]).map(drop)
}

/// Every file that holds one of these words in any form, samples and journal included. The samples must show that a
/// program ran, by a word of its command line: without them the search would prove nothing.
pub(crate) fn holders(machine: &Machine, words: &[&str], ran: &str) -> Result<Vec<String>> {
    // What searches has the words among its arguments.
    machine.check(&["systemctl", "stop", "sampler"])?;
    assert!(machine.read(SAMPLES)?.lines().any(|line| line == ran), "{}: {ran} was not seen", machine.name());
    let forms: Vec<String> = words.iter().flat_map(|word| encodings(word)).collect();
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    let mut holders = machine.files_with(&forms)?;
    machine.shell("journalctl --sync")?;
    let journal = machine.check(&["journalctl", "--no-pager", "--quiet", "--output=export"])?;
    assert!(journal.contains("_CMDLINE="), "the journal has command lines too");
    if forms.iter().any(|form| journal.contains(form)) {
        holders.push(JOURNAL.to_owned());
    }
    Ok(holders)
}
