//! Users and groups by the machine's own `/etc/passwd` and `/etc/group`: a root directory has accounts of its own.
use super::{files, root::Root};
use crate::{Error, Result, UserState};
use secret::Secret;

/// User and group numbers of an owner.
pub(super) fn resolve(root: &Root, user: &str, group: &str) -> Result<(u32, u32)> {
    Ok((number(root, "/etc/passwd", "user", user)?, number(root, "/etc/group", "group", group)?))
}

/// A user by its name.
pub(super) fn user(root: &Root, name: &str) -> Result<Option<UserState>> {
    let users = table(root, "/etc/passwd")?;
    let Some(line) = line(&users, name) else { return Ok(None) };
    let [_, _, uid, gid, _, home, shell] = line[..] else { return Ok(None) };
    let (Ok(uid), Ok(gid)) = (uid.parse(), gid.parse()) else { return Ok(None) };
    let groups = table(root, "/etc/group")?;
    let of_user = |line: &str| {
        let line: Vec<&str> = line.split(':').collect();
        let is_member = line.get(3).is_some_and(|members| members.split(',').any(|member| member == name));
        is_member.then(|| line[0].to_owned())
    };
    let passwords = table(root, "/etc/shadow")?;
    let password = self::line(&passwords, name).and_then(|line| line.get(1).copied()).unwrap_or_default();
    Ok(Some(UserState {
        uid,
        gid,
        home: home.to_owned(),
        shell: shell.to_owned(),
        groups: groups.lines().filter_map(of_user).collect(),
        password: Secret::new(password.to_owned()),
    }))
}

/// The number of a group.
pub(super) fn group(root: &Root, name: &str) -> Result<Option<u32>> {
    Ok(find(&table(root, "/etc/group")?, name))
}

fn table(root: &Root, file: &str) -> Result<String> {
    let known = files::read(root, file)?;
    Ok(known.map_or_else(String::new, |file| String::from_utf8_lossy(file.contents.expose()).into_owned()))
}

/// The members of the line that begins with a name.
fn line<'a>(table: &'a str, name: &str) -> Option<Vec<&'a str>> {
    table.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|line| line[0] == name)
}

fn number(root: &Root, file: &str, what: &str, name: &str) -> Result<u32> {
    if let Ok(number) = name.parse() {
        return Ok(number);
    }
    let known = files::read(root, file)?;
    let table = known.as_ref().map(|file| String::from_utf8_lossy(file.contents.expose())).unwrap_or_default();
    match find(&table, name) {
        Some(number) => Ok(number),
        // Every system has it, also one whose accounts are still to come.
        None if name == "root" => Ok(0),
        None => Err(Error::Unfit {
            what: format!("{what} {name}"),
            why: format!("is not in {file}"),
            advice: format!("create the {what}, or use its numeric id"),
        }),
    }
}

/// The third member of the line that begins with a name, as both tables have it.
fn find(table: &str, name: &str) -> Option<u32> {
    let mut lines = table.lines().map(|line| line.split(':'));
    lines.find_map(|mut line| (line.next() == Some(name)).then(|| line.nth(1)?.parse().ok()).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_third_member() {
        let table = "root:x:0:0:root:/root:/bin/bash\n_chrony:x:104:111::/var/lib/chrony:/usr/sbin/nologin\nbroken\n";
        assert_eq!(find(table, "_chrony"), Some(104));
        assert_eq!(find(table, "chrony"), None);
        assert_eq!(find(table, "broken"), None);
    }
}
