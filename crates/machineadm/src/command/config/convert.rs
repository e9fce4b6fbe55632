//! `machineadm config convert`: any kubeadm API version in, the right one out, and every loss named.
use super::{
    arguments::Convert,
    input::{Configuration, configurations},
    losses,
};
use crate::show;
use host::contract::Exit;
use kubeadm::{
    ApiVersion, ComponentConfig, Converted, Flag, Loss, Note, Rules, Severity, Strictness, Target, WireDocument,
    convert,
};
use serde::Serialize;

pub(super) fn run(asked: &Convert) -> Result<Exit, Exit> {
    let target = super::target(&asked.kubernetes_version, asked.api_version.as_deref())?;
    let configurations = configurations(&asked.files)?;
    let single = asked.is_single(&configurations);
    let results: Vec<_> = configurations
        .iter()
        .map(|configuration| {
            if !single {
                tell!("# {}", configuration.name());
            }
            one(configuration, &target, asked)
        })
        .collect();
    let refused = results.iter().any(|result| result.as_ref().is_none_or(|result| result.refused));
    match asked.output {
        Some(output) if single => {
            if let Some(Some(result)) = results.first() {
                show::machine_readable(result, output);
            }
        }
        Some(output) => show::machine_readable(&results.iter().flatten().collect::<Vec<_>>(), output),
        None => print(&results, single),
    }
    Ok(if refused { Exit::Input } else { Exit::Done })
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

/// Converts one configuration; `None` if it can't be read. What people have to know goes to standard error.
fn one(configuration: &Configuration, target: &Target, asked: &Convert) -> Option<Outcome> {
    let strictness = if asked.tolerant { Strictness::Tolerant } else { Strictness::Strict };
    let read = configuration.read(Rules { strictness, minor: None });
    for problem in &read.problems {
        tell!("{problem}");
    }
    if read.has_errors() {
        return None;
    }
    let converted = convert(&read.documents, target);
    let refused = !converted.losses.is_empty() && !asked.allow_loss;
    losses::tell(&converted.losses, target, if refused { Severity::Error } else { Severity::Warning });
    losses::tell_flags(&converted.flags);
    losses::tell_notes(&converted.notes);
    if refused {
        tell!("To go on without them: --allow-loss");
    }
    let yaml = yaml(&converted, &read.component_configs);
    let Converted { documents, flags, losses, notes } = converted;
    Some(Outcome {
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
    })
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
fn print(results: &[Option<Outcome>], single: bool) {
    let mut text = String::new();
    for result in results.iter().flatten().filter(|result| !result.refused) {
        if !single {
            text.push_str(&format!("---\n# {}\n", result.file));
        }
        text.push_str(&result.yaml);
    }
    show::print(&text);
}
