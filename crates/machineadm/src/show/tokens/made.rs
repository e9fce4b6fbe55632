//! A token that was made, and what came of one that was to be deleted, for programs.
use discovery::TokenSettings;
use serde::Serialize;

/// A new token with all that the cluster says about it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Made<'a> {
    token: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<String>,
    usages: Vec<&'a str>,
    groups: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) join_command: Option<&'a str>,
    /// Whether it was there before this run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) existed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
}

impl<'a> From<&'a TokenSettings> for Made<'a> {
    fn from(settings: &'a TokenSettings) -> Self {
        let TokenSettings { token, description, expires, usages, groups } = settings;
        Self {
            token: token.expose().to_string(),
            description,
            expires: expires.map(|moment| moment.to_string()),
            usages: usages.iter().map(String::as_str).collect(),
            groups,
            join_command: None,
            existed: false,
            dry_run: false,
        }
    }
}

/// What came of one that was to be deleted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deletion<'a> {
    pub(crate) id: &'a str,
    pub(crate) result: DeletionResult,
    /// Why it was not deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) dry_run: bool,
}

/// In one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum DeletionResult {
    /// It is gone.
    Deleted,
    /// It was not there.
    Absent,
    /// It is there still.
    Failed,
}
