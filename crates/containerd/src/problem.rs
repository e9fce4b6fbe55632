//! Why containerd cannot be configured as wanted.
use std::fmt;

/// One reason, with the field that asks for it and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field of the document, such as `spec.extraConfig`; none where the machine is the reason.
    pub field: Option<String>,
    /// What is wrong, why, and what to do.
    pub message: String,
}

impl Problem {
    /// A problem of the machine.
    pub(crate) fn of_machine(message: impl Into<String>) -> Self {
        Self { field: None, message: message.into() }
    }

    /// A problem of a field.
    pub(crate) fn of_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
