//! The fields of a key of a PKCS#11 token.
use crate::fields::{Fields, Presence, Problems};
use kms::{Pkcs11Identity, Pkcs11Settings, Pkcs11Support, Pkcs11Token};
use serde_json::Value;

/// What PKCS#11 has room for in the label of a token, in bytes.
const TOKEN_LABEL_LIMIT: usize = 32;
const ABSENT: &str = "not supported by this build, which cannot load PKCS#11 modules: the static program never can; use \
    the gnu build of machineadm-kms-plugin";

/// Reads `keys[].pkcs11`, for a build that can or cannot load modules.
pub(crate) fn pkcs11(value: &Value, path: &str, support: Pkcs11Support, problems: &Problems) -> Option<Pkcs11Settings> {
    if support == Pkcs11Support::Absent {
        problems.add(path, ABSENT);
        return None;
    }
    let fields = Fields::of(value, path, problems)?;
    let module = fields.absolute("module", Presence::Required);
    let token = token(&fields);
    let pin_file = fields.absolute("pinFile", Presence::Required);
    let key_label = fields.text("keyLabel").map(str::to_owned);
    let key_id = fields.text("keyId").and_then(|text| {
        let id = bytes(text);
        if id.is_none() {
            fields.refuse("keyId", "must be bytes in hexadecimal digits, such as \"01\"");
        }
        id
    });
    let identity = identity(&fields);
    if key_label.is_none() && key_id.is_none() {
        fields.refuse_all("keyLabel or keyId is required");
    }
    fields.finish();
    Some(Pkcs11Settings { module: module?, token: token?, pin_file: pin_file?, key_label, key_id, identity })
}

fn token(fields: &Fields<'_>) -> Option<Pkcs11Token> {
    let has_slot = fields.value("slot").is_some();
    match (fields.text("tokenLabel"), has_slot.then(|| fields.number("slot"))) {
        (Some(label), None) if label.len() <= TOKEN_LABEL_LIMIT => Some(Pkcs11Token::Label(label.to_owned())),
        (Some(_), None) => {
            fields.refuse("tokenLabel", &format!("must have at most {TOKEN_LABEL_LIMIT} bytes"));
            None
        }
        (None, Some(slot)) => Some(Pkcs11Token::Slot(slot)),
        _ => {
            fields.refuse_all("exactly one is required: tokenLabel or slot");
            None
        }
    }
}

fn identity(fields: &Fields<'_>) -> Pkcs11Identity {
    match fields.text("identity") {
        None | Some("material") => Pkcs11Identity::Material,
        Some("attributes") => Pkcs11Identity::Attributes,
        Some(_) => {
            fields.refuse("identity", "must be material or attributes");
            Pkcs11Identity::default()
        }
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let is_good = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let pairs = (0..text.len()).step_by(2);
    is_good.then(|| pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16)).collect::<Result<_, _>>().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pkcs11: &str, support: Pkcs11Support) -> Result<Pkcs11Settings, Vec<String>> {
        let problems = Problems::default();
        let tree = objects::yaml::parse(pkcs11).unwrap();
        let settings = super::pkcs11(&tree.value, "keys[0].pkcs11", support, &problems);
        let problems = problems.into_inner();
        settings.filter(|_| problems.is_empty()).ok_or(problems)
    }

    #[test]
    fn a_key_of_a_token_is_read() {
        let text =
            "{module: /usr/lib/p.so, slot: 5, pinFile: /etc/pin, keyLabel: k, keyId: 0aFF, identity: attributes}";
        let settings = Pkcs11Settings {
            module: "/usr/lib/p.so".into(),
            token: Pkcs11Token::Slot(5),
            pin_file: "/etc/pin".into(),
            key_label: Some("k".into()),
            key_id: Some(vec![10, 255]),
            identity: Pkcs11Identity::Attributes,
        };
        assert_eq!(parse(text, Pkcs11Support::BuiltIn).unwrap(), settings);
        let text = "{module: /p.so, tokenLabel: t, pinFile: /pin, keyLabel: k}";
        let settings = parse(text, Pkcs11Support::BuiltIn).unwrap();
        assert_eq!((settings.token, settings.identity), (Pkcs11Token::Label("t".into()), Pkcs11Identity::Material));
    }

    #[test]
    fn the_example_of_the_docs_is_valid() {
        let docs = include_str!("../../../docs/operating/kms.md");
        let example = docs.split("```yaml\n").find(|block| block.contains("pkcs11:")).unwrap();
        let tree = objects::yaml::parse(example.split("```").next().unwrap()).unwrap();
        let problems = Problems::default();
        let value = &tree.value["keys"][0]["pkcs11"];
        let settings = super::pkcs11(value, "", Pkcs11Support::BuiltIn, &problems).unwrap();
        assert_eq!((problems.into_inner().len(), settings.key_label.as_deref()), (0, Some("kubernetes")));
    }

    #[test]
    fn every_problem_is_reported_with_its_path() {
        let text = "{module: p.so, tokenLabel: t, slot: 1, pin: 1234, keyId: xyz, identity: label}";
        let want = [
            "keys[0].pkcs11.module: must be an absolute path without `..`",
            "keys[0].pkcs11: exactly one is required: tokenLabel or slot",
            "keys[0].pkcs11.pinFile: required",
            "keys[0].pkcs11.keyId: must be bytes in hexadecimal digits, such as \"01\"",
            "keys[0].pkcs11.identity: must be material or attributes",
            "keys[0].pkcs11: keyLabel or keyId is required",
            "keys[0].pkcs11.pin: unknown field",
        ];
        assert_eq!(parse(text, Pkcs11Support::BuiltIn).unwrap_err(), want);
    }

    #[test]
    fn a_build_that_cannot_load_modules_refuses_the_configuration_and_names_the_one_that_can() {
        let text = "{module: /p.so, tokenLabel: t, pinFile: /pin, keyLabel: k}";
        let found = parse(text, Pkcs11Support::Absent).unwrap_err();
        assert_eq!(found, [format!("keys[0].pkcs11: {ABSENT}")]);
        assert!(ABSENT.contains("use the gnu build of machineadm-kms-plugin"));
    }
}
