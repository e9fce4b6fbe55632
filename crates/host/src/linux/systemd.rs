//! Services through systemd, when it runs; and what each had read when it started.
use super::{Linux, files, program};
use crate::{Error, Result, Service, act::hex, contract};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// What a service had read, and which start that was.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    digest: String,
    boot: String,
    /// systemd's InvocationID; empty when the service did not run then.
    start: String,
}

/// A service's state and the identity of its present start.
pub(super) fn service(name: &str) -> Result<(Service, String)> {
    if !Path::new("/run/systemd/system").exists() {
        return Ok((Service::Unmanaged, String::new()));
    }
    let unit = format!("{name}.service");
    let shown = program::output("systemctl", &["show", "-p", "LoadState,ActiveState,InvocationID", "--", &unit])?;
    let member = |key: &str| {
        shown.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=')).unwrap_or_default().to_owned()
    };
    let state = match (member("LoadState").as_str(), member("ActiveState").as_str()) {
        ("not-found", _) => Service::Unknown,
        (_, "active" | "activating" | "reloading") => Service::Active,
        _ => Service::Inactive,
    };
    Ok((state, if state == Service::Active { member("InvocationID") } else { String::new() }))
}

/// Whether the service has read these files as they are, or will at its next start.
pub(super) fn has_read(host: &Linux, name: &str, reads: &[String]) -> Result<bool> {
    let (state, start) = service(name)?;
    if state == Service::Unmanaged {
        return Ok(true);
    }
    let kept = files::read(&host.root, &record_path(name))?;
    let Some(record) = kept.and_then(|file| serde_json::from_slice::<Record>(file.contents.expose()).ok()) else {
        return Ok(false);
    };
    // What was noted while it did not run, or before this boot, every later start has read.
    Ok(record.digest == digest(host, reads)?
        && (record.start.is_empty() || record.boot != boot()? || record.start == start))
}

/// Restarts a service if it runs, and notes what it has read or will read.
pub(super) fn restart(host: &Linux, name: &str, reads: &[String]) -> Result<()> {
    let unit = format!("{name}.service");
    program::quiet("systemctl", &["daemon-reload"])?;
    match service(name)?.0 {
        Service::Unmanaged => return Ok(()),
        Service::Unknown => {
            return Err(Error::Unfit {
                what: format!("service {name}"),
                why: "systemd knows no such unit".into(),
                advice: "install it, or take it out of the configuration, then run again".into(),
            });
        }
        Service::Inactive => {}
        Service::Active => program::quiet("systemctl", &["restart", "--", &unit])?,
    }
    let record = Record { digest: digest(host, reads)?, boot: boot()?, start: service(name)?.1 };
    let bytes = serde_json::to_vec(&record).unwrap_or_default();
    host.state().write(&record_path(name), &bytes, 0o600)
}

/// Waits until a service runs.
pub(super) fn wait_active(name: &str, within: Duration) -> Result<()> {
    let deadline = Instant::now() + within;
    while service(name)?.0 != Service::Active {
        if Instant::now() >= deadline {
            return Err(Error::Unfit {
                what: format!("service {name}"),
                why: format!("did not come up within {} s", within.as_secs()),
                advice: format!("see why with: journalctl -u {name}"),
            });
        }
        thread::sleep(BETWEEN_LOOKS);
    }
    Ok(())
}

fn record_path(name: &str) -> String {
    format!("{}/{name}.json", contract::SERVICES_DIR)
}

fn boot() -> Result<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").map_err(Error::io("read the boot's identity"))?;
    Ok(id.trim().to_owned())
}

fn digest(host: &Linux, reads: &[String]) -> Result<String> {
    let mut digest = Sha256::new();
    for path in reads {
        let file = files::read(&host.root, path)?;
        let contents = file.as_ref().map(|file| file.contents.expose().as_slice());
        digest.update([u8::from(contents.is_some())]);
        digest.update(Sha256::digest(path.as_bytes()));
        digest.update(Sha256::digest(contents.unwrap_or_default()));
    }
    Ok(hex(&digest.finalize()))
}
