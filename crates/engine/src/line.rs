//! A step of a plan in one line, as people and programs see it; what may be secret is never in it.
use crate::{Step, plan::Condition};
use host::{Change, DirectoryState, Enablement, FileState, PathState, UnitAction, UnitState, UserSettings, UserSort};
use outcome::Action;
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, TextDiff};
use std::fmt;

/// Lines of a diff beyond which only the count is shown.
const MOST_DIFF_LINES: usize = 60;
/// The same for a new file, of which everything is new.
const MOST_NEW_LINES: usize = 20;

/// Behind an act that was started and whose end nobody has seen.
pub(crate) const INTERRUPTED: &str = "again: its first run was interrupted";

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// What is done.
    pub action: Action,
    /// To what.
    pub target: String,
    /// How, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The lines that change, each after ` `, `+` or `-`; empty where contents are not public.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
}

/// Whether what a file holds is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Shown,
    Hidden,
}

impl Line {
    /// What to show of a step.
    pub fn of(step: &Step) -> Self {
        match step {
            Step::Ensure(change) => Self::of_change(change),
            Step::Run(act) => {
                Self { diff: at_most(act.diff(), MOST_DIFF_LINES), ..Self::plain(act.verb(), act.name(), act.shows()) }
            }
            Step::Redo(act) => Self::plain(act.verb(), act.name(), format!("{}, {INTERRUPTED}", act.shows())),
            Step::Close(act) => Self::plain(Action::Note, act.name(), "is done, but was not recorded".into()),
            Step::Wait(Condition::ServiceActive(service), within) => {
                Self::plain(Action::Wait, service, format!("until it runs, {} s at most", within.as_secs()))
            }
        }
    }

    fn plain(action: Action, target: &str, detail: String) -> Self {
        Self { action, target: target.to_owned(), detail, diff: Vec::new() }
    }

    fn of_change(change: &Change) -> Self {
        match change {
            Change::WriteFile { path, was: None, file, confidential, .. } => {
                let contents = if file.is_public() && !confidential { Contents::Shown } else { Contents::Hidden };
                Self::of_creation(path, file, contents)
            }
            Change::WriteFile { path, was: Some(was), file, confidential, .. } => {
                let is_public = was.is_public() && file.is_public() && !confidential;
                Self::of_rewrite(path, was, file, if is_public { Contents::Shown } else { Contents::Hidden })
            }
            Change::MakeDirectory { path, was, directory } => Self::of_directory(path, was.as_ref(), directory),
            Change::MakeLink { path, was: None, target } => Self::plain(Action::Create, path, format!("→ {target}")),
            Change::MakeLink { path, was: Some(was), target } => {
                Self::plain(Action::Change, path, format!("→ {target}, was → {was}"))
            }
            Change::Remove { path, was: PathState::Directory { .. } } => {
                Self::plain(Action::Delete, &format!("{path}/"), String::new())
            }
            Change::Remove { path, .. } => Self::plain(Action::Delete, path, String::new()),
            Change::SetSysctl { key, was, value, .. } => {
                Self::plain(Action::Change, key, format!("{} → {value}", was.as_deref().unwrap_or("absent")))
            }
            Change::LoadModule { name } => Self::plain(Action::Load, name, "kernel module".into()),
            Change::RefreshTrust { store, missing } => {
                let detail = match missing.len() {
                    0 => store.refresh[0].to_owned(),
                    1 => format!("{} 1 certificate", store.refresh[0]),
                    count => format!("{} {count} certificates", store.refresh[0]),
                };
                Self::plain(Action::Refresh, store.bundle, detail)
            }
            Change::AddGroup { name, gid } => {
                let number = gid.map(|gid| format!(", gid {gid}")).unwrap_or_default();
                Self::plain(Action::Create, name, format!("group{number}"))
            }
            Change::SetUser { name, was, settings } => {
                let action = if was.is_some() { Action::Change } else { Action::Create };
                Self::plain(action, name, of_user(settings))
            }
            Change::SetPassword { user, .. } => Self::plain(Action::Change, user, "password, not shown".to_owned()),
            Change::AuthorizedKeys { user, path, was, .. } => {
                let action = if was.is_some() { Action::Change } else { Action::Create };
                Self::plain(action, path, format!("SSH keys, 0600 {user}"))
            }
            Change::Unit { name, action, was } => Self::plain(of_systemctl(*action), name, of_unit(*action, *was)),
            Change::Restart { service, running: true, .. } => Self::plain(Action::Restart, service, "restart".into()),
            Change::Restart { service, running: false, .. } => {
                Self::plain(Action::Restart, service, "does not run; reads it when it starts".into())
            }
        }
    }

    fn of_directory(path: &str, was: Option<&DirectoryState>, directory: &DirectoryState) -> Self {
        let path = format!("{path}/");
        let DirectoryState { mode, uid, gid } = *directory;
        match was {
            None => Self::plain(Action::Create, &path, format!("{mode:04o} {} directory", owner(uid, gid))),
            Some(was) => {
                let from = Rights { mode: was.mode, uid: was.uid, gid: was.gid };
                Self::plain(Action::Change, &path, from.difference(&Rights { mode, uid, gid }).join(", "))
            }
        }
    }

    fn of_creation(path: &str, file: &FileState, contents: Contents) -> Self {
        match (contents, std::str::from_utf8(file.contents.expose())) {
            (Contents::Shown, Ok(text)) if !text.contains('\0') => {
                let lines = text.lines().map(|line| format!("+{line}")).collect();
                Self { diff: at_most(lines, MOST_NEW_LINES), ..Self::plain(Action::Create, path, rights(file)) }
            }
            (Contents::Shown, _) => {
                let size = file.contents.expose().len();
                Self::plain(Action::Create, path, format!("{}, {size} bytes that are not text", rights(file)))
            }
            (Contents::Hidden, _) => Self::plain(Action::Create, path, format!("{}{}", rights(file), size(file))),
        }
    }

    fn of_rewrite(path: &str, was: &FileState, file: &FileState, contents: Contents) -> Self {
        let mut details = Vec::new();
        let mut diff = Vec::new();
        match contents {
            _ if was.contents == file.contents => {}
            Contents::Hidden => details.push(format!("contents{}", size(file))),
            Contents::Shown => {
                let (added, removed, lines) = difference(was, file);
                details.push(format!("+{added} −{removed}"));
                diff = lines;
            }
        }
        details.extend(Rights::of(was).difference(&Rights::of(file)));
        Self { action: Action::Change, target: path.to_owned(), detail: details.join(", "), diff }
    }

    /// The sign in front.
    pub fn mark(&self) -> &'static str {
        match self.action {
            Action::Create | Action::Load | Action::Install | Action::Import | Action::Restore => "+",
            Action::Delete => "-",
            Action::Change | Action::Enable | Action::Disable | Action::Mask | Action::Unmask => "~",
            Action::Restart | Action::Refresh | Action::Start | Action::Stop => "↻",
            Action::Run => "▸",
            Action::RollBack | Action::Note | Action::Wait => "·",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.target)
    }
}

/// What is set of a user, in words.
fn of_user(settings: &UserSettings) -> String {
    let UserSettings { uid, group, groups, home, shell, sort } = settings;
    let sort = match sort {
        UserSort::Person => "user",
        UserSort::System => "system user",
    };
    let members = [
        uid.map(|uid| format!("uid {uid}")),
        group.as_ref().map(|group| format!("group {group}")),
        (!groups.is_empty()).then(|| format!("groups {}", groups.join(" "))),
        home.as_ref().map(|home| format!("home {home}")),
        shell.as_ref().map(|shell| format!("shell {shell}")),
    ];
    std::iter::once(sort.to_owned()).chain(members.into_iter().flatten()).collect::<Vec<_>>().join(", ")
}

const fn of_systemctl(action: UnitAction) -> Action {
    match action {
        UnitAction::Enable => Action::Enable,
        UnitAction::Disable => Action::Disable,
        UnitAction::Mask => Action::Mask,
        UnitAction::Unmask => Action::Unmask,
        UnitAction::Start => Action::Start,
        UnitAction::Stop => Action::Stop,
    }
}

/// What happens to a unit, in words.
fn of_unit(action: UnitAction, was: UnitState) -> String {
    let before = match was.enablement {
        Enablement::Unknown => "unknown",
        Enablement::Enabled => "enabled",
        Enablement::Disabled => "disabled",
        Enablement::Masked => "masked",
        Enablement::Static => "static",
    };
    match action {
        UnitAction::Enable | UnitAction::Disable | UnitAction::Mask | UnitAction::Unmask => {
            format!("{}, was {before}", action.verb())
        }
        UnitAction::Start => "start, 120 s at most".to_owned(),
        UnitAction::Stop => "stop".to_owned(),
    }
}

/// The mode and owner of a file or directory.
struct Rights {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl Rights {
    const fn of(file: &FileState) -> Self {
        Self { mode: file.mode, uid: file.uid, gid: file.gid }
    }

    /// What changes, in words.
    fn difference(&self, new: &Self) -> Vec<String> {
        let mode = (self.mode != new.mode).then(|| format!("mode {:04o} → {:04o}", self.mode, new.mode));
        let [old_owner, new_owner] = [self, new].map(|rights| owner(rights.uid, rights.gid));
        let owner = (old_owner != new_owner).then(|| format!("owner {old_owner} → {new_owner}"));
        mode.into_iter().chain(owner).collect()
    }
}

fn rights(file: &FileState) -> String {
    format!("{:04o} {}", file.mode, owner(file.uid, file.gid))
}

fn owner(uid: u32, gid: u32) -> String {
    let name = |id: u32| if id == 0 { "root".to_owned() } else { id.to_string() };
    format!("{}:{}", name(uid), name(gid))
}

fn size(file: &FileState) -> String {
    format!(", {} bytes, not shown", file.contents.expose().len())
}

/// Lines added and removed, and the changed places with a line around them.
fn difference(was: &FileState, file: &FileState) -> (usize, usize, Vec<String>) {
    let [old, new] = [was, file].map(|file| String::from_utf8_lossy(file.contents.expose()).into_owned());
    let diff = TextDiff::from_lines(&old, &new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    (added, removed, at_most(lines_of(&diff, 1), MOST_DIFF_LINES))
}

/// The lines that differ between two texts, each after its sign.
pub(crate) fn changed_lines(old: &str, new: &str) -> Vec<String> {
    lines_of(&TextDiff::from_lines(old, new), 0)
}

fn lines_of(diff: &TextDiff<'_, '_, str>, around: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for group in diff.grouped_ops(around) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Insert => '+',
                ChangeTag::Delete => '-',
                ChangeTag::Equal => ' ',
            };
            lines.push(format!("{sign}{}", change.value().trim_end_matches('\n')));
        }
    }
    lines
}

/// The first lines, and how many more there are.
fn at_most(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        let rest = lines.len() - most;
        lines.truncate(most);
        lines.push(format!(" … and {rest} more {}", if rest == 1 { "line" } else { "lines" }));
    }
    lines
}
