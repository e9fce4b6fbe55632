//! ServicesConfig: units that are enabled, masked, started and stopped.
use super::{Phase, Role, no_acts};
use crate::{Look, PlanError, Planned, Remark, Step};
use documents::{
    AnyDocument, Decoded,
    v1alpha1::{ServiceState, Unit},
};
use host::{Change, Enablement, Error, Service, UnitAction, UnitState};

pub(super) const PHASE: Phase = Phase {
    kind: "ServicesConfig",
    summary: "enables, masks, starts and stops units of systemd",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

/// Where systemd looks for unit files; see systemd.unit(5).
const UNIT_DIRS: [&str; 6] = [
    "/etc/systemd/system/",
    "/run/systemd/system/",
    "/usr/local/lib/systemd/system/",
    "/usr/lib/systemd/system/",
    "/lib/systemd/system/",
    "/etc/systemd/system.control/",
];

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Services(units) = &document.body else { return Ok(planned) };
    for unit in units {
        let was = look.unit(&unit.name)?;
        // A unit that does not exist can be masked, so that nothing can start it once it does.
        let only_unmasked =
            unit.wanted.masked == Some(false) && unit.wanted.enabled.is_none() && unit.wanted.state.is_none();
        if was.enablement == Enablement::Unknown && only_unmasked {
            continue;
        }
        if was.enablement == Enablement::Unknown && unit.wanted.masked != Some(true) {
            let writes = |step: &Step| writes_unit(step, &unit.name);
            planned.known_after =
                Some(look.waits_for(writes).or_else(|| look.waits_for_acts()).ok_or_else(|| unknown(&unit.name))?);
            continue;
        }
        for action in actions(unit, was)? {
            let is_activity = matches!(action, UnitAction::Start | UnitAction::Stop);
            if is_activity && was.activity == Service::Unmanaged {
                remark(unit, look, &mut planned);
                continue;
            }
            planned.steps.push(Step::Ensure(Change::Unit { name: unit.name.clone(), action, was }));
        }
    }
    Ok(planned)
}

/// What has to be done to a unit, in this order: it is stopped before it is masked, and unmasked before it is started.
fn actions(unit: &Unit, was: UnitState) -> Result<Vec<UnitAction>, PlanError> {
    let wanted = unit.wanted;
    let is_active = was.activity == Service::Active;
    let mut actions = Vec::new();
    if wanted.state == Some(ServiceState::Stopped) && (is_active || was.activity == Service::Unmanaged) {
        actions.push(UnitAction::Stop);
    }
    let is_masked = was.enablement == Enablement::Masked;
    match wanted.masked {
        Some(true) if !is_masked => actions.push(UnitAction::Mask),
        Some(false) if is_masked => actions.push(UnitAction::Unmask),
        _ => {}
    }
    match (wanted.enabled, was.enablement) {
        (Some(true), Enablement::Static) => return Err(not_enabled(&unit.name, "has no [Install] section")),
        (Some(true), Enablement::Masked) if wanted.masked.is_none() => return Err(masked(&unit.name)),
        (Some(true), Enablement::Disabled | Enablement::Masked) => actions.push(UnitAction::Enable),
        (Some(false), Enablement::Enabled) => actions.push(UnitAction::Disable),
        _ => {}
    }
    if wanted.state == Some(ServiceState::Started) && !is_active {
        if is_masked && wanted.masked.is_none() {
            return Err(masked(&unit.name));
        }
        actions.push(UnitAction::Start);
    }
    Ok(actions)
}

fn remark(unit: &Unit, look: &Look<'_>, planned: &mut Planned) {
    let remark = match look.host.live() {
        true => Remark::NoServiceManager(unit.name.clone()),
        false => Remark::AtBoot("states of services"),
    };
    if !planned.remarks.contains(&remark) {
        planned.remarks.push(remark);
    }
}

/// Whether a step writes the unit file of a unit, or of its template.
fn writes_unit(step: &Step, unit: &str) -> bool {
    let (Step::Ensure(Change::WriteFile { path, .. }) | Step::Ensure(Change::MakeLink { path, .. })) = step else {
        return false;
    };
    let template = unit.split_once('@').and_then(|(name, rest)| Some(format!("{name}@.{}", rest.rsplit_once('.')?.1)));
    let names = [Some(unit.to_owned()), template];
    UNIT_DIRS.iter().any(|dir| path.strip_prefix(dir).is_some_and(|file| names.contains(&Some(file.to_owned()))))
}

fn unknown(unit: &str) -> PlanError {
    PlanError::Look(Error::Unfit {
        what: unit.to_owned(),
        why: "systemd has no such unit, and no earlier document writes its unit file".to_owned(),
        advice: "install it, or remove it from the configuration, then run again".to_owned(),
    })
}

fn not_enabled(unit: &str, why: &str) -> PlanError {
    PlanError::Look(Error::Unfit {
        what: unit.to_owned(),
        why: format!("cannot be enabled: its unit file {why}"),
        advice: "remove `enabled: true`; other units start it".to_owned(),
    })
}

fn masked(unit: &str) -> PlanError {
    PlanError::Look(Error::Unfit {
        what: unit.to_owned(),
        why: "is masked, so that it can be neither enabled nor started".to_owned(),
        advice: format!("add `masked: false` to its entry, or run: systemctl unmask {unit}"),
    })
}
