//! Users and groups of a machine, as its own tables have them and as they shall be.
use secret::Secret;
use std::collections::BTreeSet;

/// A user as the machine has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserState {
    /// Its number.
    pub uid: u32,
    /// The number of its primary group.
    pub gid: u32,
    /// Its home directory.
    pub home: String,
    /// Its shell.
    pub shell: String,
    /// Its supplementary groups, by name.
    pub groups: BTreeSet<String>,
    /// The hash of its password; starts with `!` or `*` where it has none.
    pub password: Secret<String>,
}

/// What a user shall have. What is `None` or empty is left to the system for a new user, and stays for an existing one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserSettings {
    /// Number; only for a new user.
    pub uid: Option<u32>,
    /// Primary group, by name or number.
    pub group: Option<String>,
    /// Supplementary groups to add, by name.
    pub groups: Vec<String>,
    /// Home directory.
    pub home: Option<String>,
    /// Shell.
    pub shell: Option<String>,
    /// What sort of user a new one is.
    pub sort: UserSort,
}

/// What a new user is for; it decides the range of its number and whether a home directory is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserSort {
    /// A person who logs in, with a home directory.
    #[default]
    Person,
    /// A service, without a home directory.
    System,
}
