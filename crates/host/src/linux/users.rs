//! Users and groups, created and changed by the machine's own tools (shadow), confined to its root.
use super::{Linux, accounts, files, paths, root::Missing};
use crate::{Call, DirectoryState, Error, FileState, Program, Result, UserSettings, UserSort, UserState};
use secret::Secret;
use std::time::Duration;

/// How long one of the tools may take.
const WITHIN: Duration = Duration::from_secs(60);

/// Creates a group.
pub(super) fn add_group(host: &Linux, name: &str, gid: Option<u32>) -> Result<()> {
    let gid = gid.map(|gid| gid.to_string());
    let mut arguments = Vec::new();
    option(&mut arguments, "--gid", gid.as_deref());
    run(host, "groupadd", &arguments, name)
}

/// Creates a user, or changes what is set of an existing one.
pub(super) fn set_user(host: &Linux, name: &str, was: Option<&UserState>, settings: &UserSettings) -> Result<()> {
    let UserSettings { uid, group, groups, home, shell, sort } = settings;
    let mut arguments = Vec::new();
    option(&mut arguments, "--gid", group.as_deref());
    option(&mut arguments, "--shell", shell.as_deref());
    let groups = groups.join(",");
    option(&mut arguments, "--groups", Some(groups.as_str()).filter(|groups| !groups.is_empty()));
    if was.is_some() {
        option(&mut arguments, "--home", home.as_deref());
        if !groups.is_empty() {
            arguments.push("--append".to_owned());
        }
        return run(host, "usermod", &arguments, name);
    }
    option(&mut arguments, "--home-dir", home.as_deref());
    option(&mut arguments, "--uid", uid.map(|uid| uid.to_string()).as_deref());
    let of_sort: &[&str] = match sort {
        UserSort::Person => &["--create-home"],
        UserSort::System => &["--system", "--no-create-home"],
    };
    arguments.extend(of_sort.iter().map(|word| (*word).to_owned()));
    match group {
        Some(_) => {}
        // A group of that name is there already: useradd would refuse to create it again.
        None if accounts::group(&host.root, name)?.is_some() => option(&mut arguments, "--gid", Some(name)),
        None => arguments.push("--user-group".to_owned()),
    }
    run(host, "useradd", &arguments, name)
}

/// Sets a password. The hash goes through standard input: every user of the machine can see arguments.
pub(super) fn set_password(host: &Linux, user: &str, hash: &Secret<String>) -> Result<()> {
    let program = tool(host, "chpasswd", vec!["--encrypted".to_owned()])?;
    let input = Secret::new(format!("{user}:{}\n", hash.expose()));
    host.runner().run_with_input(&program, &input)?;
    host.settle()
}

/// Writes the file with a user's keys. The user owns the directories on the way, so that no link in them is followed.
pub(super) fn authorized_keys(host: &Linux, user: &str, path: &str, contents: &Secret<Vec<u8>>) -> Result<()> {
    let Some(UserState { uid, gid, .. }) = accounts::user(&host.root, user)? else {
        return Err(Error::Unfit {
            what: format!("user {user}"),
            why: "is not in /etc/passwd".to_owned(),
            advice: "create the user, then run again".to_owned(),
        });
    };
    if let Some((directory, _)) = path.rsplit_once('/') {
        [directory, path].into_iter().try_for_each(|place| check_owner(host, place, (user, uid)))?;
        paths::make_directory(&host.root, directory, DirectoryState { mode: 0o700, uid, gid })?;
    }
    files::write(&host.root, path, &FileState { contents: contents.clone(), mode: 0o600, uid, gid })
}

/// What is there must be the user's own: the keys of another user would become this one's, and the reverse.
fn check_owner(host: &Linux, path: &str, (user, uid): (&str, u32)) -> Result<()> {
    let found = host.root.walk_unfollowed(path, Missing::Report)?.and_then(|spot| spot.found);
    match found.filter(|found| found.st_uid != uid) {
        None => Ok(()),
        Some(found) => Err(Error::Unfit {
            what: path.to_owned(),
            why: format!("is owned by the user with UID {}, not by {user}", found.st_uid),
            advice: format!("set another `home`, or check its content, then run: chown {user} {path}"),
        }),
    }
}

fn option(arguments: &mut Vec<String>, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        arguments.extend([name.to_owned(), value.to_owned()]);
    }
}

fn run(host: &Linux, name: &str, arguments: &[String], subject: &str) -> Result<()> {
    let arguments = arguments.iter().cloned().chain(["--".to_owned(), subject.to_owned()]).collect();
    host.runner().run_silently(&tool(host, name, arguments)?)?;
    host.settle()
}

fn tool(host: &Linux, name: &str, arguments: Vec<String>) -> Result<Program> {
    let mut is_there = false;
    for directory in ["/usr/sbin", "/sbin", "/usr/bin"] {
        let spot = host.root.walk(&format!("{directory}/{name}"), Missing::Report)?;
        is_there = is_there || spot.is_some_and(|spot| spot.found.is_some());
    }
    if !is_there {
        return Err(Error::Unfit {
            what: name.to_owned(),
            why: "is not installed".to_owned(),
            advice: "install the package that has it (passwd or shadow-utils), then run again".to_owned(),
        });
    }
    let argv = std::iter::once(name.to_owned()).chain(arguments).collect();
    Ok(Program { name: name.to_owned(), call: Call::Argv(argv), environment: [].into(), within: WITHIN })
}
