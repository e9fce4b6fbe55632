//! What a token is for, and whom it authenticates as: usages and groups, and which of them go together.
use std::{collections::BTreeSet, fmt};

/// The group of everybody who comes with a token.
pub const DEFAULT_GROUP: &str = "system:bootstrappers";
/// What every further group begins with.
const GROUP_PREFIX: &str = "system:bootstrappers:";
/// Letters of a group after the prefix, at most.
const GROUP_LETTERS: usize = 256;
/// The group that kubeadm's roles are bound to.
pub const NODE_GROUP: &str = "system:bootstrappers:kubeadm:default-node-token";

/// What a token may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Usage {
    /// Its holder may act as `system:bootstrap:<id>`, which lets him claim to be a node.
    Authentication,
    /// cluster-info is signed with it, so that its holder can tell the cluster.
    Signing,
}

impl Usage {
    /// Every usage.
    pub const ALL: [Self; 2] = [Self::Signing, Self::Authentication];

    /// Its name in flags and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Signing => "signing",
        }
    }

    /// The key of a token's Secret that allows it.
    pub(crate) fn key(self) -> String {
        format!("{USAGE_PREFIX}{}", self.name())
    }

    /// The usage of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|usage| usage.name() == name)
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What keys of usages begin with.
pub(crate) const USAGE_PREFIX: &str = "usage-bootstrap-";

/// Why usages and groups can't be given to a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UsageError {
    /// There is no such usage.
    #[error("`{0}` is not a usage: use signing, authentication or both")]
    Unknown(String),
    /// The API server would take the whole token for invalid.
    #[error(
        "`{0}` is not a group of a token: it must start with {GROUP_PREFIX}, continue with lower-case letters, digits, `-` and `:`, at most {GROUP_LETTERS} of them, and end in a letter or digit"
    )]
    BadGroup(String),
    /// Groups have no meaning for a token that nobody can authenticate with.
    #[error("groups need the usage authentication: add it, or give no groups")]
    GroupsWithoutAuthentication,
}

/// The usages of these names, or everything that is wrong with them.
pub fn usages<S: AsRef<str>>(names: &[S]) -> Result<BTreeSet<Usage>, Vec<UsageError>> {
    let unknown = |name: &&S| Usage::named(name.as_ref()).is_none();
    let errors: Vec<_> =
        names.iter().filter(unknown).map(|name| UsageError::Unknown(name.as_ref().to_owned())).collect();
    let known = names.iter().filter_map(|name| Usage::named(name.as_ref())).collect();
    if errors.is_empty() { Ok(known) } else { Err(errors) }
}

/// Everything that is wrong with these groups for a token of these usages. No groups are always right.
pub fn check_groups<S: AsRef<str>>(usages: &BTreeSet<Usage>, groups: &[S]) -> Vec<UsageError> {
    let bad = groups.iter().map(AsRef::as_ref).filter(|group| !is_group(group));
    let mut errors: Vec<_> = bad.map(|group| UsageError::BadGroup(group.to_owned())).collect();
    if !groups.is_empty() && !usages.contains(&Usage::Authentication) {
        errors.push(UsageError::GroupsWithoutAuthentication);
    }
    errors
}

/// Whether the API server takes this for a group of a token.
pub fn is_group(group: &str) -> bool {
    let Some(rest) = group.strip_prefix(GROUP_PREFIX) else { return false };
    let is_word = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    rest.len() <= GROUP_LETTERS
        && rest.bytes().all(|letter| is_word(letter) || b":-".contains(&letter))
        && rest.bytes().next_back().is_some_and(is_word)
}

/// All groups of somebody who comes with a token that lists these further ones, in the API server's order.
/// One bad group makes the whole token useless.
pub fn groups(listed: &str) -> Result<Vec<String>, UsageError> {
    let further = listed.split(',').filter(|_| !listed.is_empty());
    let mut groups = BTreeSet::from([DEFAULT_GROUP.to_owned()]);
    for group in further {
        if !is_group(group) {
            return Err(UsageError::BadGroup(group.to_owned()));
        }
        groups.insert(group.to_owned());
    }
    Ok(groups.into_iter().collect())
}
