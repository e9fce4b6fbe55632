//! `machineadm config convert`: any kubeadm API version in, the right one out, and every loss named.
use super::{
    arguments::Convert,
    input::{Configuration, configurations},
    losses,
};
use crate::{
    command_error::{CommandError, all_succeeded},
    show,
};
use documents::limits;
use host::contract::Exit;
use kubeadm::{
    ApiVersion, ComponentConfig, Converted, Flag, Loss, Note, Problem, Rules, Severity, Strictness, Target,
    WireDocument, convert,
};
use serde::Serialize;

pub(super) fn run(asked: &Convert) -> Result<Exit, CommandError> {
    let target = super::target(&asked.kubernetes_version, asked.api_version.as_deref())?;
    let configurations = configurations(&asked.files)?;
    let single = asked.is_single(&configurations);
    let mut outcomes = Vec::new();
    let mut results = Vec::new();
    for configuration in &configurations {
        let Attempt { outcome, messages } = one(configuration, &target, asked);
        let heading = if single { String::new() } else { format!("# {}\n", configuration.name()) };
        match &outcome {
            Some(outcome) if !outcome.refused => warn_report!("{heading}{messages}"),
            _ => results.push(Err(CommandError::report(Exit::Input, heading + &messages))),
        }
        outcomes.extend(outcome);
    }
    results.push(match (asked.output, outcomes.first()) {
        (Some(output), Some(outcome)) if single => show::machine_readable(outcome, output),
        (Some(_), None) if single => Ok(()),
        (Some(output), _) => show::machine_readable(&outcomes, output),
        (None, _) => print(&outcomes, single),
    });
    all_succeeded(results)?;
    Ok(Exit::Done)
}

impl Convert {
    /// Whether one configuration was asked for, and not those of a directory.
    fn is_single(&self, configurations: &[Configuration]) -> bool {
        configurations.len() == 1 && !self.files.iter().any(|name| std::path::Path::new(name).is_dir())
    }
}

/// What became of one configuration, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    file: String,
    kubernetes_version: String,
    api_version: ApiVersion,
    /// Empty if a loss was refused.
    documents: Vec<WireDocument>,
    /// Documents of other components, untouched.
    component_configs: Vec<String>,
    flags: Vec<Flag>,
    losses: Vec<Loss>,
    notes: Vec<Note>,
    #[serde(skip)]
    refused: bool,
    #[serde(skip)]
    yaml: String,
}

/// How the conversion of one configuration ended.
struct Attempt {
    /// `None` if it can't be read.
    outcome: Option<Outcome>,
    /// For people: problems, losses, flags and notes.
    messages: String,
}

fn one(configuration: &Configuration, target: &Target, asked: &Convert) -> Attempt {
    let strictness = if asked.tolerant { Strictness::Tolerant } else { Strictness::Strict };
    let read = configuration.read(Rules { strictness, minor: None });
    let mut messages = problems(&read.problems);
    if read.has_errors() {
        return Attempt { outcome: None, messages };
    }
    let converted = convert(&read.documents, target);
    let refused = !converted.losses.is_empty() && !asked.allow_loss;
    let severity = if refused { Severity::Error } else { Severity::Warning };
    messages += &losses::text(&converted.losses, target, severity);
    messages += &losses::flags(&converted.flags);
    messages += &losses::notes(&converted.notes);
    messages += if refused { losses::ALLOW } else { "" };
    let yaml = yaml(&converted, &read.component_configs);
    let Converted { documents, flags, losses, notes } = converted;
    let outcome = Outcome {
        file: configuration.name(),
        kubernetes_version: target.release().to_owned(),
        api_version: target.api(),
        documents: if refused { Vec::new() } else { documents },
        component_configs: read.component_configs.into_iter().map(|config| config.text).collect(),
        flags,
        losses,
        notes,
        refused,
        yaml,
    };
    Attempt { outcome: Some(outcome), messages }
}

/// A line for each problem, as many as the validators print: errors rather than warnings.
fn problems(problems: &[Problem]) -> String {
    let of = |severity| problems.iter().filter(move |problem| problem.severity == severity);
    let listed = of(Severity::Error).chain(of(Severity::Warning)).take(limits::NOTES);
    let text: String = listed.map(|problem| format!("{problem}\n")).collect();
    match problems.len().saturating_sub(limits::NOTES) {
        0 => text,
        more => format!("{text}and {}\n", show::count(more, "more problem")),
    }
}

/// The file for kubeadm, with the documents that it passes on.
fn yaml(converted: &Converted, component_configs: &[ComponentConfig]) -> String {
    let mut text = converted.yaml();
    for config in component_configs {
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(config.text.trim_start_matches("---\n"));
    }
    text
}

/// The files, or one stream of them with their names.
fn print(outcomes: &[Outcome], single: bool) -> Result<(), CommandError> {
    let mut text = String::new();
    for outcome in outcomes.iter().filter(|outcome| !outcome.refused) {
        if !single {
            text.push_str(&format!("---\n# {}\n", outcome.file));
        }
        text.push_str(&outcome.yaml);
    }
    show::print(text)
}
