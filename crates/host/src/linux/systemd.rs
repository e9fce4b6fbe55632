//! Services through systemd, when it runs; and what each had read when it started.
use super::{Linux, drafts::sum_of, program};
use crate::{Error, Inspect, Result, Service, contract};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

pub(super) const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What a service had read of each of its files: one entry a file, so that two documents with different files of one
/// service do not restart it for each other.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    #[serde(default)]
    files: BTreeMap<String, Start>,
}

/// A file as it was at a start of its service, and which start that was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Start {
    digest: String,
    boot: String,
    /// systemd's InvocationID; empty when the service did not run then.
    start: String,
}

/// A service's state and the identity of its present start.
pub(super) fn service(name: &str) -> Result<(Service, String)> {
    if !is_running() {
        return Ok((Service::Unmanaged, String::new()));
    }
    let shown = Shown::of(&format!("{name}.service"), "LoadState,ActiveState,InvocationID")?;
    let state = shown.activity();
    Ok((state, if state == Service::Active { shown.member("InvocationID").to_owned() } else { String::new() }))
}

/// Whether systemd is the service manager of the running system; see sd_booted(3).
pub(super) fn is_running() -> bool {
    Path::new("/run/systemd/system").exists()
}

/// What systemd shows of a unit.
pub(super) struct Shown(String);

impl Shown {
    /// Asks for these properties, separated by commas.
    pub(super) fn of(unit: &str, properties: &str) -> Result<Self> {
        program::output("systemctl", &["show", "-p", properties, "--", unit]).map(Self)
    }

    /// A property; empty where systemd does not show it.
    pub(super) fn member(&self, key: &str) -> &str {
        self.0.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap_or_default()
    }

    /// Needs LoadState and ActiveState.
    pub(super) fn activity(&self) -> Service {
        match (self.member("LoadState"), self.member("ActiveState")) {
            ("not-found", _) => Service::Unknown,
            (_, "active" | "activating" | "reloading") => Service::Active,
            _ => Service::Inactive,
        }
    }
}

/// Whether the service has read this file as it is, or will at its next start.
pub(super) fn has_read(host: &Linux, name: &str, file: &str) -> Result<bool> {
    let (state, start) = service(name)?;
    if state == Service::Unmanaged {
        return Ok(true);
    }
    let Some(read) = record(host, name)?.files.remove(file) else { return Ok(false) };
    // What was noted while it did not run, or before this boot, every later start has read.
    Ok(read.digest == digest(host, file)? && (read.start.is_empty() || read.boot != boot()? || read.start == start))
}

/// The services that are recorded to read a file.
pub(super) fn readers(host: &Linux, file: &str) -> Result<Vec<String>> {
    let dir = host.place_of(contract::SERVICES_DIR);
    let entries = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(format!("read {}", dir.display())))?,
    };
    let mut readers = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io(format!("read {}", dir.display())))?.file_name();
        let Some(service) = name.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
        if record(host, service)?.files.contains_key(file) {
            readers.push(service.to_owned());
        }
    }
    readers.sort();
    Ok(readers)
}

/// Restarts a service if it runs, and notes what it has read or will read: a start reads all its files.
pub(super) fn restart(host: &Linux, name: &str, reads: &[String]) -> Result<()> {
    let unit = format!("{name}.service");
    program::quiet("systemctl", &["daemon-reload"])?;
    match service(name)?.0 {
        Service::Unmanaged => return Ok(()),
        Service::Unknown => {
            return Err(Error::Unfit {
                what: format!("service {name}"),
                why: "systemd has no such unit".into(),
                advice: "install it, or remove it from the configuration, then run again".into(),
            });
        }
        Service::Inactive => {}
        Service::Active => program::quiet("systemctl", &["restart", "--", &unit])?,
    }
    let (boot, start) = (boot()?, service(name)?.1);
    let known = record(host, name)?.files.into_keys();
    let mut files = BTreeMap::new();
    for file in known.chain(reads.iter().cloned()) {
        let read = Start { digest: digest(host, &file)?, boot: boot.clone(), start: start.clone() };
        files.insert(file, read);
    }
    // A file that is gone and that nobody asks for any more is no file of the service.
    files.retain(|file, read| read.digest != ABSENT || reads.contains(file));
    let bytes = serde_json::to_vec(&Record { files }).unwrap_or_default();
    host.state().write(&record_path(name), &bytes, 0o600)
}

/// Waits until a service runs.
pub(super) fn wait_active(name: &str, within: Duration) -> Result<()> {
    let deadline = Instant::now() + within;
    while service(name)?.0 != Service::Active {
        if Instant::now() >= deadline {
            return Err(Error::Unfit {
                what: format!("service {name}"),
                why: format!("did not start within {}s", within.as_secs()),
                advice: format!("check its log: journalctl -u {name}"),
            });
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

fn record_path(name: &str) -> String {
    format!("{}/{name}.json", contract::SERVICES_DIR)
}

/// What can't be read as a record says nothing: the service is then restarted once more.
fn record(host: &Linux, name: &str) -> Result<Record> {
    let stored = host.file(&record_path(name))?;
    Ok(stored.and_then(|file| serde_json::from_slice(file.contents.expose()).ok()).unwrap_or_default())
}

fn boot() -> Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").map_err(Error::io("read the boot's identity"))?;
    Ok(id.trim().to_owned())
}

/// The digest of a file that is not there.
const ABSENT: &str = "absent";

fn digest(host: &Linux, path: &str) -> Result<String> {
    // A program may be larger than what is read at once.
    Ok(sum_of(&host.root, path)?.map_or(ABSENT.to_owned(), |file| file.sum.to_string()))
}
