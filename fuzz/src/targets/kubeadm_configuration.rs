//! kubeadm's own configuration, of any version and for any version.
use crate::{Seen, Target};
use kubeadm::{Read, Rules, Source, Strictness, Target as Kubernetes, check, convert, hub::Documents, read};
use std::collections::BTreeSet;

/// Where the API or a rule changes, and versions that are none of today's.
const VERSIONS: &[&str] = &["1.13.0", "1.18.20", "1.21.14", "1.26.15", "1.30.0", "1.36.4", "1.38.0", "2.0.0"];

pub(super) const TARGET: Target = Target {
    name: "kubeadm_configuration",
    inputs: 4_000,
    seeds,
    words: &[
        "apiVersion: kubeadm.k8s.io/v1beta4\n",
        "kind: ClusterConfiguration\n",
        "kind: JoinConfiguration\n",
        "---\n",
        "kubernetesVersion: v",
        "22.4294967295.",
        "featureGates: {",
        "extraArgs: ",
        "timeouts: {",
        "certificateValidityPeriod: ",
        "9223372036854775807h",
        "-1ns",
        "bindPort: 4294967296",
        "10.0.0.0/",
        "::/128",
        "true",
        "null",
        "[]",
        "- ",
        "\"",
        "é",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    [
        include_str!("../../../crates/kubeadm/tests/vectors/synth/allfields_v1beta1_ClusterConfiguration_k121.yaml"),
        include_str!("../../../crates/kubeadm/tests/vectors/synth/allfields_v1beta1_ClusterStatus_k121.yaml"),
        include_str!("../../../crates/kubeadm/tests/vectors/synth/allfields_v1beta3_JoinConfiguration_k136.yaml"),
        include_str!("../../../crates/kubeadm/tests/vectors/synth/allfields_v1beta4_ClusterConfiguration_k136.yaml"),
        include_str!("../../../crates/kubeadm/tests/vectors/synth/allfields_v1_UpgradeConfiguration_k137.yaml"),
        include_str!("../../../crates/kubeadm/tests/vectors/reader/mixedver.yaml"),
    ]
    .map(|seed| seed.as_bytes().to_vec())
    .to_vec()
}

/// What is said can be shown; what was read without an error is written so that it can be read again.
fn target(input: &[u8]) -> Seen {
    let text = String::from_utf8_lossy(input);
    let [strict, tolerant] = [Strictness::Strict, Strictness::Tolerant].map(|strictness| read_text(&text, strictness));
    assert!(strict.has_errors() || !tolerant.has_errors(), "tolerance refuses more: {:?}", tolerant.problems);
    let mut said: BTreeSet<String> = strict.problems.iter().map(|problem| problem.message.clone()).collect();
    for problem in strict.problems.iter().chain(&tolerant.problems) {
        assert!(
            !problem.to_string().chars().any(|c| c.is_control() && c != '\n'),
            "a control character in {problem:?}"
        );
    }
    for version in VERSIONS {
        let kubernetes = Kubernetes::new(version).expect("a version of the list");
        said.extend(check(&strict.documents, Some(kubernetes.minor())).into_iter().map(|refusal| refusal.message));
        let losses = converted(&strict, &kubernetes);
        converted(&tolerant, &kubernetes);
        said.insert(format!("{version} {losses}"));
    }
    Seen::new(said)
}

/// How much of it is lost for a version.
fn converted(read: &Read, kubernetes: &Kubernetes) -> usize {
    let converted = convert(&read.documents, kubernetes);
    if !read.has_errors() && !converted.documents.is_empty() {
        let again = read_text(&converted.yaml(), Strictness::Strict);
        assert!(!again.has_errors(), "not written as it is read: {:?}", again.problems);
        assert_eq!(settled(&again.documents, kubernetes), converted.yaml(), "another conversion changes it again");
    }
    converted.losses.len()
}

fn settled(documents: &Documents, kubernetes: &Kubernetes) -> String {
    convert(documents, kubernetes).yaml()
}

fn read_text(text: &str, strictness: Strictness) -> Read {
    read(&[Source { name: "input", text }], Rules { strictness, minor: None })
}
