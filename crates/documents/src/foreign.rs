//! Foreign: a document of another group, which only a plugin understands. It is read with its positions; what it means is
//! not judged here.
use crate::{
    Body, Claim, KINDS, Secret,
    constraints::{Constraints, is_kind},
    findings::Findings,
    known_format::KnownFormat,
    metadata::{Header, is_subdomain},
    path,
    registry::Content,
    scalar::{Integer, Type, integer, type_of},
    tree::{Node, Value},
};
use objects::yaml::Sink;
use serde::{Serialize, Serializer};
use std::{fmt, mem, sync::Arc};

/// What happens to documents of other groups. This machineadm runs no plugins, so that nobody claims their kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignKinds {
    /// Each is noted as not checked: for whoever checks a configuration away from its machine.
    Noted,
    /// Each is an error: nothing on this machine would process it.
    Refused,
}

/// A document of another group. All of it may be secret.
#[derive(Clone)]
pub struct Foreign {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    root: Arc<Node>,
}

impl Foreign {
    /// The whole document as JSON.
    pub fn json(&self) -> Secret<String> {
        let mut sink = Sink::default();
        // Memory takes everything, and JSON's strings are UTF-8.
        let written = serde_json::to_writer(&mut sink, &Json(&self.root));
        let mut text = written.map(|()| sink.into_inner()).unwrap_or_default();
        Secret::new(String::from_utf8(mem::take(&mut *text)).unwrap_or_default())
    }

    /// Line and column, counted from 1, of a field such as `spec.files[0].path`, or of the nearest thing around it.
    pub fn position(&self, path: &str) -> (usize, usize) {
        let place = self.root.places().nearest(path);
        (place.line, place.column)
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Foreign {{ {}, Kind={}, [secret] }}", self.api_version, self.kind)
    }
}

/// Where it stands does not matter.
impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Foreign {}

impl Body for Foreign {
    fn confidential(&self) -> Vec<&[u8]> {
        let mut texts = Vec::new();
        if let Value::Mapping(members) = &self.root.value {
            // Reports call a document by these two.
            let rest = members.iter().filter(|(key, _)| !matches!(key.text.as_str(), "apiVersion" | "kind"));
            rest.for_each(|(_, member)| collect(member, &mut texts));
        }
        texts
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        Vec::new()
    }
}

/// Every value that is not nothing, true or false.
fn collect<'a>(node: &'a Node, texts: &mut Vec<&'a [u8]>) {
    match &node.value {
        Value::Scalar { text, plain: true } if matches!(type_of(text), Type::Null | Type::Bool) => {}
        Value::Scalar { text, .. } => texts.push(text.as_bytes()),
        Value::Sequence(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Mapping(members) => members.iter().for_each(|(_, member)| collect(member, texts)),
    }
}

/// Reads a document whose group is not ours.
pub(crate) fn read(root: &Arc<Node>, kinds: ForeignKinds, findings: &mut Findings<'_>) -> Option<Content> {
    let text = |field: &str| root.get(field).and_then(Node::text);
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    if !is_kind(kind) {
        findings.error("kind", "must be letters and digits, at most 63");
        return None;
    }
    if let Some(format) = KnownFormat::of_header(api_version, kind) {
        findings.error("apiVersion", format.message()).hint(format.hint);
        return None;
    }
    note(kind, kinds, findings);
    check_numbers(root, "", findings);
    let metadata = root.get("metadata");
    // Whether another group's name is a good one is not ours to say, but ours are made of these letters.
    let name = metadata.and_then(|metadata| metadata.get("name")?.text()).filter(|name| is_subdomain(name));
    let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
    let constraints = Constraints::read(|key| annotations?.get(key)?.text(), findings);
    let foreign = Foreign { api_version: api_version.to_owned(), kind: kind.to_owned(), root: Arc::clone(root) };
    Some((Header { name: name.map(str::to_owned), constraints }, foreign.into()))
}

fn note(kind: &str, kinds: ForeignKinds, findings: &mut Findings<'_>) {
    let own = KINDS.iter().find(|known| known.kind == kind);
    let own = own.map(|known| format!("machineadm's own {kind} has apiVersion `{}`", known.api_version));
    let kind = if findings.word(kind).is_some() { kind } else { "this kind" };
    match kinds {
        ForeignKinds::Noted => {
            let finding = findings.warning("kind", format!("not checked: no plugin for {kind} on this machine"));
            if let Some(own) = own {
                finding.hint(own);
            }
        }
        ForeignKinds::Refused => {
            let remedy = "install the plugin that handles this kind, or remove the document";
            let finding = findings.error("kind", format!("no plugin for {kind} on this machine"));
            finding.hint(own.unwrap_or_else(|| remedy.to_owned()));
        }
    }
}

/// Reports numbers that the plugin would not get as they were meant.
fn check_numbers(node: &Node, here: &str, findings: &mut Findings<'_>) {
    match &node.value {
        Value::Scalar { text, plain: true } => {
            let problem = match type_of(text) {
                Type::Integer if has_leading_zero(text) => {
                    Some("must not have leading zeros, which other programs read as octal")
                }
                Type::Integer if integer(text).is_none() => Some("is out of range: whole numbers have at most 64 bits"),
                Type::Number if finite(text).is_none() => Some("is not a finite number"),
                _ => None,
            };
            if let Some(problem) = problem {
                findings.error(here, problem).hint("put it in quotes if it is text");
            }
        }
        Value::Scalar { .. } => {}
        Value::Sequence(items) => {
            items.iter().enumerate().for_each(|(index, item)| check_numbers(item, &path::item(here, index), findings));
        }
        Value::Mapping(members) => {
            members.iter().for_each(|(key, member)| check_numbers(member, &path::member(here, &key.text), findings));
        }
    }
}

fn has_leading_zero(number: &str) -> bool {
    let digits = number.trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn finite(number: &str) -> Option<f64> {
    number.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A tree as JSON.
struct Json<'a>(&'a Node);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (text, plain) = match &self.0.value {
            Value::Sequence(items) => return serializer.collect_seq(items.iter().map(Json)),
            Value::Mapping(members) => {
                return serializer.collect_map(members.iter().map(|(key, member)| (key.text.as_str(), Json(member))));
            }
            Value::Scalar { text, plain } => (text.as_str(), *plain),
        };
        match (type_of(text), integer(text), finite(text)) {
            _ if !plain => serializer.serialize_str(text),
            (Type::Null, ..) => serializer.serialize_unit(),
            (Type::Bool, ..) => serializer.serialize_bool(text.eq_ignore_ascii_case("true")),
            (Type::Integer, Some(Integer::Signed(number)), _) => serializer.serialize_i64(number),
            (Type::Integer, Some(Integer::Unsigned(number)), _) => serializer.serialize_u64(number),
            (Type::Number, _, Some(number)) => serializer.serialize_f64(number),
            _ => serializer.serialize_str(text),
        }
    }
}
