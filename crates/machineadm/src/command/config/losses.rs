//! What a kubeadm can't be told, and what is said in another way, for people.
use crate::{command_error::CommandError, show::count};
use host::contract::Exit;
use kubeadm::{Flag, Loss, Note, NoteKind, Severity, Target, shown};

/// Follows losses that are refused.
pub(super) const ALLOW: &str = "To go on without them: --allow-loss\n";

/// Losses that were not allowed.
pub(super) fn refused(losses: &[Loss], target: &Target) -> CommandError {
    CommandError::report(Exit::Input, text(losses, target, Severity::Error) + ALLOW)
}

/// What is lost, as an error or as a warning; empty without losses.
pub(super) fn text(losses: &[Loss], target: &Target, severity: Severity) -> String {
    if losses.is_empty() {
        return String::new();
    }
    let word = if severity == Severity::Error { "error" } else { "warning" };
    let version = target.kubernetes();
    let things = count(losses.len(), "thing");
    let mut text = format!(
        "{word}: Kubernetes {}.{} reads {}, which can't say {things} of this file\n",
        version.major,
        version.minor,
        target.api()
    );
    for loss in losses {
        text.push_str(&format!("  {}   {}   ({})\n", shown(&loss.path), shown(&loss.value), remedy(loss)));
    }
    text
}

/// The version that would carry it.
pub(super) fn remedy(loss: &Loss) -> String {
    match (loss.since_api, loss.since_minor, loss.until_minor, loss.why) {
        (Some(api), Some(minor), ..) => format!("since {}, Kubernetes 1.{minor}", api.name()),
        (None, Some(minor), ..) => format!("since Kubernetes 1.{minor}"),
        (_, _, Some(minor), _) => format!("up to Kubernetes 1.{minor}"),
        (.., why) => why.unwrap_or_default().to_owned(),
    }
}

/// The flags that have to be given beside the file.
pub(super) fn flags(flags: &[Flag]) -> String {
    let mut text = String::new();
    for command in ["init", "join"] {
        let of_command: Vec<_> = flags.iter().filter(|flag| flag.command == command).map(Flag::shown).collect();
        if !of_command.is_empty() {
            let both = flags.iter().any(|flag| flag.command != command);
            let whose = if both { format!(" (kubeadm {command})") } else { String::new() };
            text.push_str(&format!("carried by a flag instead: {}{whose}\n", of_command.join(" ")));
        }
    }
    text
}

/// What is said in another way.
pub(super) fn notes(notes: &[Note]) -> String {
    let line = |Note { path, kind, .. }: &Note| match kind {
        NoteKind::Set(value) => format!("note: {} is set to {}\n", shown(path), shown(value)),
        NoteKind::Equivalent(other) => format!("note: {} is set by {}\n", shown(path), shown(other)),
        NoteKind::Default | NoteKind::NoEffect | NoteKind::Sorted => String::new(),
    };
    notes.iter().map(line).collect()
}
