//! ScopeConfig: for which machines sealed documents are, and until when.
use super::{API_VERSION, duration, duration::NoDuration, time};
use crate::{
    Claim,
    document::{Body, Check, Document},
    findings::Findings,
    path,
    reader::ScopeHere,
};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How far this machine's clock may be behind the one that sealed.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(5);
/// Longer ages are no limit.
const LONGEST_AGE: Duration = Duration::from_secs(10 * 366 * 24 * 60 * 60);

/// For which machines sealed documents are, and until when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The machines that they are for; all if absent.
    pub machines: Option<Machines>,
    /// When they were sealed.
    pub issued_at: Option<Timestamp>,
    /// Until when they hold.
    pub not_after: Option<Timestamp>,
    /// How old they may be.
    pub max_age: Option<Duration>,
}

/// Machines by what they are known by; one match is enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Machines {
    /// Complete host names; case does not matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hostnames: Vec<String>,
    /// Contents of `/etc/machine-id`.
    #[serde(default, rename = "machineIDs", skip_serializing_if = "Vec::is_empty")]
    pub machine_ids: Vec<String>,
    /// Contents of `/sys/class/dmi/id/product_uuid`; case does not matter.
    #[serde(default, rename = "productUUIDs", skip_serializing_if = "Vec::is_empty")]
    pub product_uuids: Vec<String>,
}

/// What a machine is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Its host name.
    pub hostname: String,
    /// Its machine-id, empty where it has none yet.
    pub machine_id: String,
    /// What its firmware calls it.
    pub product_uuid: Option<String>,
}

/// Limits encrypted documents to machines and a time. It must be the first document inside an EncryptedConfig.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("minProperties" = 1))]
pub struct ScopeConfig {
    /// Machines that the documents are for; one matching name is enough. Default: all machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machines: Option<Machines>,
    /// Time of the encryption, RFC 3339. A machine whose clock is more than 5 minutes behind it refuses the documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<String>,
    /// Time after which the documents are refused, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after: Option<String>,
    /// Maximum age of the documents when they are decrypted, such as `24h`; requires `issuedAt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN))]
    pub max_age: Option<String>,
}

impl Document for ScopeConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "ScopeConfig";
    const SUMMARY: &str =
        "Limits encrypted documents to machines and to a time; the first document inside an EncryptedConfig.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: ScopeConfig
spec:
  machines:
    hostnames: [node-7]
  issuedAt: 2026-11-16T08:00:00Z
  notAfter: 2026-11-17T08:00:00Z
  maxAge: 12h
";
}

impl Check for ScopeConfig {
    type Checked = Box<Scope>;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Box<Scope> {
        let Self { machines, issued_at, not_after, max_age } = self;
        if machines.is_none() && issued_at.is_none() && not_after.is_none() && max_age.is_none() {
            findings.error("spec", "requires `machines`, `issuedAt`, `notAfter` or `maxAge`");
        }
        if let Some(machines) = &machines {
            check_machines(machines, findings);
        }
        if max_age.is_some() && issued_at.is_none() {
            findings.error("spec.maxAge", "requires `issuedAt`, from which the age is counted");
        }
        Box::new(Scope {
            machines,
            issued_at: moment("spec.issuedAt", issued_at, findings),
            not_after: moment("spec.notAfter", not_after, findings),
            max_age: max_age.and_then(|text| age(&text, findings)),
        })
    }
}

impl Body for Scope {
    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        Vec::new()
    }
}

/// Reports a ScopeConfig that stands where it says nothing.
pub(crate) fn check_place(scope: ScopeHere, findings: &mut Findings<'_>) {
    match scope {
        ScopeHere::First => {}
        ScopeHere::FirstToBeSealed => findings
            .warning("kind", "ScopeConfig has an effect only inside an EncryptedConfig")
            .hint("encrypt this file with `machineadm encrypt`"),
        ScopeHere::Nowhere => findings
            .error("kind", "ScopeConfig is allowed only as the first document inside an EncryptedConfig")
            .hint("put it before the documents to encrypt, then encrypt them with `machineadm encrypt`"),
    }
}

impl From<&Scope> for ScopeConfig {
    fn from(scope: &Scope) -> Self {
        let Scope { machines, issued_at, not_after, max_age } = scope;
        Self {
            machines: machines.clone(),
            issued_at: issued_at.map(|time| time.to_string()),
            not_after: not_after.map(|time| time.to_string()),
            max_age: max_age.map(|age| format!("{}ms", age.as_millis())),
        }
    }
}

fn check_machines(machines: &Machines, findings: &mut Findings<'_>) {
    let Machines { hostnames, machine_ids, product_uuids } = machines;
    if hostnames.is_empty() && machine_ids.is_empty() && product_uuids.is_empty() {
        findings.error("spec.machines", "must name at least one machine");
    }
    check_list("spec.machines.hostnames", hostnames, "must be a host name", findings, |name| {
        (1..=253).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
    });
    check_list("spec.machines.machineIDs", machine_ids, "must be 32 hexadecimal digits", findings, |id| {
        id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    check_list("spec.machines.productUUIDs", product_uuids, "must be a UUID", findings, |id| {
        id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
    });
}

fn check_list(here: &str, list: &[String], message: &str, findings: &mut Findings<'_>, is_good: fn(&str) -> bool) {
    for (index, _) in list.iter().enumerate().filter(|(_, name)| !is_good(name)) {
        findings.error(&path::item(here, index), message);
    }
}

fn moment(here: &str, text: Option<String>, findings: &mut Findings<'_>) -> Option<Timestamp> {
    match time::parse(&text?) {
        Ok(time) => Some(time),
        Err(error) => {
            findings.error(here, error.to_string());
            None
        }
    }
}

fn age(text: &str, findings: &mut Findings<'_>) -> Option<Duration> {
    let message = match duration::parse(text) {
        Ok(age) if age <= LONGEST_AGE => return Some(age),
        Ok(_) | Err(NoDuration::TooLong) => format!("is too long: at most {}h", LONGEST_AGE.as_secs() / 3600),
        Err(error @ NoDuration::Malformed) => error.to_string(),
    };
    findings.error("spec.maxAge", message);
    None
}

impl Scope {
    /// Why these documents are not for this machine now. It tells of this machine, not of what was sealed.
    pub(crate) fn refusal(&self, identity: &Identity, now: Timestamp) -> Option<(&'static str, String)> {
        let clock = format!("the clock of this machine is at {now:.0}");
        if self.machines.as_ref().is_some_and(|machines| !machines.name(identity)) {
            let who = format!("the encrypted documents are for other machines, not for {}", identity.hostname);
            return Some(("spec.machines", who));
        }
        if self.issued_at.is_some_and(|issued| issued.duration_since(now) > CLOCK_SKEW) {
            return Some(("spec.issuedAt", format!("is in the future: {clock}; set the clock")));
        }
        if self.not_after.is_some_and(|end| now > end) {
            return Some(("spec.notAfter", format!("the encrypted documents have expired: {clock}")));
        }
        let age = self.issued_at.map(|issued| now.duration_since(issued));
        match (age, self.max_age.and_then(|age| SignedDuration::try_from(age).ok())) {
            (Some(age), Some(oldest)) if age > oldest => {
                Some(("spec.maxAge", format!("the encrypted documents are older than `maxAge`: {clock}")))
            }
            _ => None,
        }
    }
}

impl Machines {
    fn name(&self, identity: &Identity) -> bool {
        let has =
            |list: &[String], own: &str| !own.is_empty() && list.iter().any(|name| name.eq_ignore_ascii_case(own));
        has(&self.hostnames, &identity.hostname)
            || has(&self.machine_ids, &identity.machine_id)
            || identity.product_uuid.as_deref().is_some_and(|uuid| has(&self.product_uuids, uuid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AnyDocument,
        testing::{found, problems, spec, with_spec},
    };

    const NOW: &str = "2026-11-16T12:00:00Z";

    fn refusal(yaml: &str) -> Option<&'static str> {
        let AnyDocument::Scope(scope) = spec("ScopeConfig", yaml) else { panic!() };
        let identity = Identity {
            hostname: "node-7".into(),
            machine_id: "0123456789abcdef0123456789abcdef".into(),
            product_uuid: Some("6f1c8b1e-0000-4000-8000-00000000000a".into()),
        };
        scope.refusal(&identity, NOW.parse().unwrap()).map(|(path, _)| path)
    }

    #[test]
    fn any_name_of_the_machine_is_enough() {
        for machines in [
            "hostnames: [other, NODE-7]",
            "machineIDs: [0123456789ABCDEF0123456789abcdef], hostnames: [other]",
            "productUUIDs: [6F1C8B1E-0000-4000-8000-00000000000A]",
        ] {
            assert_eq!(refusal(&format!("{{machines: {{{machines}}}}}")), None, "{machines}");
        }
        for machines in ["hostnames: [node-8, node-7.example.com]", "machineIDs: ['11111111111111111111111111111111']"]
        {
            assert_eq!(refusal(&format!("{{machines: {{{machines}}}}}")), Some("spec.machines"), "{machines}");
        }
    }

    #[test]
    fn a_machine_without_a_name_matches_nothing() {
        let scope = Scope { machines: Some(Machines::default()), ..Scope::default() };
        assert!(scope.refusal(&Identity::default(), Timestamp::UNIX_EPOCH).is_some());
    }

    #[test]
    fn a_clock_past_the_end_or_before_the_beginning_refuses() {
        for (yaml, expected) in [
            ("{notAfter: '2026-11-16T12:00:00Z'}", None),
            ("{notAfter: '2026-11-16T11:59:59Z'}", Some("spec.notAfter")),
            ("{notAfter: '2026-11-16T12:59:59+01:00'}", Some("spec.notAfter")),
            ("{issuedAt: '2026-11-16T12:05:00Z'}", None),
            ("{issuedAt: '2026-11-16T12:05:01Z'}", Some("spec.issuedAt")),
            ("{issuedAt: '2026-11-16T11:00:00Z', maxAge: 1h}", None),
            ("{issuedAt: '2026-11-16T10:59:59Z', maxAge: 1h}", Some("spec.maxAge")),
        ] {
            assert_eq!(refusal(yaml), expected, "{yaml}");
        }
    }

    #[test]
    fn every_bad_member_is_listed() {
        assert_eq!(problems("ScopeConfig", "{}")[1..], ["spec"]);
        let yaml = "{machines: {hostnames: [''], machineIDs: [x], productUUIDs: [y]}, notAfter: tomorrow, maxAge: 1d}";
        let expected = [
            "spec.machines.hostnames[0]",
            "spec.machines.machineIDs[0]",
            "spec.machines.productUUIDs[0]",
            "spec.notAfter",
            "spec.maxAge",
            "spec.maxAge",
        ];
        assert_eq!(problems("ScopeConfig", yaml)[1..], expected);
        assert!(found(&with_spec("ScopeConfig", "machines: {}"))[1].contains("at least one machine"));
        for age in ["87841h", "99999999h"] {
            let yaml = format!("{{issuedAt: '{NOW}', maxAge: {age}}}");
            assert_eq!(found(&with_spec("ScopeConfig", &yaml))[1], "spec.maxAge: is too long: at most 87840h");
        }
    }

    #[test]
    fn a_scope_has_at_least_one_of_its_members() {
        assert_eq!(
            found(&with_spec("ScopeConfig", "{}"))[1..],
            ["spec: requires `machines`, `issuedAt`, `notAfter` or `maxAge`"]
        );
        for member in
            ["machines: {hostnames: [node-7]}", "issuedAt: 2026-11-16T08:00:00Z", "notAfter: 9999-12-31T23:59:59Z"]
        {
            assert_eq!(refusal(&format!("{{{member}}}")), None, "{member}");
        }
    }
}
