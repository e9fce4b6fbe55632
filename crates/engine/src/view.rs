//! A plan as people and programs see it; what may be secret is never in it.
use crate::{Mode, Planned, Preview, Provenance, Remark, Step, Wanted};
use documents::v1alpha1::{API_VERSION, Command, Program};
use host::{Act, Change, Condition, FileState};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::fmt;

/// Lines of a diff beyond which only the count is shown.
const MOST_DIFF_LINES: usize = 60;

/// A plan to show.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    api_version: &'static str,
    kind: &'static str,
    /// The machine's name.
    pub machine: String,
    /// The mode.
    pub mode: Mode,
    /// How many documents asked for it.
    pub documents: usize,
    /// Where they came from, in their order.
    pub sources: Vec<Provenance>,
    /// How many changes are known.
    pub changes: usize,
    /// Phase by phase.
    pub phases: Vec<PhaseView>,
}

/// A phase of a plan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseView {
    /// Its name.
    pub name: &'static str,
    /// The phase that alone can tell the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_after: Option<&'static str>,
    /// The steps.
    pub steps: Vec<Line>,
    /// What to know although there is nothing to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// What is done: create, change, run, restart, wait.
    pub action: &'static str,
    /// To what.
    pub target: String,
    /// How, in a few words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The lines that change, each after ` `, `+` or `-`; empty where contents are not public.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<String>,
}

/// Whether what a file holds is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Shown,
    Hidden,
}

impl PlanView {
    /// What to show of a preview of what is wanted.
    pub fn new(machine: String, mode: Mode, wanted: &Wanted, preview: &Preview) -> Self {
        let phase = |(name, planned): &(&'static str, Planned)| PhaseView {
            name,
            known_after: planned.known_after,
            steps: planned.steps.iter().map(Line::of).collect(),
            remarks: planned.remarks.iter().map(Remark::to_string).collect(),
        };
        Self {
            api_version: API_VERSION,
            kind: "Plan",
            machine,
            mode,
            documents: wanted.documents,
            sources: wanted.sources.clone(),
            changes: preview.changes(),
            phases: preview.0.iter().map(phase).collect(),
        }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unverifiable(act) => write!(f, "{act} ran before; nothing shows its effect (no creates, no unless)"),
            Self::AtServiceStart(service) => write!(f, "{service} reads it when it starts"),
            Self::AtBoot(what) => write!(f, "{what} count from the boot of this root on"),
        }
    }
}

impl Line {
    /// What to show of a step.
    pub fn of(step: &Step) -> Self {
        match step {
            Step::Ensure(change) => Self::of_change(change),
            Step::Run(act) => Self::of_act("run", act, ""),
            Step::Redo(act) => Self::of_act("run", act, ", again: its first run was cut short"),
            Step::Close(act) => Self::plain("note", act.name(), "is done, but was not noted".into()),
            Step::Wait(Condition::ServiceActive(service), within) => {
                Self::plain("wait", service, format!("until it runs, {} s at most", within.as_secs()))
            }
        }
    }

    fn plain(action: &'static str, target: &str, detail: String) -> Self {
        Self { action, target: target.to_owned(), detail, diff: Vec::new() }
    }

    fn of_change(change: &Change) -> Self {
        match change {
            Change::WriteFile { path, was: None, file, confidential } => {
                let shown = if file.is_public() && !confidential { String::new() } else { size(file) };
                Self::plain("create", path, format!("{}{shown}", rights(file)))
            }
            Change::WriteFile { path, was: Some(was), file, confidential } => {
                let is_public = was.is_public() && file.is_public() && !confidential;
                Self::of_rewrite(path, was, file, if is_public { Contents::Shown } else { Contents::Hidden })
            }
            Change::SetSysctl { key, was, value, .. } => {
                Self::plain("change", key, format!("{} → {value}", was.as_deref().unwrap_or("absent")))
            }
            Change::LoadModule { name } => Self::plain("load", name, "kernel module".into()),
            Change::RefreshTrust { store, missing } => {
                let count = missing.len();
                let detail = format!("{} {count} certificate{}", store.refresh[0], if count == 1 { "" } else { "s" });
                Self::plain("refresh", store.bundle, detail)
            }
            Change::Restart { service, running: true, .. } => Self::plain("restart", service, "restart".into()),
            Change::Restart { service, running: false, .. } => {
                Self::plain("restart", service, "does not run; reads it when it starts".into())
            }
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
        if was.mode != file.mode {
            details.push(format!("mode {:04o} → {:04o}", was.mode, file.mode));
        }
        if (was.uid, was.gid) != (file.uid, file.gid) {
            details.push(format!("owner {} → {}", owner(was), owner(file)));
        }
        Self { action: "change", target: path.to_owned(), detail: details.join(", "), diff }
    }

    fn of_act(action: &'static str, act: &Act, again: &str) -> Self {
        let how = match act {
            Act::Command(Command { program: Program::Argv(argv), .. }) => argv.first().cloned().unwrap_or_default(),
            Act::Command(Command { program: Program::Shell(script), .. }) => {
                format!("shell, {} lines", script.expose().lines().count())
            }
            Act::Init(init) => format!("kubeadm {}, {}", init.version, init.api_version),
        };
        Self::plain(action, act.name(), format!("{how}{again}"))
    }

    /// The sign in front.
    pub fn mark(&self) -> &'static str {
        match self.action {
            "create" | "load" => "+",
            "change" => "~",
            "restart" | "refresh" => "↻",
            "run" => "▸",
            _ => "·",
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.target)
    }
}

fn rights(file: &FileState) -> String {
    format!("{:04o} {}", file.mode, owner(file))
}

fn owner(file: &FileState) -> String {
    let name = |id: u32| if id == 0 { "root".to_owned() } else { id.to_string() };
    format!("{}:{}", name(file.uid), name(file.gid))
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
    let mut lines = Vec::new();
    for group in diff.grouped_ops(1) {
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Insert => '+',
                ChangeTag::Delete => '-',
                ChangeTag::Equal => ' ',
            };
            lines.push(format!("{sign}{}", change.value().trim_end_matches('\n')));
        }
    }
    if lines.len() > MOST_DIFF_LINES {
        let rest = lines.len() - MOST_DIFF_LINES;
        lines.truncate(MOST_DIFF_LINES);
        lines.push(format!(" … and {rest} more lines"));
    }
    (added, removed, lines)
}
