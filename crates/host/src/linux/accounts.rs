//! Users and groups by the machine's own `/etc/passwd` and `/etc/group`: a root directory has accounts of its own.
use super::{files, root::Root};
use crate::{Error, Result};

/// User and group numbers of an owner.
pub(super) fn resolve(root: &Root, user: &str, group: &str) -> Result<(u32, u32)> {
    Ok((number(root, "/etc/passwd", "user", user)?, number(root, "/etc/group", "group", group)?))
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
