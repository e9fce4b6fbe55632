//! Units of systemd: whether they are enabled, masked and running, and how that is changed.
//!
//! Where systemd runs, it is asked. Below `--root`, and in a container without systemd, the root's own `systemctl` reads and
//! writes the links of unit files, confined to that root; such units are neither started nor stopped.
use super::{
    Linux, program,
    root::Missing,
    systemd::{self, Shown},
};
use crate::{Call, Enablement, Error, Inspect, Program, Result, Service, UnitAction, UnitState};
use secret::Secret;
use std::time::Duration;

/// How long a unit may take to become active; systemd's own default is 90s.
const START_WITHIN: Duration = Duration::from_secs(120);
/// How long systemctl may take for anything else. Stopping a unit takes up to 90s by default.
const WITHIN: Duration = Duration::from_secs(300);
/// Lines of a unit's log that an error shows.
const LOG_LINES: &str = "10";
/// Where systemctl is.
const SYSTEMCTL: [&str; 2] = ["/usr/bin/systemctl", "/bin/systemctl"];

/// A unit's state, by its name with its suffix.
pub(super) fn state(host: &Linux, name: &str) -> Result<UnitState> {
    if !is_managed(host) {
        return Ok(UnitState { enablement: offline_enablement(host, name)?, activity: Service::Unmanaged });
    }
    let shown = Shown::of(name, "LoadState,ActiveState,UnitFileState")?;
    let enablement = match (shown.member("LoadState"), shown.member("UnitFileState")) {
        ("not-found", _) => Enablement::Unknown,
        ("masked", _) => Enablement::Masked,
        (_, word) => enablement(word).unwrap_or(Enablement::Static),
    };
    Ok(UnitState { enablement, activity: shown.activity() })
}

/// Does something to a unit.
pub(super) fn change(host: &Linux, name: &str, action: UnitAction) -> Result<()> {
    if !is_managed(host) {
        return host.runner().run_silently(&offline(&[action.verb(), "--", name]));
    }
    // Unit files may have been written since systemd read them.
    program::quiet("systemctl", &["daemon-reload"])?;
    match action {
        UnitAction::Start => start(host, name),
        _ => host.runner().run_silently(&systemctl(&[action.verb(), "--", name], WITHIN)),
    }
}

fn is_managed(host: &Linux) -> bool {
    host.live() && systemd::is_running()
}

/// Starts a unit; a failure shows its result and the end of its log.
fn start(host: &Linux, name: &str) -> Result<()> {
    let started = host.runner().run_silently(&systemctl(&["start", "--", name], START_WITHIN));
    let shown = Shown::of(name, "LoadState,ActiveState,Result")?;
    match (started, shown.activity()) {
        (Ok(()), Service::Active) => Ok(()),
        (Ok(()), _) if shown.member("Result") == "success" => Err(Error::Unfit {
            what: name.to_owned(),
            why: "ended right after it was started".to_owned(),
            advice: "set RemainAfterExit=yes in a unit of Type=oneshot, or remove `state: started`".to_owned(),
        }),
        (ended, _) => {
            let how = match (shown.member("Result"), ended) {
                ("" | "success", Err(Error::Program { how, .. })) => how,
                (result, _) => format!("failed with result {result}"),
            };
            // systemd knows of the end before the journal has the last lines.
            drop(program::quiet("journalctl", &["--sync"]));
            let log = ["-u", name, "-n", LOG_LINES, "-o", "cat", "--no-pager", "-q"];
            let output = Secret::new(program::output("journalctl", &log).unwrap_or_default());
            Err(Error::Program { program: format!("systemctl start {name}"), how, output })
        }
    }
}

/// What the unit files of a root say, whose systemd does not run.
fn offline_enablement(host: &Linux, name: &str) -> Result<Enablement> {
    let mut found = false;
    for path in SYSTEMCTL {
        found = found || host.root.walk(path, Missing::Report)?.is_some_and(|spot| spot.found.is_some());
    }
    if !found {
        return Err(Error::Unfit {
            what: name.to_owned(),
            why: "this system has no systemctl".to_owned(),
            advice: "install systemd, or remove the ServicesConfig, then run again".to_owned(),
        });
    }
    let printed = host.runner().printed(&offline(&["is-enabled", "--", name]))?;
    let words = printed.expose().lines().map(str::trim);
    Ok(words.filter_map(enablement).next_back().unwrap_or(Enablement::Unknown))
}

/// The words of `systemctl is-enabled`.
fn enablement(word: &str) -> Option<Enablement> {
    match word {
        "enabled" => Some(Enablement::Enabled),
        // What is enabled or masked only until the next boot counts as not done.
        "disabled" | "linked" | "linked-runtime" | "enabled-runtime" | "masked-runtime" | "indirect" => {
            Some(Enablement::Disabled)
        }
        "masked" => Some(Enablement::Masked),
        "static" | "generated" | "transient" | "alias" => Some(Enablement::Static),
        "not-found" => Some(Enablement::Unknown),
        _ => None,
    }
}

fn systemctl(arguments: &[&str], within: Duration) -> Program {
    let argv = ["systemctl"].iter().chain(arguments).map(|word| (*word).to_owned()).collect();
    let name =
        format!("systemctl {}", arguments.iter().filter(|word| **word != "--").copied().collect::<Vec<_>>().join(" "));
    Program { name, call: Call::Argv(argv), environment: [].into(), within }
}

/// systemctl that works on unit files alone and asks no service manager; see systemctl(1), SYSTEMD_OFFLINE.
fn offline(arguments: &[&str]) -> Program {
    let environment = [("SYSTEMD_OFFLINE".to_owned(), Secret::new("1".to_owned()))].into();
    Program { environment, ..systemctl(arguments, WITHIN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts_until_the_next_boot_only_is_not_done() {
        for word in ["enabled-runtime", "masked-runtime", "linked"] {
            assert_eq!(enablement(word), Some(Enablement::Disabled), "{word}");
        }
        assert_eq!(enablement("Failed to get unit file state for x.service: No such file or directory"), None);
    }
}
