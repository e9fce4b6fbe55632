//! Users and groups of a played machine.
use super::Memory;
use crate::{UserSettings, UserState};
use secret::Secret;
use std::collections::BTreeSet;

/// Where the numbers of new users and groups start.
const FIRST_NUMBER: u32 = 1000;

impl Memory {
    pub(super) fn add_group(&mut self, name: &str, gid: Option<u32>) {
        let gid = gid.unwrap_or(FIRST_NUMBER + self.groups.len() as u32);
        self.groups.insert(name.to_owned(), gid);
        self.accounts.entry(name.to_owned()).or_default().1 = gid;
    }

    pub(super) fn set_user(&mut self, name: &str, settings: &UserSettings) {
        let UserSettings { uid, group, groups, home, shell, sort: _ } = settings.clone();
        if !self.users.contains_key(name) {
            if group.is_none() {
                self.add_group(name, uid);
            }
            let uid = uid.unwrap_or(FIRST_NUMBER + self.users.len() as u32);
            let gid = self.groups.get(name).copied().unwrap_or_default();
            let (home, shell, password) = (format!("/home/{name}"), "/bin/sh".to_owned(), Secret::new("!".to_owned()));
            self.users.insert(name.to_owned(), UserState { uid, gid, home, shell, groups: BTreeSet::new(), password });
            self.accounts.entry(name.to_owned()).or_default().0 = uid;
        }
        let group = group.and_then(|group| self.groups.get(&group).copied().or(group.parse().ok()));
        let Some(user) = self.users.get_mut(name) else { return };
        user.gid = group.unwrap_or(user.gid);
        user.groups.extend(groups);
        user.home = home.unwrap_or_else(|| user.home.clone());
        user.shell = shell.unwrap_or_else(|| user.shell.clone());
    }
}
