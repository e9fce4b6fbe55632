//! `machineadm config import` loses nothing in silence: what kubeadm's files of every API version say comes back in the
//! file that machineadm writes for the same Kubernetes version, but for exactly the fields that the import lists.
use crate::support::{
    kubeadm_fields::{Pick, Purpose, VERSIONS, every_field_is_tried, file, picks},
    round_trip::RoundTrip,
};
use kubeadm::ApiVersion;
use proptest::prelude::*;
use std::{collections::BTreeSet, fs, path::Path};

/// The rich and the smallest files of every version, by the names that end in the minor version of their kubeadm.
#[test]
fn rich_files_of_every_version_come_back_but_for_the_listed_fields() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubeadm/tests/vectors/synth");
    let (mut versions, mut files) = (BTreeSet::new(), 0);
    for entry in fs::read_dir(folder).expect("the vectors") {
        let path = entry.expect("a vector").path();
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let is_asked = |part: &str| name.starts_with(part) && (name.contains("_init") || name.contains("_join"));
        if !is_asked("full_") && !is_asked("min_") {
            continue;
        }
        let minor = name.rsplit_once("_k1").expect("a minor version").1;
        let text = fs::read_to_string(&path).expect("a vector");
        let version = format!("v1.{minor}.0");
        // Those with the least name no version.
        let text = match name.contains("_init") && !text.contains("kubernetesVersion") {
            true => with_version(&text, &version),
            false => text,
        };
        let trip = RoundTrip::of(&text, &version).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(trip.nothing_is_listed_that_was_kept(), Ok(()), "{name}");
        assert_eq!(trip.losses.is_empty(), name.starts_with("min_"), "{name}: {:?}", trip.losses);
        versions.insert(name.split('_').nth(1).expect("a version").to_owned());
        files += 1;
    }
    let every: BTreeSet<String> = ApiVersion::ALL.iter().map(|api| api.name().to_owned()).collect();
    assert_eq!(versions, every);
    assert!(files > 30, "{files} files");
}

fn with_version(text: &str, version: &str) -> String {
    match text.split_once("kind: ClusterConfiguration\n") {
        Some((before, after)) => format!("{before}kind: ClusterConfiguration\nkubernetesVersion: {version}\n{after}"),
        None => {
            let api = text.lines().find(|line| line.starts_with("apiVersion: ")).expect("a version");
            format!("{}\n---\n{api}\nkind: ClusterConfiguration\nkubernetesVersion: {version}\n", text.trim_end())
        }
    }
}

/// A field that a new kubeadm brings is not tried before the table below has values for it.
#[test]
fn the_property_tries_every_field_of_every_version() {
    VERSIONS.iter().for_each(|(api, _)| every_field_is_tried(*api));
    assert_eq!(VERSIONS.map(|(api, _)| api), ApiVersion::ALL);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn every_field_comes_back_or_is_listed(
        picks in picks(12),
        (api, version) in prop::sample::select(VERSIONS.to_vec()),
        purpose in prop::sample::select(vec![Purpose::Init, Purpose::Join]),
    ) {
        let text = file(api, version, purpose, &picks);
        if let Err(why) = RoundTrip::of(&text, version) {
            prop_assert!(false, "{api}: {why}");
        }
    }
}

/// The same for each value alone, so that a field is named that does not come back.
#[test]
fn each_value_of_each_field_comes_back_or_is_listed() {
    let (mut tried, mut lost) = (0, Vec::new());
    for (api, version) in VERSIONS {
        for purpose in [Purpose::Init, Purpose::Join] {
            for pick in Pick::each(api, purpose) {
                let text = file(api, version, purpose, &[pick]);
                let trip = RoundTrip::of(&text, version).and_then(|trip| trip.nothing_is_listed_that_was_kept());
                lost.extend(trip.err().map(|why| format!("{api}: {why}")));
                tried += 1;
            }
        }
    }
    assert!(lost.is_empty(), "{} of {tried}:\n{}", lost.len(), lost.join("\n"));
    assert!(tried > 300, "{tried}");
}
