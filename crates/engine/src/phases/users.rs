//! UsersConfig: users, groups, and the SSH keys that may log in.
use super::{Phase, Role, file_after, no_acts};
use crate::{
    Look, PlanError, Planned, Step,
    block::{with_block, without_block},
};
use documents::{
    AnyDocument, Decoded, Secret,
    v1alpha1::{GroupEntry, KEYS_BLOCK, UserEntry, authorized_keys},
};
use host::{Change, Error, PathState, UserSettings, UserSort, UserState};

pub(super) const PHASE: Phase = Phase {
    kind: "UsersConfig",
    summary: "creates and changes users and groups, and writes their SSH keys",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

const KEYS_MODE: u32 = 0o600;

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Users(accounts) = &document.body else { return Ok(planned) };
    for GroupEntry { name, gid } in &accounts.groups {
        match (look.host.group(name)?, *gid) {
            (None, gid) => planned.steps.push(Step::Ensure(Change::AddGroup { name: name.clone(), gid })),
            (Some(is), Some(wanted)) if is != wanted => return Err(other_number("group", name, is, wanted)),
            (Some(_), _) => {}
        }
    }
    for entry in &accounts.users {
        let was = look.host.user(&entry.name)?;
        if let (Some(was), Some(wanted)) = (&was, entry.uid)
            && was.uid != wanted
        {
            return Err(other_number("user", &entry.name, was.uid, wanted));
        }
        planned.steps.extend(user(entry, was.as_ref(), look)?);
        planned.steps.extend(password(entry, was.as_ref()));
        let keys = keys(entry, was.as_ref(), look, &planned)?;
        planned.steps.extend(keys);
    }
    Ok(planned)
}

/// Creates a user, or changes what differs.
fn user(entry: &UserEntry, was: Option<&UserState>, look: &Look<'_>) -> Result<Option<Step>, PlanError> {
    let UserEntry { name, uid, group, groups, home, shell, system, .. } = entry;
    let (group, groups, shell) = (group.clone(), groups.clone().unwrap_or_default(), shell.clone());
    let settings = match was {
        None => UserSettings {
            uid: *uid,
            group,
            groups,
            home: Some(home_of(entry, None)),
            shell,
            sort: if *system { UserSort::System } else { UserSort::Person },
        },
        Some(was) => {
            let primary = group.as_deref().map(|group| look.host.group(group)).transpose()?.flatten();
            UserSettings {
                group: group.filter(|_| primary != Some(was.gid)),
                groups: groups.into_iter().filter(|group| !was.groups.contains(group)).collect(),
                home: home.clone().filter(|home| *home != was.home),
                shell: shell.filter(|shell| *shell != was.shell),
                ..UserSettings::default()
            }
        }
    };
    let is_so = was.is_some() && settings == UserSettings::default();
    let change = Change::SetUser { name: name.clone(), was: was.cloned(), settings };
    Ok((!is_so).then_some(Step::Ensure(change)))
}

fn password(entry: &UserEntry, was: Option<&UserState>) -> Option<Step> {
    let hash = entry.password_hash.clone()?;
    let is_so = was.is_some_and(|was| was.password == hash);
    (!is_so).then_some(Step::Ensure(Change::SetPassword { user: entry.name.clone(), hash }))
}

/// The keys, in a block of the user's own file. A file of another user is not read: its content would become the user's.
fn keys(
    entry: &UserEntry,
    was: Option<&UserState>,
    look: &Look<'_>,
    planned: &Planned,
) -> Result<Option<Step>, PlanError> {
    let Some(keys) = &entry.ssh_authorized_keys else { return Ok(None) };
    let path = authorized_keys(&home_of(entry, was));
    let file = file_after(planned, &path, look)?;
    check_owners(entry, was, &path, look)?;
    let around = file.as_ref().map_or(&[][..], |file| file.contents.expose());
    if keys.is_empty() && file.is_none() {
        return Ok(None);
    }
    let lines: String = keys.iter().map(|key| format!("{key}\n")).collect();
    let contents = Secret::new(match keys.is_empty() {
        true => without_block(around, KEYS_BLOCK),
        false => with_block(around, KEYS_BLOCK, lines.as_bytes()),
    });
    let is_so = file.as_ref().is_some_and(|file| file.contents == contents && file.mode == KEYS_MODE);
    let change = Change::AuthorizedKeys { user: entry.name.clone(), path, was: file, contents };
    Ok((!is_so).then_some(Step::Ensure(change)))
}

/// The file with the keys and its directory, where they are there, must be the user's own; a new user owns nothing yet,
/// unless its number is given.
fn check_owners(entry: &UserEntry, was: Option<&UserState>, path: &str, look: &Look<'_>) -> Result<(), PlanError> {
    let uid = was.map(|was| was.uid).or(entry.uid);
    let directory = path.rsplit_once('/').map_or(path, |(directory, _)| directory);
    for place in [directory, path] {
        let owner = match look.host.state_at(place)? {
            PathState::Directory { state, .. } => state.uid,
            PathState::File(file) => file.uid,
            _ => continue,
        };
        if Some(owner) != uid {
            return Err(PlanError::Look(Error::Unfit {
                what: place.to_owned(),
                why: format!("is owned by the user with UID {owner}, not by {}", entry.name),
                advice: format!("set another `home`, or check its content, then run: chown {} {place}", entry.name),
            }));
        }
    }
    Ok(())
}

/// What the document says, or what the user has, or the usual.
fn home_of(entry: &UserEntry, was: Option<&UserState>) -> String {
    let has = was.map(|was| was.home.clone());
    entry.home.clone().or(has).unwrap_or_else(|| entry.home_directory())
}

/// Files of the user would then belong to nobody, or to another user.
fn other_number(sort: &str, name: &str, is: u32, wanted: u32) -> PlanError {
    PlanError::Look(Error::Unfit {
        what: format!("{sort} {name}"),
        why: format!("has the ID {is}, but the configuration has {wanted}; machineadm does not change it"),
        advice: "correct the configuration, or delete the account if nothing of it is needed".to_owned(),
    })
}
