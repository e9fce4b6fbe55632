//! kubeadm's words of a command line or file, in ours: preflight checks, and when images are pulled.
use crate::command_error::CommandError;
use documents::v1alpha1::PreflightCheck;
use kubeadm::preflight_checks;

/// The checks of these names, each once; kubeadm's names are accepted in any case of letters, as kubeadm does. A check
/// that only kubeadm has, and whose findings are warnings there, needs no tolerance.
pub(super) fn of_names(names: &[String]) -> Result<Vec<PreflightCheck>, CommandError> {
    let (mut checks, mut problems) = (Vec::new(), Vec::new());
    for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        match named(name) {
            NamedCheck::Ours(check) if !checks.contains(&check) => checks.push(check),
            NamedCheck::Ours(_) | NamedCheck::KubeadmsOwn => {}
            NamedCheck::Unknown(why) => problems.push(format!("{name:?} {why}")),
        }
    }
    if problems.is_empty() { Ok(checks) } else { Err(CommandError::invalid_input(problems)) }
}

/// What a name of a check stands for.
pub(super) enum NamedCheck {
    /// A check of machineadm.
    Ours(PreflightCheck),
    /// A check that only kubeadm has, and whose findings are warnings there.
    KubeadmsOwn,
    /// Nothing; the text lists what would be valid.
    Unknown(String),
}

/// The check of a name, of machineadm or of kubeadm.
pub(super) fn named(name: &str) -> NamedCheck {
    let of_kubeadm = || preflight_checks::named(name).map(|check| check.ours.and_then(PreflightCheck::named));
    match PreflightCheck::named(&name.to_ascii_lowercase()).map(Some).or_else(of_kubeadm) {
        Some(Some(check)) => NamedCheck::Ours(check),
        Some(None) => NamedCheck::KubeadmsOwn,
        None => NamedCheck::Unknown(format!("is not a preflight check; use {}", list())),
    }
}

fn list() -> String {
    PreflightCheck::EVERY.map(PreflightCheck::name).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Result<Vec<PreflightCheck>, String> {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        of_names(&names).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn names_of_kubeadm_and_of_machineadm_mean_the_same() {
        assert_eq!(of(&["SystemVerification", "cgroups"]).unwrap(), [PreflightCheck::Cgroups]);
        let mixed = of(&["numcpu", "Mem", "Port-10250", "fileavailable--etc-kubernetes-pki-ca.crt", "ALL"]).unwrap();
        let wanted = [
            PreflightCheck::Cpu,
            PreflightCheck::Memory,
            PreflightCheck::Ports,
            PreflightCheck::Files,
            PreflightCheck::All,
        ];
        assert_eq!(mixed, wanted);
        assert_eq!(of(&["Firewalld", "HTTPProxy"]).unwrap(), []);
    }

    #[test]
    fn every_unknown_name_is_refused_with_the_list() {
        let problems = of(&["Swop", "swap", "Nothing"]).unwrap_err();
        assert!(problems.contains("Swop") && problems.contains("Nothing"), "{problems}");
        assert!(problems.contains("name-resolution"), "{problems}");
    }
}
