//! The clock: with one that is far off, no certificate is valid.
use super::{findings::Findings, node::Candidate};
use crate::PlanError;
use jiff::Timestamp;

/// No machine can have this machineadm before: 2026-08-01.
const RELEASE: i64 = 1_785_542_400;

pub(super) fn clock(candidate: &Candidate<'_>, findings: &mut Findings) -> Result<(), PlanError> {
    let clock = candidate.look.host.clock()?;
    let now = Timestamp::try_from(clock.now).unwrap_or(Timestamp::MIN);
    if now.as_second() < RELEASE {
        findings.problem(format!(
            "the clock of this machine is {now:.0}, which is before this release of machineadm: set the clock, for example \
             by a time service, since certificates are not valid before their time"
        ));
    } else if clock.synchronized == Some(false) {
        findings.remark("systemd-timesyncd has not set the clock yet");
    }
    Ok(())
}
