//! Files are split, accepted and refused as kubeadm 1.36.4 does it; scalars survive the writer.
use crate::support::vectors;
use machineadm_kubeadm::{
    Rules, Source, Strictness, Target, convert,
    hub::{Arg, Documents, JoinConfiguration},
    parse_yaml, read,
};
use std::collections::BTreeMap;

const EXPECT: &str = include_str!("../vectors/reader/EXPECT.tsv");

fn is_accepted(name: &str, text: &str, strictness: Strictness, minor: u32) -> bool {
    let read = read(&[Source { name, text }], Rules { strictness, minor: Some(minor) });
    !read.has_errors()
}

#[test]
fn every_case_is_accepted_or_refused_as_kubeadm_does() {
    let rows: BTreeMap<&str, (&str, &str)> = EXPECT
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split('\t');
            let (file, strict) = (cells.next().expect("a file"), cells.next().expect("an exit code"));
            (file.trim_end_matches(".yaml"), (strict, cells.next().expect("an exit code")))
        })
        .collect();
    let mut seen = 0;
    for vector in vectors("reader", ".yaml") {
        let Some((strict, tolerant)) = rows.get(vector.name.as_str()) else { continue };
        seen += 1;
        for (strictness, exit) in [(Strictness::Strict, strict), (Strictness::Tolerant, tolerant)] {
            let accepted = is_accepted(&vector.name, &vector.text, strictness, 36);
            assert_eq!(accepted, *exit == "0", "{} {strictness:?}", vector.name);
        }
    }
    assert_eq!(seen, rows.len());
}

#[test]
fn kube_dns_is_lost_from_1_21_on_and_kept_before() {
    let vector = vectors("reader", ".yaml").into_iter().find(|vector| vector.name.starts_with("refused_k121"));
    let vector = vector.expect("the case");
    let read = crate::support::read_strictly(&vector.name, &vector.text);
    let losses = |version: &str| {
        let converted = convert(&read.documents, &Target::new(version).expect("a version"));
        converted.losses.into_iter().map(|loss| (loss.path, loss.value, loss.until_minor)).collect::<Vec<_>>()
    };
    let kube_dns = ("ClusterConfiguration.dns.type".to_owned(), "kube-dns".to_owned(), Some(20));
    let hyperkube = ("ClusterConfiguration.useHyperKubeImage".to_owned(), "true".to_owned(), Some(21));
    assert_eq!(losses("1.20.0"), []);
    assert_eq!(losses("1.21.0"), std::slice::from_ref(&kube_dns));
    assert_eq!(losses("1.22.0"), [hyperkube, kube_dns]);
}

#[test]
fn every_scalar_that_needs_quotes_gets_them_and_comes_back() {
    let lists = vectors("reader", ".txt");
    let scalars: Vec<&str> = lists.iter().flat_map(|list| list.text.lines()).collect();
    assert_eq!(scalars.len(), 36);
    for scalar in scalars {
        let mut join = JoinConfiguration::default();
        let (name, value) = (scalar.to_owned(), scalar.to_owned());
        join.node_registration.kubelet_extra_args = vec![Arg { name, value, merge_method: None }];
        let documents = Documents { join: Some(join), ..Documents::default() };
        for version in ["1.36.4", "1.30.0"] {
            let text = convert(&documents, &Target::new(version).expect("a version")).yaml();
            assert!(text.contains(&format!(": \"{scalar}\"")), "{scalar}: {text}");
            let value = parse_yaml(&text).expect("our own YAML");
            let back = crate::support::read_strictly(scalar, &value.to_string());
            assert_eq!(back.documents, documents, "{scalar}");
        }
    }
}

#[test]
fn scalars_mean_the_same_to_us_as_to_kubeadm() {
    for list in vectors("reader", ".txt") {
        for scalar in list.text.lines() {
            let value = parse_yaml(&format!("value: {scalar}"));
            let is_text = value.is_ok_and(|value| value["value"] == scalar);
            assert_eq!(is_text, list.name == "scalars-safe-plain", "{scalar}");
        }
    }
}
