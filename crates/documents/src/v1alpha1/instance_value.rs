//! Values that only the machine knows, as a text may name them: `{{ ds.meta_data.local_hostname }}`.
//!
//! This is the small part of cloud-init's templates that Cluster API users write, and two sources more. Nothing else in
//! double braces is valid.

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart<'a> {
    /// As it is.
    Text(&'a str),
    /// A value of the machine.
    Value(InstanceValue<'a>),
}

/// A value that only the machine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceValue<'a> {
    /// A value of cloud-init's instance data, by the names that lead to it; the first is `ds` or `v1`.
    CloudInit(&'a str),
    /// A variable of the metadata files of Ignition's systems.
    Metadata(&'a str),
    /// The host name.
    Hostname,
    /// The address from which the machine reaches the cluster.
    Address,
}

const INVALID: &str = "has an unknown value in double braces; valid are `{{ ds.NAME… }}`, `{{ v1.NAME… }}`, \
    `{{ metadata.NAME }}`, `{{ machine.hostname }}` and `{{ machine.address }}`";

/// Whether a text names values of the machine, or tries to.
pub fn has_instance_values(text: &str) -> bool {
    text.contains("{{")
}

/// Why a text with such values is invalid.
pub(crate) fn instance_value_problem(text: &str) -> Option<&'static str> {
    text_parts(text).is_none().then_some(INVALID)
}

/// The parts of a text; `None` where something in braces is no such value.
pub fn text_parts(text: &str) -> Option<Vec<TextPart<'_>>> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, behind) = after.split_once("}}")?;
        if !before.is_empty() {
            parts.push(TextPart::Text(before));
        }
        parts.push(TextPart::Value(value(name.trim_matches(' '))?));
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(TextPart::Text(rest));
    }
    Some(parts)
}

fn value(name: &str) -> Option<InstanceValue<'_>> {
    let is_name =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (root, rest) = name.split_once('.')?;
    if !rest.split('.').all(is_name) {
        return None;
    }
    match (root, rest) {
        ("ds" | "v1", _) => Some(InstanceValue::CloudInit(name)),
        ("metadata", rest) if !rest.contains('.') => Some(InstanceValue::Metadata(rest)),
        ("machine", "hostname") => Some(InstanceValue::Hostname),
        ("machine", "address") => Some(InstanceValue::Address),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_between_other_text() {
        let parts = text_parts("aws:///{{ ds.meta_data.az }}/{{v1.instance_id}}").unwrap();
        let expected = [
            TextPart::Text("aws:///"),
            TextPart::Value(InstanceValue::CloudInit("ds.meta_data.az")),
            TextPart::Text("/"),
            TextPart::Value(InstanceValue::CloudInit("v1.instance_id")),
        ];
        assert_eq!(parts, expected);
        let of = |text| text_parts(text).map(|parts| parts.len());
        assert_eq!(of("{{ metadata.COREOS_EC2_INSTANCE_ID }}"), Some(1));
        assert_eq!(of("{{ machine.hostname }}-{{ machine.address }}"), Some(3));
        assert_eq!((of("plain {text}} {% x %}"), of("")), (Some(1), Some(0)));
    }

    #[test]
    fn everything_else_in_braces_is_refused() {
        for text in [
            "{{ }}",
            "{{ hostname }}",
            "{{ ds }}",
            "{{ ds. }}",
            "{{ ds.a-b }}",
            "{{ ds.a | lower }}",
            "{{ ds['a'] }}",
            "{{ ds.a",
            "{{ metadata.a.b }}",
            "{{ machine.name }}",
            "{{ v2.a }}",
            "{{ ds.{{ v1.a }} }}",
            "{{\tds.a}}",
        ] {
            assert!(has_instance_values(text) && instance_value_problem(text).is_some(), "{text}");
        }
    }
}
