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
    join_command: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
}

impl<'a> Made<'a> {
    pub(crate) fn of(settings: &'a TokenSettings, join_command: Option<&'a str>, dry_run: bool) -> Self {
        let TokenSettings { token, description, expires, usages, groups } = settings;
        Self {
            token: token.expose().to_string(),
            description,
            expires: expires.map(|moment| moment.to_string()),
            usages: usages.iter().map(String::as_str).collect(),
            groups,
            join_command: join_command.map(str::trim_end),
            dry_run,
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
