//! `machineadm config edit-map`: the kubeadm-config ConfigMap, changed for a Kubernetes version.
use super::{arguments::EditMap, cluster_map::ClusterMap, input, losses, map_diff};
use crate::{command_error::CommandError, show};
use cluster::Effect;
use engine::outcome::chain;
use host::contract::Exit;
use kubeadm::{
    Duration, Severity, Target,
    hub::{Arg, ClusterConfiguration},
    kubeadm_config_map::{EditError, Edited, edit, remove_api_endpoint},
    parse_yaml,
};
use objects::yaml;
use serde_json::Value;
use std::collections::BTreeMap;

/// How often a ConfigMap that other clients change at the same time is read and edited again.
const TRIES: usize = 20;

pub(super) fn run(asked: &EditMap) -> Result<Exit, CommandError> {
    let target = super::target(&asked.kubernetes_version, None)?;
    let changes = Changes::of(asked)?;
    let Some(name) = asked.file.as_deref() else { return in_cluster(&target, &changes) };
    let text = input::text(name)?;
    let new = edited(name, &text, &target, &changes)?;
    show::print(new.map_or_else(|| text.to_string(), |new| new.text))?;
    Ok(Exit::Done)
}

/// Edits the cluster's own ConfigMap and prints the diff. What other clients change at the same time is not lost.
fn in_cluster(target: &Target, changes: &Changes<'_>) -> Result<Exit, CommandError> {
    let map = ClusterMap::of(&changes.asked.connection)?;
    let (effect, tried) = if changes.asked.dry_run { (Effect::DryRun, " (dry run)") } else { (Effect::Real, "") };
    for _ in 0..TRIES {
        let text = map.get()?;
        let Some(new) = edited("kubeadm-config", &text, target, changes)? else {
            show::print_text("kubeadm-config: nothing to change\n")?;
            return Ok(Exit::Done);
        };
        if map.replace(&new.text, effect)? {
            show::print_text(&format!("{}kubeadm-config: changed{tried}\n", new.diff))?;
            return Ok(Exit::Done);
        }
    }
    let text = format!("other clients keep changing kubeadm-config; gave up after {TRIES} attempts");
    Err(CommandError::failed(text).with_remedy("run again later"))
}

/// A ConfigMap that differs from the one that was read.
struct NewMap {
    /// YAML or JSON, as it was read.
    text: String,
    /// What differs in its data.
    diff: String,
}

/// The edited ConfigMap; `None` when there is nothing to change.
fn edited(name: &str, text: &str, target: &Target, changes: &Changes<'_>) -> Result<Option<NewMap>, CommandError> {
    let asked = changes.asked;
    let mut map = parse_yaml(text).map_err(|error| CommandError::invalid(format!("{name}: {error}")))?;
    let data = data(&map).ok_or_else(|| CommandError::invalid(format!("{name}: not a ConfigMap with text in data")))?;
    let failed = |error: EditError| CommandError::invalid(format!("{name}: {}", chain(&error)));
    let edited = edit(&data, target, |cluster| changes.apply(cluster)).map_err(failed)?;
    let Edited { data: mut new, losses, notes, .. } = edited;
    if !losses.is_empty() && !asked.allow_loss {
        return Err(losses::refused(&losses, target));
    }
    warn_report!("{}{}", losses::text(&losses, target, Severity::Warning), losses::notes(&notes));
    if let Some(node) = &asked.remove_api_endpoint {
        new = remove_api_endpoint(&new, target, node).map_err(failed)?;
    }
    if new == data {
        return Ok(None);
    }
    let diff = map_diff::diff(&data, &new);
    map["data"] = new.into_iter().map(|(key, text)| (key, Value::from(text))).collect();
    let as_json = text.trim_start().starts_with('{');
    let json = || format!("{}\n", serde_json::to_string_pretty(&map).unwrap_or_default());
    Ok(Some(NewMap { text: if as_json { json() } else { yaml::write_blocks(&map) }, diff }))
}

/// The ConfigMap's data; nothing but text may be in it.
fn data(map: &Value) -> Option<BTreeMap<String, String>> {
    let data = map.get("data")?.as_object()?;
    data.iter().map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect()
}

/// A name that is set or, without a value, removed.
type Setting<T> = (String, Option<T>);

/// What is to be changed, as far as it had to be understood first.
struct Changes<'a> {
    asked: &'a EditMap,
    feature_gates: Vec<Setting<bool>>,
    arguments: [Vec<Setting<String>>; 4],
    validity: [Option<Duration>; 2],
}

impl<'a> Changes<'a> {
    fn of(asked: &'a EditMap) -> Result<Self, CommandError> {
        let gate = |text: &String| {
            let (name, value) = setting(text)?;
            let value = value.map(|value| {
                value.parse().map_err(|_| CommandError::invalid(format!("{text}: must be true or false")))
            });
            Ok((name, value.transpose()?))
        };
        let arguments =
            |texts: &[String]| texts.iter().map(|text| setting(text)).collect::<Result<Vec<_>, CommandError>>();
        let duration = |text: &Option<String>| {
            let parsed = text
                .as_ref()
                .map(|text| text.parse().map_err(|error| CommandError::invalid(format!("{text}: {error}"))));
            parsed.transpose()
        };
        Ok(Self {
            asked,
            feature_gates: asked.feature_gates.iter().map(gate).collect::<Result<_, CommandError>>()?,
            arguments: [
                arguments(&asked.api_server_args)?,
                arguments(&asked.controller_manager_args)?,
                arguments(&asked.scheduler_args)?,
                arguments(&asked.etcd_args)?,
            ],
            validity: [duration(&asked.certificate_validity_period)?, duration(&asked.ca_certificate_validity_period)?],
        })
    }

    fn apply(&self, cluster: &mut ClusterConfiguration) {
        let asked = self.asked;
        set(&mut cluster.image_repository, asked.image_repository.as_ref());
        set(&mut cluster.dns.image_repository, asked.dns_image_repository.as_ref());
        set(&mut cluster.dns.image_tag, asked.dns_image_tag.as_ref());
        set(&mut cluster.encryption_algorithm, asked.encryption_algorithm.as_ref());
        set(&mut cluster.certificates_dir, asked.certificates_dir.as_ref());
        set(&mut cluster.certificate_validity_period, self.validity[0].as_ref());
        set(&mut cluster.ca_certificate_validity_period, self.validity[1].as_ref());
        for (name, value) in &self.feature_gates {
            match value {
                Some(value) => drop(cluster.feature_gates.insert(name.clone(), *value)),
                None => drop(cluster.feature_gates.remove(name)),
            }
        }
        let [api_server, controller_manager, scheduler, etcd] = &self.arguments;
        set_arguments(&mut cluster.api_server.extra_args, api_server);
        set_arguments(&mut cluster.controller_manager.extra_args, controller_manager);
        set_arguments(&mut cluster.scheduler.extra_args, scheduler);
        if let Some(local) = &mut cluster.etcd.local {
            set(&mut local.image_repository, asked.etcd_image_repository.as_ref());
            set(&mut local.image_tag, asked.etcd_image_tag.as_ref());
            set_arguments(&mut local.extra_args, etcd);
        }
        if let Some(external) = cluster.etcd.external.as_mut().filter(|_| !asked.etcd_endpoints.is_empty()) {
            external.endpoints.clone_from(&asked.etcd_endpoints);
        }
    }
}

/// `NAME=VALUE`, or `NAME-` to remove it.
fn setting(text: &str) -> Result<Setting<String>, CommandError> {
    match (text.split_once('='), text.strip_suffix('-')) {
        (Some((name, value)), _) => Ok((name.to_owned(), Some(value.to_owned()))),
        (None, Some(name)) => Ok((name.to_owned(), None)),
        _ => Err(CommandError::invalid(format!("{text}: write NAME=VALUE to set it, or NAME- to remove it"))),
    }
}

fn set<T: Clone>(field: &mut Option<T>, value: Option<&T>) {
    if let Some(value) = value {
        *field = Some(value.clone());
    }
}

/// All of a name are replaced by one, at the place of the first.
fn set_arguments(arguments: &mut Vec<Arg>, settings: &[Setting<String>]) {
    for (name, value) in settings {
        let place = arguments.iter().position(|argument| argument.name == *name).unwrap_or(arguments.len());
        arguments.retain(|argument| argument.name != *name);
        if let Some(value) = value {
            let argument = Arg { name: name.clone(), value: value.clone(), merge_method: None };
            arguments.insert(place.min(arguments.len()), argument);
        }
    }
}
