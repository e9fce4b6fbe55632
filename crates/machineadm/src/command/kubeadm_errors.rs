//! What of kubeadm's words has no meaning for us, as the command line reports it.
use crate::command_error::CommandError;
use documents::v1alpha1::PreflightCheck;
use kubeadm_import::{
    ImportError, RefusedPhase,
    tolerated_checks::{ToleratedChecks, UnknownCheck},
};

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        let text = error.to_string();
        match error {
            ImportError::TwoMachines => Self::usage(text).with_remedy("pass --kind init or --kind join"),
            ImportError::NoKubernetesVersion => {
                Self::invalid(text).with_remedy("pass --kubernetes-version, such as v1.36.4")
            }
            ImportError::Unsupported(fields) => Self::invalid_input(fields.iter().map(ToString::to_string)),
            ImportError::NoConfiguration | ImportError::NoInitConfiguration | ImportError::NoJoinConfiguration => {
                Self::invalid(text)
            }
        }
    }
}

/// `--ignore-preflight-errors`: the checks of these names. A check that only kubeadm has needs no tolerance.
pub(super) fn tolerated_checks(names: &[String]) -> Result<Vec<PreflightCheck>, CommandError> {
    let ToleratedChecks { checks, only_kubeadms: _, unknown } = ToleratedChecks::read(names);
    let problem = |UnknownCheck { name, why }: &UnknownCheck| format!("{name:?} {why}");
    if unknown.is_empty() { Ok(checks) } else { Err(CommandError::invalid_input(unknown.iter().map(problem))) }
}

/// `--skip-phases`: an error that names every phase that is not skipped.
pub(super) fn no_phase_is_refused(refused: &[RefusedPhase]) -> Result<(), CommandError> {
    let problem = |RefusedPhase { phase, why }: &RefusedPhase| format!("--skip-phases {phase}: {why}");
    if refused.is_empty() { Ok(()) } else { Err(CommandError::invalid_input(refused.iter().map(problem))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unknown_check_and_every_refused_phase_is_one_problem() {
        let names = ["Swop", "swap", "Nothing"].map(str::to_owned);
        let error = tolerated_checks(&names).unwrap_err().to_string();
        let begins = ["error: \"Swop\" is not a preflight check; use all, ", "error: \"Nothing\" is not"];
        assert!(error.lines().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{error}");
        assert_eq!(error.lines().count(), begins.len());
        assert_eq!(tolerated_checks(&["NumCPU".to_owned(), "Firewalld".to_owned()]), Ok(vec![PreflightCheck::Cpu]));

        let refused = ["a", "b"].map(|phase| RefusedPhase { phase: phase.to_owned(), why: "no".to_owned() });
        let error = no_phase_is_refused(&refused).unwrap_err().to_string();
        assert_eq!(error, "error: --skip-phases a: no\nerror: --skip-phases b: no\n");
        assert_eq!(no_phase_is_refused(&[]), Ok(()));
    }
}
