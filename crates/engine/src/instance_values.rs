//! Values that only the machine knows, put into the documents of its node: from cloud-init's instance data, from the
//! metadata files of Ignition's systems, and from the machine itself.
use crate::{Look, PlanError, Problem};
use documents::v1alpha1::{
    self, InstanceValue, JoinDiscovery, Members, TextPart, has_instance_values, label_problem, node_address_problem,
    node_name_problem, text_parts,
};
use serde_json::Value;
use std::{collections::BTreeSet, net::IpAddr};

/// Where cloud-init stores what it knows of the instance; everybody may read it.
const INSTANCE_DATA: &str = "/run/cloud-init/instance-data.json";
/// Where afterburn and its predecessors store what they know: lines `NAME=VALUE`.
const METADATA: [&str; 3] = ["/run/metadata/afterburn", "/run/metadata/coreos", "/run/metadata/flatcar"];

/// A JoinConfig with all its values; every value that is missing or does not fit is reported.
pub(crate) fn of_join(wanted: &v1alpha1::Join, look: &Look<'_>) -> Result<v1alpha1::Join, PlanError> {
    let mut wanted = wanted.clone();
    let endpoint = match &wanted.discovery {
        JoinDiscovery::Token { endpoints, .. } => endpoints.iter().find_map(|endpoint| host_of(&endpoint.authority())),
        JoinDiscovery::File { .. } => None,
    };
    let mut values = Values { look, endpoint, problems: Vec::new() };
    values.node_name(&mut wanted.node_name);
    for (key, value) in &mut wanted.labels {
        values.replace(&format!("labels[{key}]"), value, |value| label_problem(key, value));
    }
    values.addresses(&mut wanted.node_addresses);
    values.members(&mut wanted.kubelet);
    values.end(wanted)
}

/// An InitConfig with all its values.
pub(crate) fn of_init(wanted: &v1alpha1::Init, look: &Look<'_>) -> Result<v1alpha1::Init, PlanError> {
    let mut wanted = wanted.clone();
    let mut values = Values { look, endpoint: None, problems: Vec::new() };
    values.node_name(&mut wanted.node_name);
    for (key, value) in &mut wanted.labels {
        values.replace(&format!("labels[{key}]"), value, |value| label_problem(key, value));
    }
    values.addresses(&mut wanted.node_addresses);
    values.members(&mut wanted.kubelet);
    values.end(wanted)
}

/// The address of an endpoint that is given by one.
fn host_of(authority: &str) -> Option<IpAddr> {
    let (host, _) = authority.rsplit_once(':')?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

struct Values<'a> {
    look: &'a Look<'a>,
    /// Where the cluster is, if that is known as an address.
    endpoint: Option<IpAddr>,
    problems: Vec<String>,
}

impl Values<'_> {
    fn node_name(&mut self, name: &mut Option<String>) {
        if let Some(name) = name {
            self.replace("nodeName", name, node_name_problem);
        }
    }

    fn addresses(&mut self, addresses: &mut [String]) {
        for (index, address) in addresses.iter_mut().enumerate() {
            self.replace(&format!("nodeAddresses[{index}]"), address, node_address_problem);
        }
    }

    fn members(&mut self, members: &mut Members) {
        for (name, member) in members {
            self.member(&format!("kubelet.{name}"), member);
        }
    }

    fn member(&mut self, here: &str, member: &mut Value) {
        match member {
            Value::String(text) => self.replace(here, text, |_| None),
            Value::Array(items) => items.iter_mut().for_each(|item| self.member(here, item)),
            Value::Object(members) => {
                members.iter_mut().for_each(|(name, member)| self.member(&format!("{here}.{name}"), member));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Replaces a text, if it names values, and judges what it comes to as if it had been given.
    fn replace(&mut self, here: &str, text: &mut String, problem: impl Fn(&str) -> Option<&'static str>) {
        if !has_instance_values(text) {
            return;
        }
        let replaced = match text_parts(text) {
            Some(parts) => parts.into_iter().map(|part| self.part(part)).collect::<Result<String, String>>(),
            None => Err("has invalid double braces".to_owned()),
        };
        match replaced.map(|replaced| (problem(&replaced), replaced)) {
            Ok((None, replaced)) => *text = replaced,
            Ok((Some(problem), replaced)) => {
                self.problems.push(format!("{here}: the value of this machine, `{replaced}`, {problem}"));
            }
            Err(problem) => self.problems.push(format!("{here}: {problem}")),
        }
    }

    fn part(&self, part: TextPart<'_>) -> Result<String, String> {
        match part {
            TextPart::Text(text) => Ok(text.to_owned()),
            TextPart::Value(InstanceValue::CloudInit(name)) => self.of_cloud_init(name),
            TextPart::Value(InstanceValue::Metadata(name)) => self.of_metadata(name),
            TextPart::Value(InstanceValue::Hostname) => {
                let name = self.look.host.sysctl("kernel/hostname").map_err(|error| error.to_string())?;
                name.map(|name| name.trim().to_lowercase()).ok_or_else(|| "the machine has no host name".to_owned())
            }
            TextPart::Value(InstanceValue::Address) => {
                let address = self.look.host.address_towards(self.endpoint).map_err(|error| error.to_string())?;
                address
                    .map(|address| address.to_string())
                    .ok_or_else(|| "`machine.address` is unknown: the machine has no route to the cluster".to_owned())
            }
        }
    }

    fn of_cloud_init(&self, name: &str) -> Result<String, String> {
        let missing = |why: String| Err(format!("`{name}` is not in {INSTANCE_DATA}: {why}"));
        let file = self.look.host.file(INSTANCE_DATA).map_err(|error| error.to_string())?;
        let Some(file) = file else { return missing("the file does not exist".to_owned()) };
        let Ok(data) = serde_json::from_slice::<Value>(file.contents.expose()) else {
            return missing("the file is not valid JSON".to_owned());
        };
        let (mut at, mut path) = (&data, Vec::new());
        for part in name.split('.') {
            at = match child(at, part) {
                Some(child) => child,
                None if path.is_empty() => return missing(format!("it has {}", names_in(at))),
                None => return missing(format!("`{}` has {}", path.join("."), names_in(at))),
            };
            path.push(part);
        }
        match at {
            Value::String(text) if !text.is_empty() && !text.contains(REDACTED) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Bool(value) => Ok(value.to_string()),
            Value::String(text) if text.contains(REDACTED) => missing("it is redacted there".to_owned()),
            Value::Object(_) => missing(format!("it is no single value, it has {}", names_in(at))),
            Value::String(_) | Value::Null | Value::Array(_) => missing("it is empty, or no single value".to_owned()),
        }
    }

    fn of_metadata(&self, name: &str) -> Result<String, String> {
        let (mut found, mut names) = (Vec::new(), BTreeSet::new());
        for path in METADATA {
            let Some(file) = self.look.host.file(path).map_err(|error| error.to_string())? else { continue };
            found.push(path);
            let text = String::from_utf8_lossy(file.contents.expose()).into_owned();
            for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
                let value = value.trim().trim_matches('"');
                if key.trim() == name && !value.is_empty() {
                    return Ok(value.to_owned());
                }
                names.insert(key.trim().to_owned());
            }
        }
        Err(match found.is_empty() {
            true => format!("`metadata.{name}` is unknown: none of {} exists", METADATA.join(", ")),
            false => format!("`metadata.{name}` is not in {}: it has {}", found.join(", "), listed(names)),
        })
    }

    fn end<T>(self, wanted: T) -> Result<T, PlanError> {
        if self.problems.is_empty() {
            Ok(wanted)
        } else {
            Err(PlanError::Unfit(self.problems.into_iter().map(Problem::from).collect()))
        }
    }
}

/// What cloud-init writes in place of what only root may see.
const REDACTED: &str = "redacted for non-root user";

/// A member by its name, or by the alias that cloud-init's templates know.
fn child<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => {
            members.get(name).or_else(|| members.iter().find(|(key, _)| alias(key) == name).map(|(_, member)| member))
        }
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn alias(key: &str) -> String {
    key.replace(['-', '.'], "_")
}

/// The names in a value; the values themselves may be secret.
fn names_in(value: &Value) -> String {
    listed(value.as_object().into_iter().flat_map(|members| members.keys()).map(|key| alias(key)).collect())
}

fn listed(names: BTreeSet<String>) -> String {
    match names.is_empty() {
        true => "no names".to_owned(),
        false => names.into_iter().map(|name| objects::printable(&name, 100)).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests;
