//! `machineadm config validate`: every problem of kubeadm's files, in the form of `machineadm validate`.
use super::{
    arguments::Validate,
    input::{Configuration, configurations},
    losses,
};
use crate::{
    command::validate::{Checked, print},
    command_error::CommandError,
};
use documents::{Note, Positions, Report, Severity};
use host::contract::Exit;
use kubeadm::{Kind, Location, Problem, Read, Refusal, Rules, Strictness, Target, check, convert, shown};
use std::collections::HashMap;

pub(super) fn run(asked: &Validate) -> Result<Exit, CommandError> {
    let version = asked.kubernetes_version.as_deref();
    let target = version.map(|version| super::target(version, None)).transpose()?;
    let strictness = if asked.tolerant { Strictness::Tolerant } else { Strictness::Strict };
    let mut notes = Vec::new();
    let mut documents = 0;
    for configuration in &configurations(&asked.files)? {
        let read = configuration.read(Rules { strictness, minor: target.as_ref().map(Target::minor) });
        documents += read.versions.len() + read.component_configs.len();
        notes.extend(positioned(problems(&read, configuration, target.as_ref()), configuration));
    }
    print(&Report::new(notes), &Checked { files: &asked.files, documents }, asked.output)
}

/// The problems of one configuration.
fn problems(read: &Read, configuration: &Configuration, target: Option<&Target>) -> Vec<Problem> {
    let mut problems = read.problems.clone();
    let refusals = check(&read.documents, target.map(Target::minor));
    problems.extend(refusals.into_iter().map(|Refusal { severity, path, message }| {
        let (location, kind) = located(read, configuration, &path);
        let Location { file, line, document } = location;
        Problem { severity, file, line, document: Some(document), kind, path, message, remedy: None }
    }));
    let Some(target) = target.filter(|_| !read.has_errors()) else { return problems };
    // What this kubeadm would not know, although it reads the API version.
    let api = read.versions.values().max().copied();
    let Some(Ok(target)) = api.map(|api| target.clone().with_api(api)) else { return problems };
    let losses = convert(&read.documents, &target).losses;
    // Feature gates have been checked already.
    problems.extend(losses.into_iter().filter(|loss| !loss.path.contains(".featureGates.")).map(|loss| {
        let (location, kind) = located(read, configuration, &loss.path);
        let Location { file, line, document } = location;
        let message = format!("the kubeadm of Kubernetes 1.{} does not support {}", target.minor(), shown(&loss.value));
        let (path, remedy) = (shown(&loss.path), Some(losses::remedy(&loss)));
        Problem {
            severity: kubeadm::Severity::Error,
            file,
            line,
            document: Some(document),
            kind,
            path,
            message,
            remedy,
        }
    }));
    problems
}

/// Where the document of a path such as `ClusterConfiguration.networking` starts, and its kind.
fn located(read: &Read, configuration: &Configuration, path: &str) -> (Location, Option<String>) {
    let kind = path.split('.').next().and_then(Kind::named);
    let location = kind.and_then(|kind| read.locations.get(&kind)).cloned();
    let start = || Location { file: configuration.name(), line: 1, document: 1 };
    (location.unwrap_or_else(start), kind.map(|kind| kind.name().to_owned()))
}

/// The problems of a configuration in the order of its files, each with the position of its field.
fn positioned(problems: Vec<Problem>, configuration: &Configuration) -> Vec<Note> {
    let mut known: HashMap<(String, usize), Option<Positions>> = HashMap::new();
    let mut notes: Vec<Note> = Vec::new();
    for problem in problems {
        let Problem { severity, file, line, document, kind, path, message, remedy } = problem;
        let path = kind.as_deref().and_then(|kind| path.strip_prefix(kind)).unwrap_or(&path).trim_start_matches('.');
        let (line, column) = match path {
            "" => (line, 1),
            path => {
                let read = || configuration.document(&file, line).and_then(Positions::of);
                let positions = known.entry((file.clone(), line)).or_insert_with(read);
                let (below, column) = positions.as_ref().map_or((1, 1), |positions| positions.find(path));
                (line + below - 1, column)
            }
        };
        let severity = match severity {
            kubeadm::Severity::Error => Severity::Error,
            kubeadm::Severity::Warning => Severity::Warning,
        };
        let (source, path) = (file, path.to_owned());
        notes.push(Note { severity, source, line, column, document, kind, name: None, path, message, hint: remedy });
    }
    notes.sort_by_key(|note| (configuration.index(&note.source), note.line, note.column));
    notes
}
