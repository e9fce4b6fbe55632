//! `machineadm token list`: what kubeadm's users know, in kubeadm's bytes.
use super::arguments::{List, Token};
use crate::{
    command::api,
    command_error::CommandError,
    show::{
        self,
        tokens::{self, Listed, Row, Template},
    },
};
use discovery::{TokenSettings, token_secret, usable};
use host::contract::Exit;
use jiff::Timestamp;
use objects::{Bytes, ObjectMeta, Secret};
use serde::Deserialize;
use std::collections::BTreeMap;

enum Format {
    Text,
    Json,
    Yaml,
    Template(Template),
}

pub(super) fn run(asked: &List, Token { connection, .. }: &Token) -> Result<Exit, CommandError> {
    let format = format(asked)?;
    let server = api::connect(api::kubeconfig(connection)?)?;
    let now = Timestamp::now();
    let mut found = Found::new();
    let collection = format!("/api/v1/namespaces/{}/secrets", token_secret::NAMESPACE);
    let selector = format!("type={}", token_secret::TYPE);
    let listed = server.list(&collection, &[("fieldSelector", &selector)], &mut |item| match item {
        cluster::Listed::Restarted => found = Found::new(),
        cluster::Listed::Item(item) => found.take(item, &format, now),
    });
    listed.map_err(|error| api::failed(&error))?;
    for problem in &found.problems {
        warn!("{problem}");
    }
    let between = if matches!(format, Format::Yaml) { "---\n" } else { "" };
    show::print(found.tokens.join(between))?;
    found.lacking.map_or(Ok(Exit::Done), |lacking| Err(CommandError::failed(lacking)))
}

/// `JSON` is `json`, and `TEXT` is not `text`, as kubeadm has it.
fn format(asked: &List) -> Result<Format, CommandError> {
    let text = asked.output.as_str();
    if let Some(template) = text.strip_prefix("jsonpath=") {
        let template = Template::read(template).map_err(CommandError::invalid)?;
        return Ok(Format::Template(if asked.allow_missing_template_keys { template } else { template.strict() }));
    }
    match text.to_ascii_lowercase().as_str() {
        "json" => Ok(Format::Json),
        "yaml" => Ok(Format::Yaml),
        _ if text == "text" => Ok(Format::Text),
        _ => Err(CommandError::invalid("-o must be text, json, yaml or jsonpath=TEMPLATE")),
    }
}

/// What a list needs of a Secret: among thousands, the rest would be most of the work.
#[derive(Deserialize)]
struct Item {
    metadata: Named,
    #[serde(rename = "type", default)]
    secret_type: String,
    data: Option<BTreeMap<String, Bytes>>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// What was listed so far; only the printed form is kept.
struct Found {
    tokens: Vec<String>,
    problems: Vec<String>,
    /// What a strict template asks for and the first such token has not.
    lacking: Option<String>,
    /// The Secret at hand: what is the same for all is not made anew for each.
    secret: Secret,
}

impl Found {
    fn new() -> Self {
        let secret = Secret::new(ObjectMeta::named_in(token_secret::NAMESPACE, ""), "", BTreeMap::new());
        Self { tokens: Vec::new(), problems: Vec::new(), lacking: None, secret }
    }

    fn take(&mut self, item: Item, format: &Format, now: Timestamp) {
        let Item { metadata: Named { name }, secret_type, data } = item;
        self.secret.metadata.name = name;
        self.secret.secret_type = secret_type;
        self.secret.data = data.unwrap_or_default();
        match usable::listed(&self.secret) {
            Ok(_) if self.lacking.is_some() => {}
            Ok(settings) => match self.printed(&settings, format, now) {
                Ok(text) => self.tokens.push(text),
                Err(field) => self.lacking = Some(lacking(&settings, &field)),
            },
            Err(reason) => {
                self.problems.push(format!("Secret {} is not a valid token: {reason}", self.secret.metadata.name));
            }
        }
    }

    fn printed(&self, settings: &TokenSettings, format: &Format, now: Timestamp) -> Result<String, String> {
        let listed = Listed::from(settings);
        Ok(match format {
            Format::Text => {
                let left = settings.expires.map(|moment| moment.since(now).short_human());
                let row = Row::of(&listed, left.as_deref());
                if self.tokens.is_empty() { row.headed() } else { row.line() }
            }
            Format::Json => tokens::json(&listed),
            Format::Yaml => tokens::yaml(&listed),
            Format::Template(template) => template.fill(&listed)?,
        })
    }
}

fn lacking(settings: &TokenSettings, field: &str) -> String {
    format!("token \"{}\" has no {field}: remove it from the template, or allow missing fields", settings.token.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `kubeadm token list` printed for these Secrets at that time.
    const SECRETS: &str = include_str!("../../../tests/vectors/token-list/token-list.secrets.json");
    const NOW: &str = "2026-11-15T18:49:14Z";

    fn list(format: &Format) -> Found {
        let list: serde_json::Value = serde_json::from_str(SECRETS).unwrap();
        let mut found = Found::new();
        for item in list["items"].as_array().unwrap() {
            found.take(Item::deserialize(item).unwrap(), format, NOW.parse().unwrap());
        }
        found
    }

    fn recorded(text: &str) -> &str {
        text.split_once('\n').unwrap().1.strip_suffix("exit=0\n").unwrap()
    }

    #[test]
    fn the_same_secrets_print_as_kubeadm_printed_them() {
        let text = include_str!("../../../tests/vectors/token-list/token-list.txt");
        assert_eq!(list(&Format::Text).tokens.concat(), recorded(text));
        let json = include_str!("../../../tests/vectors/token-list/token-list-json.txt");
        assert_eq!(list(&Format::Json).tokens.concat(), recorded(json));
        let yaml = include_str!("../../../tests/vectors/token-list/token-list-yaml.txt");
        assert_eq!(list(&Format::Yaml).tokens.join("---\n"), recorded(yaml));
        let template = Template::read("{.token}{\"\\n\"}").unwrap();
        let jsonpath = include_str!("../../../tests/vectors/token-list/token-list-jsonpath.txt");
        assert_eq!(list(&Format::Template(template)).tokens.concat(), recorded(jsonpath));
    }

    #[test]
    fn a_secret_that_is_no_token_is_named_with_the_reason_and_without_its_content() {
        let mut found = Found::new();
        let item = serde_json::json!({
            "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"},
            "type": "bootstrap.kubernetes.io/token",
            "data": {"token-id": "YWJjZGVm", "token-secret": "SFVOVEVSMg=="},
        });
        found.take(Item::deserialize(item).unwrap(), &Format::Text, NOW.parse().unwrap());
        assert!(found.tokens.is_empty());
        assert_eq!(
            found.problems,
            [
                "Secret bootstrap-token-abcdef is not a valid token: its token-secret is not 16 lower-case letters or digits"
            ]
        );
    }
}
