//! What a kubeadm can't be told, and what is said in another way, for people.
use crate::show::count;
use kubeadm::{Flag, Loss, Note, NoteKind, Severity, Target, shown};

/// Tells what is lost, as an error or as a warning.
pub(super) fn tell(losses: &[Loss], target: &Target, severity: Severity) {
    if losses.is_empty() {
        return;
    }
    let word = if severity == Severity::Error { "error" } else { "warning" };
    let version = target.kubernetes();
    let things = count(losses.len(), "thing");
    tell!(
        "{word}: Kubernetes {}.{} reads {}, which can't say {things} of this file",
        version.major,
        version.minor,
        target.api()
    );
    for loss in losses {
        tell!("  {}   {}   ({})", shown(&loss.path), shown(&loss.value), remedy(loss));
    }
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

/// Tells which flags have to be given beside the file.
pub(super) fn tell_flags(flags: &[Flag]) {
    for command in ["init", "join"] {
        let of_command: Vec<_> = flags.iter().filter(|flag| flag.command == command).map(Flag::shown).collect();
        if !of_command.is_empty() {
            let both = flags.iter().any(|flag| flag.command != command);
            let whose = if both { format!(" (kubeadm {command})") } else { String::new() };
            tell!("carried by a flag instead: {}{whose}", of_command.join(" "));
        }
    }
}

/// Tells what is said in another way.
pub(super) fn tell_notes(notes: &[Note]) {
    for Note { path, kind, .. } in notes {
        let path = shown(path);
        match kind {
            NoteKind::Set(value) => tell!("note: {path} is set to {}", shown(value)),
            NoteKind::Equivalent(other) => tell!("note: {path} is said by {}", shown(other)),
            NoteKind::Default | NoteKind::NoEffect | NoteKind::Sorted => {}
        }
    }
}
