//! SysctlConfig: kernel parameters (R2).
use super::{
    API_VERSION,
    drop_in::{check_name, drop_in},
};
use crate::{
    Claim, Claimed,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{borrow::Cow, fmt};

/// A kernel parameter and the value it shall have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name as the user wrote it, dots or slashes.
    pub key: String,
    /// The file below `/proc/sys`, relative: `net/ipv4/ip_forward`.
    pub path: String,
    /// Value, white space folded to single spaces.
    pub value: String,
}

/// Kernel parameters that are set now and at every boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SysctlConfig {
    /// Names and values, text or whole numbers, set in this order. A name is written with dots or slashes, as in
    /// sysctl.d: the first of them is the separator, the other one is then a dot inside a part, as in
    /// `net.ipv4.conf.eth0/100.forwarding`. After setting, each value is read back.
    pub parameters: Parameters,
}

/// Names and values in the order of the document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(pub Vec<(String, String)>);

impl Document for SysctlConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "SysctlConfig";
    const SUMMARY: &str = "Kernel parameters that are set now and at every boot.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: SysctlConfig
metadata:
  name: kernel
spec:
  parameters:
    net.ipv4.ip_forward: \"1\"
    net.ipv4.ip_local_port_range: 32768 60999
    vm.max_map_count: 262144
";
}

impl Check for SysctlConfig {
    type Checked = Vec<Parameter>;

    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> Vec<Parameter> {
        let Self { parameters: Parameters(parameters) } = self;
        check_name(name, findings);
        if parameters.is_empty() {
            findings.error("spec.parameters", "must name at least one parameter");
        }
        parameters.into_iter().map(|(key, value)| parameter(key, &value, findings)).collect()
    }
}

impl Body for Vec<Parameter> {
    fn confidential(&self) -> Vec<&[u8]> {
        self.iter().map(|parameter| parameter.value.as_bytes()).collect()
    }

    fn claims<'a>(&'a self, name: Option<&'a str>) -> Vec<Claim<'a>> {
        let claim = |parameter: &'a Parameter| {
            let Parameter { key, path, value } = parameter;
            Claim::new(path::member("spec.parameters", key), Claimed::Parameter { path, value })
        };
        let output = Claimed::Output { what: "sysctl file", name, path: Some(sysctl_file(name)) };
        std::iter::once(Claim::new("metadata.name", output)).chain(self.iter().map(claim)).collect()
    }
}

/// Where the files with kernel parameters are.
pub(super) const SYSCTL_DIR: &str = "/etc/sysctl.d";

/// The file that sets the parameters of a document at every boot.
pub fn sysctl_file(name: Option<&str>) -> String {
    drop_in(SYSCTL_DIR, name)
}

fn parameter(key: String, value: &str, findings: &mut Findings<'_>) -> Parameter {
    let here = || path::member("spec.parameters", &key);
    let path = proc_path(&key);
    if path.is_none() {
        findings.error(&here(), "invalid parameter name").hint("write it like `net.ipv4.ip_forward`");
    }
    let value = value.trim();
    if value.chars().any(|c| c.is_control() && c != '\t') {
        findings.error(&here(), "must be one line without control characters");
    }
    if value.strip_prefix("0o").is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit())) {
        let finding = findings.error(&here(), "the kernel does not read numbers that start with `0o`");
        finding.hint("write the number in decimal, or in octal with a leading 0 and in quotes");
    }
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    Parameter { path: path.unwrap_or_else(|| key.clone()), key, value }
}

/// The file below `/proc/sys` that a name stands for, by the rule of sysctl.d: the first separator decides.
fn proc_path(name: &str) -> Option<String> {
    let swapped = |c| match c {
        '.' => '/',
        '/' => '.',
        other => other,
    };
    let path: String = match name.find(['.', '/']).map(|at| name.as_bytes()[at])? {
        b'.' => name.chars().map(swapped).collect(),
        _ => name.to_owned(),
    };
    let plain =
        |c: char| c.is_ascii_graphic() && !matches!(c, '*' | '?' | '[' | ']' | '=' | '#' | ';' | '\\' | '"' | '\'');
    let good_part = |part: &str| !matches!(part, "" | "." | "..") && part.chars().all(plain);
    let good =
        path.split('/').count() > 1 && path.len() <= 255 && path.split('/').all(good_part) && !name.starts_with('-');
    good.then_some(path)
}

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> de::Visitor<'de> for InOrder {
    type Value = Parameters;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names and values")
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Parameters, A::Error> {
        let mut parameters = Vec::new();
        while let Some(entry) = map.next_entry()? {
            parameters.push(entry);
        }
        Ok(Parameters(parameters))
    }
}

impl JsonSchema for Parameters {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Parameters".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "minProperties": 1, "additionalProperties": {"type": ["string", "integer"]}})
    }
}

#[cfg(test)]
mod tests {
    use super::proc_path;
    use crate::{
        AnyDocument,
        testing::{problems, spec},
    };

    #[test]
    fn values_are_taken_as_written_and_in_order() {
        let yaml = "parameters: {vm.max_map_count: 262144, kernel/x: \"1\", kernel.y: \" 1\\t2  3 \", kernel.z: 0x1F}";
        let AnyDocument::Sysctl(parameters) = spec("SysctlConfig", yaml) else { panic!() };
        let found: Vec<_> = parameters.iter().map(|p| (p.key.as_str(), p.path.as_str(), p.value.as_str())).collect();
        let expected = [
            ("vm.max_map_count", "vm/max_map_count", "262144"),
            ("kernel/x", "kernel/x", "1"),
            ("kernel.y", "kernel/y", "1 2 3"),
            ("kernel.z", "kernel/z", "0x1F"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_octal_number_of_yaml_is_refused_because_the_kernel_does_not_read_it() {
        let expected = ["spec.parameters[kernel.a]", "spec.parameters[kernel.b]"];
        let yaml = "parameters: {kernel.a: 0o17, kernel.b: '0o17', kernel.c: '017', kernel.d: 15, kernel.e: 0ok}";
        assert_eq!(problems("SysctlConfig", yaml), expected);
    }

    #[test]
    fn the_first_separator_decides() {
        assert_eq!(proc_path("net.ipv4.conf.eth0/100.forwarding").unwrap(), "net/ipv4/conf/eth0.100/forwarding");
        assert_eq!(proc_path("net/ipv4/conf/eth0.100/forwarding").unwrap(), "net/ipv4/conf/eth0.100/forwarding");
    }

    #[test]
    fn a_name_stays_below_proc_sys() {
        for name in
            ["", "kernel", ".a", "a.", "a..b", "/a/b", "a/../b", "a.//.b", "a.*", "-a.b", "a.b c", "a.b\n", "a/./b"]
        {
            assert_eq!(proc_path(name), None, "{name}");
        }
    }

    #[test]
    fn a_value_is_one_line_and_neither_a_list_nor_a_truth() {
        let yaml = "parameters: {a.b: \"1\\n2\", a.c: [1], a.d: true, a.e: 1.5, a.f: }";
        assert_eq!(problems("SysctlConfig", yaml).len(), 5);
        assert_eq!(problems("SysctlConfig", "parameters: {a.b: \"1\\n2\"}"), ["spec.parameters[a.b]"]);
        assert_eq!(problems("SysctlConfig", "parameters: {}"), ["spec.parameters"]);
    }
}
