//! Preflight checks that may fail, by kubeadm's names or ours (`ignorePreflightErrors`).
use documents::v1alpha1::PreflightCheck;
use kubeadm::preflight_checks;

/// What a list of names means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToleratedChecks {
    /// The checks of machineadm, each once.
    pub checks: Vec<PreflightCheck>,
    /// Names of checks that only kubeadm has. Their findings are warnings there: no check needs to be tolerated.
    pub only_kubeadms: Vec<String>,
    /// Names of no check.
    pub unknown: Vec<UnknownCheck>,
}

/// A name of no check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCheck {
    /// As it was given.
    pub name: String,
    /// What follows the name in a sentence; it lists what would be valid.
    pub why: String,
}

impl ToleratedChecks {
    /// Reads names in any case of letters, as kubeadm does.
    pub fn read(names: &[String]) -> Self {
        let mut tolerated = Self::default();
        for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            match named(name) {
                Some(NamedCheck::Ours(check)) if tolerated.checks.contains(&check) => {}
                Some(NamedCheck::Ours(check)) => tolerated.checks.push(check),
                Some(NamedCheck::OnlyKubeadms) => tolerated.only_kubeadms.push(name.to_owned()),
                None => {
                    let why = format!("is not a preflight check; use {}", valid_names());
                    tolerated.unknown.push(UnknownCheck { name: name.to_owned(), why });
                }
            }
        }
        tolerated
    }
}

/// What a name of a check stands for.
enum NamedCheck {
    Ours(PreflightCheck),
    OnlyKubeadms,
}

/// The check of a name, of machineadm or of kubeadm.
fn named(name: &str) -> Option<NamedCheck> {
    if let Some(check) = PreflightCheck::named(&name.to_ascii_lowercase()) {
        return Some(NamedCheck::Ours(check));
    }
    let check = preflight_checks::named(name)?;
    Some(check.ours.and_then(PreflightCheck::named).map_or(NamedCheck::OnlyKubeadms, NamedCheck::Ours))
}

fn valid_names() -> String {
    PreflightCheck::EVERY.map(PreflightCheck::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> ToleratedChecks {
        ToleratedChecks::read(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn names_of_kubeadm_and_of_machineadm_mean_the_same() {
        assert_eq!(of(&["SystemVerification", " cgroups ", ""]).checks, [PreflightCheck::Cgroups]);
        let mixed = of(&["numcpu", "Mem", "Port-10250", "fileavailable--etc-kubernetes-pki-ca.crt", "ALL"]);
        let checks = vec![
            PreflightCheck::Cpu,
            PreflightCheck::Memory,
            PreflightCheck::Ports,
            PreflightCheck::Files,
            PreflightCheck::All,
        ];
        assert_eq!(mixed, ToleratedChecks { checks, ..ToleratedChecks::default() });
    }

    #[test]
    fn a_check_that_only_kubeadm_has_needs_no_tolerance() {
        let only_kubeadms = ["Firewalld", "HTTPProxy"].map(str::to_owned).to_vec();
        assert_eq!(of(&["Firewalld", "HTTPProxy"]), ToleratedChecks { only_kubeadms, ..ToleratedChecks::default() });
    }

    #[test]
    fn every_unknown_name_is_returned_with_the_list() {
        let ToleratedChecks { checks, unknown, .. } = of(&["Swop", "swap", "Nothing"]);
        assert_eq!(checks, [PreflightCheck::Swap]);
        let names: Vec<_> = unknown.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(names, ["Swop", "Nothing"]);
        assert!(unknown[0].why.starts_with("is not a preflight check; use all, kubeadm, "), "{unknown:?}");
        assert!(unknown[0].why.contains("name-resolution"), "{unknown:?}");
    }
}
