//! What the errors of a PKCS#11 module mean: for the key, and for what is tried next.
use crate::{Failure, FailureKind};
use cryptoki::error::{Error, RvError};
use std::path::Path;

/// Why a call did not succeed.
#[derive(Debug)]
pub(super) enum TokenError {
    /// The module returned an error.
    Call(Error),
    /// The token is not there.
    Absent(Failure),
    /// It is known what that means.
    Known(Failure),
}

impl From<Error> for TokenError {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

/// What may help against an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Recovery {
    /// Nothing.
    Nothing,
    /// Sessions and handles are lost: new ones, with a new login.
    NewSessions,
    /// The device is lost: the module is started again.
    NewStart,
}

impl TokenError {
    /// A module that cannot be loaded.
    pub(super) fn load(path: &Path, error: &Error) -> Self {
        let message = format!("cannot load the PKCS#11 module {}: {error}", path.display());
        Self::Known(Failure::new(FailureKind::Unreachable, message))
    }

    /// What may help.
    pub(super) fn recovery(&self) -> Recovery {
        match self {
            Self::Absent(_) => Recovery::NewStart,
            Self::Known(_) => Recovery::Nothing,
            Self::Call(error) => recovery(error),
        }
    }

    /// What it means for the key.
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Self::Absent(failure) | Self::Known(failure) => failure,
            Self::Call(error) => Failure::new(kind(&error), format!("the PKCS#11 module answered: {error}")),
        }
    }
}

/// What may help against an error of the module.
pub(super) const fn recovery(error: &Error) -> Recovery {
    let Error::Pkcs11(code, _) = error else { return Recovery::Nothing };
    match code {
        RvError::SessionHandleInvalid
        | RvError::SessionClosed
        | RvError::UserNotLoggedIn
        | RvError::KeyHandleInvalid
        | RvError::ObjectHandleInvalid
        | RvError::OperationActive
        | RvError::OperationNotInitialized => Recovery::NewSessions,
        RvError::DeviceRemoved
        | RvError::DeviceError
        | RvError::TokenNotPresent
        | RvError::TokenNotRecognized
        | RvError::SlotIdInvalid
        | RvError::GeneralError
        | RvError::FunctionFailed
        | RvError::CryptokiNotInitialized => Recovery::NewStart,
        _ => Recovery::Nothing,
    }
}

const fn kind(error: &Error) -> FailureKind {
    let Error::Pkcs11(code, _) = error else { return FailureKind::Unreachable };
    match code {
        RvError::PinIncorrect
        | RvError::PinInvalid
        | RvError::PinLenRange
        | RvError::PinExpired
        | RvError::PinLocked
        | RvError::UserPinNotInitialized
        | RvError::UserNotLoggedIn
        | RvError::UserAnotherAlreadyLoggedIn
        | RvError::KeyFunctionNotPermitted
        | RvError::ActionProhibited => FailureKind::AccessDenied,
        RvError::SessionCount | RvError::DeviceMemory | RvError::HostMemory => FailureKind::Throttled,
        RvError::KeyHandleInvalid | RvError::ObjectHandleInvalid => FailureKind::Missing,
        RvError::DataInvalid
        | RvError::DataLenRange
        | RvError::EncryptedDataInvalid
        | RvError::EncryptedDataLenRange => FailureKind::InvalidRequest,
        _ => FailureKind::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cryptoki::context::Function;

    #[test]
    fn each_error_has_its_meaning_and_its_remedy() {
        let table = [
            (RvError::PinIncorrect, FailureKind::AccessDenied, Recovery::Nothing),
            (RvError::PinLocked, FailureKind::AccessDenied, Recovery::Nothing),
            (RvError::KeyFunctionNotPermitted, FailureKind::AccessDenied, Recovery::Nothing),
            (RvError::UserNotLoggedIn, FailureKind::AccessDenied, Recovery::NewSessions),
            (RvError::SessionHandleInvalid, FailureKind::Unreachable, Recovery::NewSessions),
            (RvError::KeyHandleInvalid, FailureKind::Missing, Recovery::NewSessions),
            (RvError::DeviceRemoved, FailureKind::Unreachable, Recovery::NewStart),
            (RvError::TokenNotPresent, FailureKind::Unreachable, Recovery::NewStart),
            (RvError::CryptokiNotInitialized, FailureKind::Unreachable, Recovery::NewStart),
            (RvError::SessionCount, FailureKind::Throttled, Recovery::Nothing),
            (RvError::EncryptedDataInvalid, FailureKind::InvalidRequest, Recovery::Nothing),
            (RvError::MechanismInvalid, FailureKind::Unreachable, Recovery::Nothing),
        ];
        for (code, kind, recovery) in table {
            let error = TokenError::Call(Error::Pkcs11(code, Function::Decrypt));
            assert_eq!(error.recovery(), recovery, "{error:?}");
            let failure = error.into_failure();
            assert_eq!(failure.kind, kind, "{failure}");
        }
    }
}
