//! There and back again over random documents: what comes back differs exactly where something was reported.
use crate::{
    random::{Pick, document, picks},
    support::{differences, leaves, pruned},
};
use machineadm_kubeadm::{
    ApiVersion, Converted, Rules, Source, Strictness, Target, convert, hub::Documents, read, render,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const KINDS: [(&str, &str); 5] = [
    ("cluster", "ClusterConfiguration"),
    ("init", "InitConfiguration"),
    ("join", "JoinConfiguration"),
    ("reset", "ResetConfiguration"),
    ("upgrade", "UpgradeConfiguration"),
];

fn read_back(text: &str) -> Documents {
    let read = read(&[Source { name: "random", text }], Rules { strictness: Strictness::Strict, minor: None });
    assert!(read.problems.is_empty(), "{:?}\n{text}", read.problems);
    read.documents
}

/// A file of one version, as its own kubeadm would take it.
fn file(api: ApiVersion, minor: u32, picks: &[Vec<Pick>; 3]) -> Vec<Value> {
    let kinds = ["ClusterConfiguration", "InitConfiguration", "JoinConfiguration"];
    let mut documents = Vec::new();
    for (kind, picks) in kinds.into_iter().zip(picks) {
        let mut document = document(api.name(), kind, picks);
        document["apiVersion"] = api.to_string().into();
        document["kind"] = kind.into();
        if kind == "ClusterConfiguration" {
            document["kubernetesVersion"] = format!("v1.{minor}.0").into();
            // Gates that this kubeadm does not know are another test's concern.
            document["featureGates"] = json!({"PublicKeysECDSA": minor.is_multiple_of(2)});
            if minor > 36 {
                document["featureGates"] = json!({"RootlessControlPlane": true});
            }
        }
        documents.push(document);
    }
    documents
}

/// A hub with any of its documents.
fn hub(picks: &[Vec<Pick>; 5], there: [bool; 5]) -> Documents {
    let mut documents = json!({});
    for (((field, kind), picks), is_there) in KINDS.into_iter().zip(picks).zip(there) {
        if is_there {
            documents[field] = document("hub", kind, picks);
        }
    }
    let mut hub: Documents = serde_json::from_value(documents).expect("a hub");
    hub.settle();
    hub
}

/// Every leaf of a hub by kind and path, without the places in lists; and every document that is there.
fn said(documents: &Documents) -> BTreeMap<String, Vec<Value>> {
    let value = serde_json::to_value(documents).expect("a hub");
    let mut said: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (field, kind) in KINDS {
        let Some(document) = value.get(field) else { continue };
        said.entry(kind.to_owned()).or_default().push(true.into());
        for (path, value) in leaves(&pruned(document)).into_iter().filter(|(path, _)| !path.is_empty()) {
            let path = path.split('[').next().unwrap_or_default();
            said.entry(format!("{kind}.{path}")).or_default().push(value);
        }
    }
    said
}

fn without_places(path: &str) -> String {
    path.split('[').next().unwrap_or_default().to_owned()
}

/// Paths that must differ, and paths that may.
fn reported(converted: &Converted) -> (BTreeSet<String>, BTreeSet<String>) {
    let now: BTreeSet<String> = converted.notes.iter().filter_map(|note| note.now.clone()).collect();
    let mut must: BTreeSet<String> = converted.losses.iter().map(|loss| without_places(&loss.path)).collect();
    must.extend(converted.notes.iter().map(|note| without_places(&note.path)));
    must.extend(converted.flags.iter().map(|flag| flag.path.clone()).filter(|path| !now.contains(path)));
    (must, now)
}

fn is_at_or_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn a_file_of_any_version_comes_back_as_it_was(
        picks in [picks(10), picks(6), picks(6)],
        (api, minor) in prop::sample::select(vec![
            (ApiVersion::V1Beta1, 18), (ApiVersion::V1Beta2, 20), (ApiVersion::V1Beta3, 30),
            (ApiVersion::V1Beta4, 36), (ApiVersion::V1, 37),
        ]),
    ) {
        let file = file(api, minor, &picks);
        let hub = read_back(&render::yaml_stream(&file));
        let target = Target::new(&format!("1.{minor}.0")).expect("a version").with_api(api).expect("an API");
        let converted = convert(&hub, &target);
        prop_assert!(converted.losses.is_empty() && converted.flags.is_empty(), "{converted:?}");
        for theirs in &file {
            let ours = converted.documents.iter().find(|ours| ours.value["kind"] == theirs["kind"]);
            let differences = differences(&ours.expect("the document").value, theirs);
            prop_assert!(differences.is_empty(), "{differences:?}");
        }
    }

    #[test]
    fn nothing_is_lost_in_silence_and_nothing_reported_that_was_kept(
        picks in [picks(10), picks(7), picks(7), picks(3), picks(3)],
        there in prop::array::uniform5(prop::bool::weighted(0.7)),
        minor in 13_u32..=38,
    ) {
        let hub = hub(&picks, there);
        let target = Target::new(&format!("1.{minor}.1")).expect("a version");
        let converted = convert(&hub, &target);
        let back = if converted.documents.is_empty() { Documents::default() } else { read_back(&converted.yaml()) };
        let (before, after) = (said(&hub), said(&back));
        let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let differ: BTreeSet<&String> = paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).collect();
        let (must, now) = reported(&converted);
        for path in &differ {
            let explained = must.iter().any(|reported| is_at_or_below(path, reported) || is_at_or_below(reported, path))
                || now.iter().any(|reported| is_at_or_below(path, reported) || is_at_or_below(reported, path));
            prop_assert!(explained, "1.{minor}: {path} differs in silence: {:?}, {:?}", before.get(*path), after.get(*path));
        }
        for reported in &must {
            let differs = differ.iter().any(|path| is_at_or_below(path, reported));
            prop_assert!(differs, "1.{minor}: {reported} is reported but kept: {converted:?}");
        }
    }
}
