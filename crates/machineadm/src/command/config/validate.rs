//! `machineadm config validate`: everything that is wrong with kubeadm's files, at once.
use super::{
    arguments::Validate,
    input::{Configuration, configurations},
    losses,
};
use crate::{command_error::CommandError, show};
use host::contract::Exit;
use kubeadm::{Kind, Problem, Refusal, Rules, Severity, Strictness, Target, check, convert, shown};

pub(super) fn run(asked: &Validate) -> Result<Exit, CommandError> {
    let version = asked.kubernetes_version.as_deref();
    let target = version.map(|version| super::target(version, None)).transpose()?;
    let configurations = configurations(&asked.files)?;
    let mut problems = Vec::new();
    let mut documents = 0;
    for configuration in &configurations {
        let (found, count) = one(configuration, target.as_ref(), asked);
        problems.extend(found);
        documents += count;
    }
    match asked.output {
        Some(output) => show::machine_readable(&problems, output),
        None if problems.is_empty() => {
            let documents = show::count(documents, "document");
            show::print_text(&format!("{}: {documents}, no problems\n", asked.files.join(", ")))
        }
        None => show::print_text(&problems.iter().map(|problem| format!("{problem}\n")).collect::<String>()),
    }?;
    let refused = problems.iter().any(|problem| problem.severity == Severity::Error);
    Ok(if refused { Exit::Input } else { Exit::Done })
}

/// The problems of one configuration, and how many documents it has.
fn one(configuration: &Configuration, target: Option<&Target>, asked: &Validate) -> (Vec<Problem>, usize) {
    let strictness = if asked.tolerant { Strictness::Tolerant } else { Strictness::Strict };
    let read = configuration.read(Rules { strictness, minor: target.map(Target::minor) });
    let documents = read.versions.len() + read.component_configs.len();
    let problem = |severity: Severity, path: String, message: String, remedy: Option<String>| {
        let kind = path.split('.').next().and_then(Kind::named);
        let place = kind.and_then(|kind| read.places.get(&kind)).cloned();
        let (file, line) = place.unwrap_or_else(|| (configuration.name(), 1));
        Problem { severity, file, line, path, message, remedy }
    };
    let mut problems = read.problems.clone();
    let refusals = check(&read.documents, target.map(Target::minor));
    problems
        .extend(refusals.into_iter().map(|Refusal { severity, path, message }| problem(severity, path, message, None)));
    // What this kubeadm would not know, although it reads the API version.
    let api = read.versions.values().max().copied();
    if let (Some(target), false) = (target.cloned(), read.has_errors())
        && let Some(Ok(target)) = api.map(|api| target.with_api(api))
    {
        let losses = convert(&read.documents, &target).losses;
        // Feature gates have been checked already.
        let losses = losses.into_iter().filter(|loss| !loss.path.contains(".featureGates."));
        problems.extend(losses.map(|loss| {
            let message =
                format!("the kubeadm of Kubernetes 1.{} does not know {}", target.minor(), shown(&loss.value));
            let remedy = losses::remedy(&loss);
            problem(Severity::Error, shown(&loss.path), message, Some(remedy))
        }));
    }
    (problems, documents)
}
