//! The runtimes of a ContainerdConfig.
use super::absolute_path::path_problem;
use crate::{findings::Findings, path};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The shim of runc.
const RUNC_TYPE: &str = "io.containerd.runc.v2";

/// An OCI runtime that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its name.
    pub name: String,
    /// The shim.
    pub runtime_type: String,
    /// The program that the shim runs.
    pub binary: Option<String>,
    /// Further options of the shim.
    pub options: BTreeMap<String, RuntimeOption>,
}

/// An OCI runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RuntimeSpec {
    /// Its name, which the handler of a RuntimeClass refers to.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// The shim. Default: `io.containerd.runc.v2`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub runtime_type: Option<String>,
    /// Absolute path of the program that the shim runs, such as `/usr/bin/crun`. Default: the shim's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// Further options of the shim, by the names that containerd has for them, such as `ShimCgroup`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, RuntimeOption>,
}

/// The value of an option: true or false, a whole number, or text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RuntimeOption {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Text.
    Text(String),
}

/// Options that have fields of their own.
const FIELDS: [(&str, &str); 2] = [("BinaryName", "binary"), ("SystemdCgroup", "spec.cgroupDriver")];

/// The runtimes of a document.
pub(super) fn runtimes(specs: Vec<RuntimeSpec>, findings: &mut Findings<'_>) -> Vec<Runtime> {
    let mut names = BTreeSet::new();
    let mut checked = Vec::new();
    for (index, spec) in specs.into_iter().enumerate() {
        let here = path::item("spec.runtimes", index);
        if !names.insert(spec.name.clone()) {
            findings.error(&path::member(&here, "name"), "is the name of an earlier runtime");
        }
        checked.push(runtime(spec, &here, findings));
    }
    checked
}

fn runtime(spec: RuntimeSpec, here: &str, findings: &mut Findings<'_>) -> Runtime {
    let RuntimeSpec { name, runtime_type, binary, options } = spec;
    let field = |name: &str| path::member(here, name);
    if !is_runtime_name(&name) {
        let message = "must be the name of a runtime: lower-case letters, digits, `-` and `.`, such as `crun`";
        findings.error(&field("name"), message);
    }
    let runtime_type = runtime_type.unwrap_or_else(|| RUNC_TYPE.to_owned());
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    if runtime_type.is_empty() || !runtime_type.bytes().all(allowed) {
        findings.error(&field("type"), "must be the name of a shim, such as `io.containerd.runc.v2`");
    }
    if let Some(problem) = binary.as_deref().and_then(path_problem) {
        findings.error(&field("binary"), problem);
    }
    for name in options.keys() {
        let here = path::member(&field("options"), name);
        if let Some((_, instead)) = FIELDS.iter().find(|(own, _)| own == name) {
            findings.error(&here, format!("has a field of its own: use `{instead}`"));
        } else if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || name.is_empty() {
            findings.error(&here, "must be the name of an option: letters, digits and `_`");
        }
    }
    Runtime { name, runtime_type, binary, options }
}

/// What a RuntimeClass may have as its handler.
pub(super) fn is_runtime_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    (1..=63).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with(['-', '.'])
}

#[cfg(test)]
mod tests {
    use super::RuntimeOption;
    use crate::{
        AnyDocument,
        testing::{problems, spec},
    };

    #[test]
    fn options_are_of_three_types_and_the_shim_is_runcs() {
        let yaml =
            "runtimes: [{name: crun, binary: /usr/bin/crun, options: {NoNewKeyring: true, IoUid: 7, Root: '1'}}]";
        let AnyDocument::Containerd(containerd) = spec("ContainerdConfig", yaml) else { panic!() };
        let runtime = &containerd.runtimes[0];
        assert_eq!(runtime.runtime_type, "io.containerd.runc.v2");
        let options: Vec<_> = runtime.options.values().cloned().collect();
        let expected = [RuntimeOption::Integer(7), RuntimeOption::Bool(true), RuntimeOption::Text("1".into())];
        assert_eq!(options, expected);
    }

    #[test]
    fn every_invalid_member_of_a_runtime_is_listed() {
        let yaml = "runtimes: [{name: A, type: 'a b', binary: crun, options: {BinaryName: x, SystemdCgroup: true, 'a.b': 1}}, \
                    {name: b}, {name: b}]";
        let here = "spec.runtimes[0]";
        let expected = [
            format!("{here}.name"),
            format!("{here}.type"),
            format!("{here}.binary"),
            format!("{here}.options.BinaryName"),
            format!("{here}.options.SystemdCgroup"),
            format!("{here}.options[a.b]"),
            "spec.runtimes[2].name".to_owned(),
        ];
        assert_eq!(problems("ContainerdConfig", yaml), expected);
    }
}
