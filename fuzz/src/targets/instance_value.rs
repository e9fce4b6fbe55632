//! A text that names values of the machine.
use crate::{Seen, Target};
use documents::v1alpha1::{InstanceValue, TextPart, has_instance_values, text_parts};

pub(super) const TARGET: Target = Target {
    name: "instance_value",
    inputs: 500_000,
    seeds,
    words: &["{{", "}}", " ", "ds.", "v1.", "metadata.", "machine.", "hostname", "address", "a_b", ".", "|", "{%"],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    [
        "aws:///{{ ds.meta_data.az }}/{{v1.instance_id}}",
        "{{ metadata.A }}-{{ machine.address }}",
        "plain",
        "{{ ds.a",
        "",
    ]
    .map(|seed| seed.as_bytes().to_vec())
    .to_vec()
}

/// The parts of a text, written again, are the text but for spaces; names hold nothing but plain letters.
fn target(input: &[u8]) -> Seen {
    let Ok(text) = std::str::from_utf8(input) else { return Seen::new("no text") };
    let Some(parts) = text_parts(text) else {
        assert!(has_instance_values(text), "a text without braces is refused");
        return Seen::new("refused");
    };
    let written = |part: &TextPart<'_>| match part {
        TextPart::Text(text) => (*text).to_owned(),
        TextPart::Value(InstanceValue::CloudInit(name)) => format!("{{{{{name}}}}}"),
        TextPart::Value(InstanceValue::Metadata(name)) => format!("{{{{metadata.{name}}}}}"),
        TextPart::Value(InstanceValue::Hostname) => "{{machine.hostname}}".to_owned(),
        TextPart::Value(InstanceValue::Address) => "{{machine.address}}".to_owned(),
    };
    let again: String = parts.iter().map(written).collect();
    assert_eq!(again.replace(' ', ""), text.replace(' ', ""));
    let values = parts.iter().filter(|part| matches!(part, TextPart::Value(_))).count();
    assert_eq!(values > 0, has_instance_values(text));
    Seen::new((values.min(5), parts.len().min(9)))
}
