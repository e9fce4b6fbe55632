//! ServicesConfig: which units of systemd are enabled, masked and running.
use super::API_VERSION;
use crate::{
    Claim, Claimed,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a unit shall be; what is `None` stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// With its suffix, such as `containerd.service`.
    pub name: String,
    /// What is wanted of it.
    pub wanted: UnitSettings,
}

/// What can be wanted of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitSettings {
    /// Whether it starts at boot.
    pub enabled: Option<bool>,
    /// Whether it cannot be started at all.
    pub masked: Option<bool>,
    /// Whether it runs.
    pub state: Option<ServiceState>,
}

impl UnitSettings {
    /// Whether both cannot be true of one unit.
    pub(crate) fn contradicts(self, other: Self) -> bool {
        let differ = |one: Option<bool>, other: Option<bool>| one.zip(other).is_some_and(|(one, other)| one != other);
        let states = self.state.zip(other.state).is_some_and(|(one, other)| one != other);
        let masked = |one: Self, other: Self| one.masked == Some(true) && other.needs_unmasked();
        differ(self.enabled, other.enabled)
            || differ(self.masked, other.masked)
            || states
            || masked(self, other)
            || masked(other, self)
    }

    fn needs_unmasked(self) -> bool {
        self.enabled == Some(true) || self.state == Some(ServiceState::Started)
    }
}

/// Whether a unit runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceState {
    /// It is active. A unit that is not active is started, and a run waits up to 120s for it.
    Started,
    /// It is not active. An active unit is stopped.
    Stopped,
}

/// Units of systemd: whether they start at boot, run now, or are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServicesConfig {
    /// The units, processed in this order. When the document is removed from the configuration, units stay as they are;
    /// `--prune` does not change them.
    #[schemars(length(min = 1))]
    pub services: Vec<ServiceEntry>,
}

/// One unit. At least one of `enabled`, `state` and `masked`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["enabled"]}, {"required": ["state"]}, {"required": ["masked"]}]))]
pub struct ServiceEntry {
    /// The unit's name, such as `containerd` or `fstrim.timer`; a name without a suffix is a service. The unit must exist
    /// when its turn comes, unless it is only masked.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// Whether the unit starts at boot (`systemctl enable`, `systemctl disable`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Whether the unit runs now. Below `--root`, and where systemd does not run, it is neither started nor stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ServiceState>,
    /// Whether the unit is masked, so that nothing can start it (`systemctl mask`, `systemctl unmask`). Masking does not
    /// stop a unit that runs: add `state: stopped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masked: Option<bool>,
}

impl Document for ServicesConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ServicesConfig";
    const SUMMARY: &str = "Units of systemd: enabled, started, stopped or masked.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ServicesConfig
metadata:
  name: node
spec:
  services:
  - name: containerd
    enabled: true
    state: started
  - name: kubelet
    enabled: true
  - name: systemd-timesyncd
    masked: true
    state: stopped
";
}

impl Check for ServicesConfig {
    type Checked = Vec<Unit>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Vec<Unit> {
        let Self { services } = self;
        if services.is_empty() {
            findings.error("spec.services", "must name at least one unit");
        }
        let services = services.into_iter().enumerate();
        services.map(|(index, entry)| unit(entry, &path::item("spec.services", index), findings)).collect()
    }
}

impl Body for Vec<Unit> {
    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let claim = |(index, unit): (usize, &'a Unit)| {
            let what = Claimed::Unit { name: &unit.name, wanted: unit.wanted };
            Claim::new(path::member(&path::item("spec.services", index), "name"), what)
        };
        self.iter().enumerate().map(claim).collect()
    }
}

fn unit(entry: ServiceEntry, here: &str, findings: &mut Findings<'_>) -> Unit {
    let ServiceEntry { name, enabled, state, masked } = entry;
    let field = |name: &str| path::member(here, name);
    let name = with_suffix(name);
    if !is_unit_name(&name) {
        let message = "must be the name of a unit, such as `containerd` or `fstrim.timer`";
        findings.error(&field("name"), message).hint("write it without path");
    }
    let wanted = UnitSettings { enabled, masked, state };
    if wanted == UnitSettings::default() {
        findings.error(here, "needs `enabled`, `state` or `masked`");
    }
    if masked == Some(true) && enabled == Some(true) {
        findings.error(&field("masked"), "a masked unit cannot be enabled").hint("remove one of them");
    }
    if masked == Some(true) && state == Some(ServiceState::Started) {
        findings.error(&field("masked"), "a masked unit cannot be started").hint("remove one of them");
    }
    Unit { name, wanted }
}

/// The sorts of units that can be enabled or started; see systemd.unit(5).
const SUFFIXES: [&str; 8] = [".service", ".socket", ".timer", ".target", ".mount", ".automount", ".path", ".swap"];

fn with_suffix(name: String) -> String {
    match SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) {
        true => name,
        false => format!("{name}.service"),
    }
}

fn is_unit_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b":_.\\@-".contains(&byte);
    let is_only_suffix = SUFFIXES.contains(&name);
    !is_only_suffix && name.len() <= 255 && !name.starts_with(['.', '-', '@']) && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{document, found, problems, spec},
    };

    #[test]
    fn a_name_without_a_suffix_is_a_service() {
        let yaml = "services: [{name: containerd, enabled: true}, {name: a.timer, state: stopped}, {name: x.y, masked: false}]";
        let AnyDocument::Services(units) = spec("ServicesConfig", yaml) else { panic!() };
        let names: Vec<_> = units.iter().map(|unit| unit.name.as_str()).collect();
        assert_eq!(names, ["containerd.service", "a.timer", "x.y.service"]);
        assert_eq!(units[1].wanted, UnitSettings { state: Some(ServiceState::Stopped), ..UnitSettings::default() });
    }

    #[test]
    fn a_unit_has_a_name_and_something_that_is_wanted() {
        let yaml = "services: [{name: a}, {name: ../a, enabled: true}, {name: '', enabled: true}, {name: .timer, masked: true}]";
        let expected = ["spec.services[0]", "spec.services[1].name", "spec.services[2].name", "spec.services[3].name"];
        assert_eq!(problems("ServicesConfig", yaml), expected);
        assert_eq!(problems("ServicesConfig", "services: []"), ["spec.services"]);
    }

    #[test]
    fn a_masked_unit_is_neither_enabled_nor_started() {
        let masked = |rest: &str| problems("ServicesConfig", &format!("services: [{{name: a, masked: true, {rest}}}]"));
        assert_eq!(masked("enabled: true"), ["spec.services[0].masked"]);
        assert_eq!(masked("state: started"), ["spec.services[0].masked"]);
        assert!(masked("enabled: false, state: stopped").is_empty());
    }

    #[test]
    fn two_documents_do_not_contradict_each_other_about_a_unit() {
        let both = |first: &str, second: &str| {
            let of = |name: &str, rest: &str| {
                let spec = format!("metadata: {{name: {name}}}\nspec: {{services: [{{name: a, {rest}}}]}}");
                document("ServicesConfig", &spec)
            };
            found(&[of("x", first), of("y", second).replace("name: a,", "name: a.service,")].concat())
        };
        let message = ["spec.services[0].name: document 1 contradicts what this entry sets for the unit"];
        for (first, second) in [
            ("enabled: true", "enabled: false"),
            ("masked: false", "masked: true"),
            ("state: started", "state: stopped"),
            ("masked: true", "enabled: true"),
            ("state: started", "masked: true"),
        ] {
            assert_eq!(both(first, second), message, "{first} and {second}");
        }
        assert!(both("enabled: true", "enabled: true, state: started").is_empty());
        assert!(both("masked: true", "state: stopped").is_empty());
    }
}
