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
            Self::Call(error) => Failure::new(kind(&error), shown(&error)),
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

/// What an error of the module means for the key.
pub(super) const fn kind(error: &Error) -> FailureKind {
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

/// An error in the words of the standard, which operators and vendors search for.
fn shown(error: &Error) -> String {
    match error {
        Error::Pkcs11(code, function) => format!("C_{function:?} of the PKCS#11 module returned {}", name(*code)),
        other => format!("the PKCS#11 module cannot be used: {other}"),
    }
}

/// `CKR_PIN_INCORRECT` for `PinIncorrect`.
fn name(code: RvError) -> String {
    if let RvError::VendorDefined(number) | RvError::UnknownErrorCode(number) = code {
        return format!("{number:#x}");
    }
    let mut name = "CKR".to_owned();
    for letter in format!("{code:?}").chars() {
        name.extend(letter.is_uppercase().then_some('_'));
        name.push(letter.to_ascii_uppercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use cryptoki::context::Function;
    use std::collections::BTreeSet;

    const DOCS: &str = include_str!("../../../../docs/operating/kms.md");

    #[test]
    fn errors_are_shown_as_the_standard_names_them() {
        let error = Error::Pkcs11(RvError::DeviceRemoved, Function::DecryptInit);
        assert_eq!(shown(&error), "C_DecryptInit of the PKCS#11 module returned CKR_DEVICE_REMOVED");
        assert_eq!(name(RvError::VendorDefined(0x8000_0012)), "0x80000012");
    }

    /// The kind that the table of the docs has for an error.
    fn documented(code: RvError) -> &'static str {
        let row = DOCS.lines().find(|line| line.starts_with("| ") && line.contains(&format!("`{}`", name(code))));
        row.unwrap().split(" | ").nth(1).unwrap().trim_matches('`')
    }

    #[test]
    fn each_error_has_its_remedy_and_the_meaning_that_the_docs_have() {
        use {FailureKind as Kind, RvError as Rv};
        let table: &[(Kind, Recovery, &[RvError])] = &[
            (Kind::Unreachable, Recovery::NewStart, &[Rv::DeviceRemoved, Rv::DeviceError, Rv::TokenNotPresent]),
            (Kind::Unreachable, Recovery::NewStart, &[Rv::TokenNotRecognized, Rv::SlotIdInvalid, Rv::GeneralError]),
            (Kind::Unreachable, Recovery::NewStart, &[Rv::FunctionFailed, Rv::CryptokiNotInitialized]),
            (Kind::Unreachable, Recovery::NewSessions, &[Rv::SessionHandleInvalid, Rv::SessionClosed]),
            (Kind::Unreachable, Recovery::NewSessions, &[Rv::OperationActive, Rv::OperationNotInitialized]),
            (Kind::Unreachable, Recovery::Nothing, &[Rv::MechanismInvalid, Rv::MechanismParamInvalid]),
            (Kind::AccessDenied, Recovery::Nothing, &[Rv::PinIncorrect, Rv::PinInvalid, Rv::PinLenRange]),
            (Kind::AccessDenied, Recovery::Nothing, &[Rv::PinLocked, Rv::PinExpired, Rv::UserPinNotInitialized]),
            (Kind::AccessDenied, Recovery::NewSessions, &[Rv::UserNotLoggedIn]),
            (Kind::AccessDenied, Recovery::Nothing, &[Rv::UserAnotherAlreadyLoggedIn]),
            (Kind::AccessDenied, Recovery::Nothing, &[Rv::KeyFunctionNotPermitted, Rv::ActionProhibited]),
            (Kind::Throttled, Recovery::Nothing, &[Rv::SessionCount, Rv::DeviceMemory, Rv::HostMemory]),
            (Kind::Missing, Recovery::NewSessions, &[Rv::KeyHandleInvalid, Rv::ObjectHandleInvalid]),
            (Kind::InvalidRequest, Recovery::Nothing, &[Rv::EncryptedDataInvalid, Rv::EncryptedDataLenRange]),
            (Kind::InvalidRequest, Recovery::Nothing, &[Rv::DataInvalid, Rv::DataLenRange]),
        ];
        let tested: BTreeSet<String> = table.iter().flat_map(|row| row.2).map(|code| name(*code)).collect();
        let named = DOCS.split('`').filter(|word| word.starts_with("CKR_")).map(str::to_owned).collect();
        assert_eq!(tested, named, "the docs have these codes and no others");
        for (kind, recovery, codes) in table {
            for code in *codes {
                let error = TokenError::Call(Error::Pkcs11(*code, Function::EncryptInit));
                assert_eq!(error.recovery(), *recovery, "{error:?}");
                assert_eq!(error.into_failure().kind, *kind, "{code:?}");
                assert_eq!(documented(*code), kind.word(), "{code:?}");
            }
        }
    }
}
