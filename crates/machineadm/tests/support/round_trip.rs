//! From kubeadm's file to our document and back to the file that machineadm writes for the same Kubernetes version:
//! both mean the same, but for the fields that the import lists.
use crate::support::{
    import::import,
    kubeadm_normal_form::{normal, remove},
};
use documents::AnyDocument;
use kubeadm::{Rules, Source, Strictness, Target, hub};
use serde_json::{Value, json};

/// A file that was imported, and what it became.
pub(crate) struct RoundTrip {
    target: Target,
    /// The meaning of the file.
    original: Value,
    /// The meaning of what machineadm writes, in its one form.
    back: Value,
    /// Path and value of each field that has no place.
    pub(crate) losses: Vec<(String, String)>,
}

impl RoundTrip {
    /// Imports a file and compares: what is not listed comes back.
    pub(crate) fn of(text: &str, version: &str) -> Result<Self, String> {
        let target = Target::new(version).expect("a version");
        let Imported { document, losses } = imported(text);
        let original = serde_json::to_value(read(text)).expect("a hub");
        let back = normal(written(&document, &target)?, &target);
        let trip = Self { target, original, back, losses };
        let expected = trip.without(&trip.losses)?;
        match expected == trip.back {
            true => Ok(trip),
            false => Err(format!("not the same:\n{expected:#}\n{:#}\nlosses {:?}\n{text}", trip.back, trip.losses)),
        }
    }

    /// Each loss is one: a listed field did not come back.
    pub(crate) fn nothing_is_listed_that_was_kept(&self) -> Result<(), String> {
        for kept in 0..self.losses.len() {
            let mut losses = self.losses.clone();
            let listed = losses.remove(kept);
            if self.without(&losses)? == self.back {
                return Err(format!("{listed:?} is listed, but nothing is lost: {:#}", self.original));
            }
        }
        Ok(())
    }

    /// The meaning of the file without these fields.
    fn without(&self, losses: &[(String, String)]) -> Result<Value, String> {
        let mut value = self.original.clone();
        losses.iter().try_for_each(|(path, lost)| remove(&mut value, path, lost))?;
        Ok(normal(value, &self.target))
    }
}

/// What became of a file.
struct Imported {
    /// The document, as `-f` takes it.
    document: Value,
    /// Path and value of each field that has no place.
    losses: Vec<(String, String)>,
}

/// Imports a file, losses allowed.
fn imported(input: &str) -> Imported {
    let ran = import(&["-f", "-", "--allow-loss", "-o", "json"], input);
    assert_eq!(ran.code, Some(0), "{}\n{input}", ran.stderr);
    let mut result: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let losses = result["losses"].as_array().expect("a list").iter();
    let losses = losses.map(|loss| (text(&loss["path"]), text(&loss["value"]))).collect();
    Imported { document: result["documents"][0].take(), losses }
}

fn read(text: &str) -> hub::Documents {
    let rules = Rules { strictness: Strictness::Strict, minor: None };
    let read = kubeadm::read(&[Source { name: "kubeadm.yaml", text }], rules);
    assert!(!read.has_errors(), "{:?}\n{text}", read.problems);
    read.documents
}

/// The meaning of kubeadm's file, and of what machineadm does itself, by a document of ours.
fn written(document: &Value, target: &Target) -> Result<Value, String> {
    let bytes = document.to_string().into_bytes().into();
    let mut read = documents::read(vec![documents::Source { name: "import".to_owned(), bytes }]);
    if read.report.has_errors() {
        return Err(format!("an invalid document: {}\n{document:#}", read.report));
    }
    let hub = match read.documents.remove(0).body {
        AnyDocument::Init(init) => engine::kubeadm_documents_of_init(&init, target),
        AnyDocument::Join(join) => {
            engine::kubeadm_documents_of_join(&join, join.node_name.as_deref().unwrap_or_default(), target)
        }
        other => panic!("{other:?}"),
    };
    let converted = kubeadm::convert(&hub, target);
    if !converted.losses.is_empty() {
        return Err(format!("machineadm cannot write {:?}", converted.losses));
    }
    let mut back = self::read(&converted.yaml());
    for flag in &converted.flags {
        let init = back.init.as_mut().ok_or_else(|| format!("{flag:?}"))?;
        let words = flag.value.iter().flat_map(|value| value.split(',')).map(str::to_owned);
        match flag.name {
            "--skip-phases" => init.skip_phases.extend(words),
            "--ignore-preflight-errors" => init.node_registration.ignore_preflight_errors.extend(words),
            other => return Err(format!("an unexpected flag {other}")),
        }
    }
    let mut back = serde_json::to_value(back).expect("a hub");
    if document["spec"]["toleratedChecks"].as_array().is_some_and(|checks| checks.contains(&"all".into())) {
        let of = if back["init"].is_object() { "init" } else { "join" };
        back[of]["nodeRegistration"]["ignorePreflightErrors"] = json!(["all"]);
    }
    machineadms_own_part(&mut back, &document["spec"]);
    Ok(back)
}

/// machineadm discovers clusters and copies certificates itself: kubeadm's file says nothing of it, the document does.
fn machineadms_own_part(back: &mut Value, spec: &Value) {
    if back["init"].is_object() {
        back["init"]["certificateKey"] = spec["certificateKey"].clone();
    }
    if !back["join"].is_object() {
        return;
    }
    let (join, discovery) = (&mut back["join"], &spec["discovery"]);
    join["discovery"] = json!({"tlsBootstrapToken": spec["tlsBootstrapToken"]});
    let by_token = &discovery["token"];
    if by_token.is_object() {
        join["discovery"]["bootstrapToken"] = json!({
            "token": by_token["token"], "apiServerEndpoint": by_token["endpoints"][0], "caCertHashes": by_token["caPins"],
            "unsafeSkipCAVerification": by_token["unsafeWithoutCAPins"],
        });
    }
    if discovery["file"].is_object() {
        join["discovery"]["file"] = json!({"kubeConfigPath": discovery["file"]["location"]});
    }
    join["timeouts"]["discovery"] = discovery["timeout"].clone();
    let control_plane = &spec["controlPlane"];
    if control_plane.is_object() {
        join["controlPlane"] = json!({
            "certificateKey": control_plane["certificateKey"],
            "localAPIEndpoint": {"advertiseAddress": control_plane["advertiseAddress"], "bindPort": control_plane["apiServerPort"]},
        });
    }
}
