//! Our conversions equal those of kubeadm's own code, but for what is named here.
use crate::support::{Vector, differences, documents, minor_of, read_strictly, target, vectors};
use machineadm_kubeadm::{ApiVersion, Converted, Target, convert, defaults};
use serde_json::Value;

/// `<input>__to-<target>__<mode>__<tag>`.
struct Case {
    input: Vector,
    to: ApiVersion,
    defaulted: bool,
    minor: u32,
    expected: String,
}

fn cases(ending: &str) -> Vec<Case> {
    let inputs = vectors("synth", ".yaml");
    let case = |Vector { name, text }| {
        let parts: Vec<&str> = name.split("__").collect();
        let [input, to, mode, tag] = parts[..] else { panic!("{name} has another form") };
        let input = inputs.iter().find(|vector| vector.name == input).expect("the input");
        Case {
            input: Vector { name: input.name.clone(), text: input.text.clone() },
            to: ApiVersion::named(to.trim_start_matches("to-")).expect("a version"),
            defaulted: mode == "defaulted",
            minor: tag.split('.').nth(1).expect("a minor").parse().expect("a minor"),
            expected: text,
        }
    };
    vectors("oracle", ending).into_iter().map(case).collect()
}

fn converted(case: &Case) -> Converted {
    let mut documents = read_strictly(&case.input.name, &case.input.text).documents;
    let target: Target = target(&case.input.text, case.minor, case.to);
    if case.defaulted {
        defaults::fill(&mut documents, &target);
    }
    convert(&documents, &target)
}

/// What kubeadm's converter fills in although nobody said it; to v1beta4 also into a raw conversion.
const FILLED_IN_BY_KUBEADM: &[(ApiVersion, &str)] = &[
    (ApiVersion::V1Beta4, "encryptionAlgorithm: ours None, theirs Some(String(\"RSA-2048\"))"),
    (ApiVersion::V1Beta4, "certificateValidityPeriod: ours None, theirs Some(String(\"8760h0m0s\"))"),
    (ApiVersion::V1Beta4, "caCertificateValidityPeriod: ours None, theirs Some(String(\"87600h0m0s\"))"),
    (ApiVersion::V1Beta4, "nodeRegistration.imagePullSerial: ours None, theirs Some(Bool(true))"),
    (ApiVersion::V1Beta4, "timeouts.controlPlaneComponentHealthCheck: ours None, theirs Some(String(\"4m0s\"))"),
    (ApiVersion::V1Beta4, "timeouts.discovery: ours None, theirs Some(String(\"5m0s\"))"),
    (ApiVersion::V1Beta4, "timeouts.etcdAPICall: ours None, theirs Some(String(\"2m0s\"))"),
    (ApiVersion::V1Beta4, "timeouts.kubeletHealthCheck: ours None, theirs Some(String(\"4m0s\"))"),
    (ApiVersion::V1Beta4, "timeouts.kubernetesAPICall: ours None, theirs Some(String(\"1m0s\"))"),
    (ApiVersion::V1Beta4, "timeouts.tlsBootstrap: ours None, theirs Some(String(\"5m0s\"))"),
    (ApiVersion::V1Beta4, "timeouts.upgradeManifests: ours None, theirs Some(String(\"5m0s\"))"),
    (ApiVersion::V1Beta4, "etcd.external.httpEndpoints["),
    (ApiVersion::V1Beta3, "nodeRegistration.imagePullPolicy: ours None, theirs Some(String(\"IfNotPresent\"))"),
    (ApiVersion::V1Beta2, "dns.type: ours None, theirs Some(String(\"CoreDNS\"))"),
];

/// v1beta1 always prints these, even if they are zero.
const PRINTED_ALTHOUGH_ZERO: &[(ApiVersion, &str)] = &[
    (ApiVersion::V1Beta1, "localAPIEndpoint.bindPort: ours None, theirs Some(Number(0))"),
    (ApiVersion::V1Beta1, "controlPlane.localAPIEndpoint.bindPort: ours None, theirs Some(Number(0))"),
    (ApiVersion::V1Beta1, "discovery.bootstrapToken.unsafeSkipCAVerification: ours None, theirs Some(Bool(false))"),
];

/// Where kubeadm's converter, which no command ever runs in this direction, loses what we carry.
const LOST_BY_KUBEADM: &[(ApiVersion, &str)] = &[
    // Init's waiting time belongs into the cluster's document.
    (ApiVersion::V1Beta3, "apiServer.timeoutForControlPlane: ours Some(String("),
    (ApiVersion::V1Beta3, "apiServer.timeoutForControlPlane: ours None, theirs Some(String(\"0s\"))"),
    // Addons to do without become skipped phases, the algorithm a feature gate.
    (ApiVersion::V1Beta3, "skipPhases[2]: ours Some(String(\"addon/coredns\")), theirs None"),
    (ApiVersion::V1Beta3, "featureGates.PublicKeysECDSA: ours Some(Bool(true)), theirs None"),
];

fn is_allowed(case: &Case, difference: &str) -> bool {
    let any = |list: &[(ApiVersion, &str)]| {
        list.iter().any(|(to, beginning)| *to == case.to && difference.starts_with(beginning))
    };
    (any(FILLED_IN_BY_KUBEADM) && !case.defaulted) || any(PRINTED_ALTHOUGH_ZERO) || any(LOST_BY_KUBEADM)
}

/// kubeadm gives every document of a file the kinds that it has; an init that we made up to carry a value is more.
fn is_ours_alone(kind: &str, theirs: &std::collections::BTreeMap<String, Value>) -> bool {
    kind == "InitConfiguration" && !theirs.contains_key(kind)
}

#[test]
fn conversions_equal_those_of_kubeadm() {
    let cases = cases(".yaml");
    assert_eq!(cases.len(), 121);
    let mut problems = Vec::new();
    for case in &cases {
        let converted = converted(case);
        let (ours, theirs) = (documents(&converted.yaml()), documents(&case.expected));
        let name = format!("{} to {} defaulted={}", case.input.name, case.to, case.defaulted);
        for (kind, ours) in ours.iter().filter(|(kind, _)| !is_ours_alone(kind, &theirs)) {
            let Some(theirs) = theirs.get(kind) else {
                problems.push(format!("{name}: {kind} is only ours"));
                continue;
            };
            let differences = differences(ours, theirs).into_iter().filter(|text| !is_allowed(case, text));
            problems.extend(differences.map(|text| format!("{name}: {kind}.{text}")));
        }
        let missing = theirs.keys().filter(|kind| !ours.contains_key(*kind));
        problems.extend(missing.map(|kind| format!("{name}: {kind} is missing")));
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn what_kubeadm_refuses_to_convert_is_converted_and_reported() {
    let cases = cases(".err");
    assert_eq!(cases.len(), 19);
    for case in &cases {
        let converted = converted(case);
        let name = format!("{} to {}", case.input.name, case.to);
        let reported: Vec<&str> = converted.losses.iter().map(|loss| loss.path.as_str()).collect();
        let flags: Vec<&str> = converted.flags.iter().map(|flag| flag.name).collect();
        if case.expected.contains("ignorePreflightErrors") {
            assert!(flags.contains(&"--ignore-preflight-errors"), "{name}: {converted:?}");
        } else if case.expected.starts_with("PANIC") {
            assert!(reported.is_empty() && converted.documents.len() == 1, "{name}: {converted:?}");
        } else {
            let kind = documents(&case.input.text).into_keys().next().expect("a kind");
            assert_eq!((reported, converted.documents.len()), (vec![kind.as_str()], 0), "{name}");
        }
    }
    assert_eq!(cases.iter().filter(|case| minor_of(&case.input.name) == 21).count(), 6);
}
