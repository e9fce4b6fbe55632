//! A kubeconfig that decides whom a machine trusts.
use crate::{Seen, Target};
use discovery::cluster_info::{self, Origin, Problem, Read};
use objects::yaml;
use serde_json::Value;
use std::collections::BTreeSet;

const REAL: &str = include_str!("../seeds/cluster-info.kubeconfig.yaml");

pub(super) const TARGET: Target = Target {
    name: "kubeconfig",
    inputs: 8_000,
    seeds,
    words: &[
        "clusters:\n",
        "- cluster:\n",
        "    server: ",
        "https://a:6443",
        "https://[::1]",
        "http://",
        "certificate-authority-data: ",
        "certificate-authority: ",
        "insecure-skip-tls-verify: true",
        "proxy-url: ",
        "tls-server-name: ",
        "users: [{name: a, user: {token: x}}]",
        "contexts: [{name: c, context: {cluster: a}}]",
        "current-context: c",
        "Users: [{name: a, token: x}]",
        "\n---\n",
        "name: ",
        "kind: Config",
        "\"server\": ",
        "<<: *a",
        "&a ",
        "\t",
        "\\e",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    let json = "{\t\"clusters\":[{\"name\":\"\",\"cluster\":{\"server\":\"https://a\"}}],\"users\":null}";
    let small = "clusters: [{name: a, cluster: {server: 'https://a:6443/p', tls-server-name: b}}]\n\
                 contexts: [{name: c, context: {cluster: a}}]\ncurrent-context: c\n";
    let bad = "clusters: [{cluster: {server: 'http://a', insecure-skip-tls-verify: true, proxy-url: p}}]\n\
               users: [{name: a, user: {token: x, exec: {command: y}}}]\n";
    [REAL, json, small, bad].map(|seed| seed.as_bytes().to_vec()).to_vec()
}

/// Either a whole and safe ClusterInfo or reasons that can be shown; what a stricter origin allows the others allow too.
fn target(input: &[u8]) -> Seen {
    let [signed, elsewhere, file] =
        [Origin::Signed, Origin::Elsewhere, Origin::File].map(|origin| cluster_info::read(input, origin));
    if let Ok(strict) = &signed {
        assert_eq!(elsewhere.as_ref(), Ok(strict), "what is signed may say what a URL may not");
    }
    if let Ok(strict) = &elsewhere {
        assert_eq!(file.as_ref(), Ok(strict), "a URL may say what a file may not");
        assert_eq!(strict.roots_file, None, "a file of this machine is named from elsewhere");
    }
    for read in [&signed, &elsewhere, &file].into_iter().flatten() {
        is_safe(input, read);
    }
    let problems = [&signed, &elsewhere, &file].map(|read| read.as_ref().err().map_or(&[][..], Vec::as_slice));
    for problem in problems.iter().copied().flatten() {
        assert!(!problem.to_string().chars().any(char::is_control), "a control character in {problem:?}");
    }
    assert!(signed.is_ok() || !problems[0].is_empty(), "refused without a reason");
    Seen::new((problems.map(kinds), file.is_ok_and(|read| read.roots_file.is_some())))
}

/// Only the kinds of problems: their paths would make every one of them new.
fn kinds(problems: &[Problem]) -> BTreeSet<String> {
    let kind = |problem: &Problem| format!("{problem:?}").split(['(', '{']).next().unwrap_or_default().to_owned();
    problems.iter().map(kind).collect()
}

/// Its server can be asked, its roots judged, it is written back to the same, and what forbids trust isn't there.
fn is_safe(input: &[u8], Read { info, roots_file }: &Read) {
    assert!(info.server().to_ascii_lowercase().starts_with("https://"), "{}", info.server());
    assert_eq!(info.roots().is_empty(), info.roots().pem().is_empty());
    let again = Read { info: info.clone(), roots_file: None };
    assert_eq!(cluster_info::read(info.kubeconfig().as_bytes(), Origin::Signed), Ok(again), "not written back");
    let Ok(tree) = std::str::from_utf8(input).map_err(drop).and_then(|text| yaml::parse(text).map_err(drop)) else {
        panic!("a kubeconfig that is no document");
    };
    assert!(tree.repeated.is_empty(), "a repeated key is trusted");
    assert!(!tree.goes_on, "nobody has looked at what follows");
    let capital = |name: &String| name.starts_with(|letter: char| letter.is_ascii_uppercase());
    assert!(
        !tree.value.as_object().into_iter().flatten().any(|(name, _)| capital(name)),
        "a strange member is trusted"
    );
    let is_empty = |value: &Value| matches!(value, Value::Null) || value == "";
    let clusters = tree.value["clusters"].as_array().map_or(&[][..], Vec::as_slice).iter().map(|it| &it["cluster"]);
    let harmless = |cluster: &&Value| {
        cluster["insecure-skip-tls-verify"] != true
            && is_empty(&cluster["proxy-url"])
            && (roots_file.is_some() || !info.roots().is_empty() || is_empty(&cluster["certificate-authority"]))
    };
    let mut named = clusters.filter(|cluster| cluster["server"] == info.server());
    assert!(named.any(|cluster| harmless(&cluster)), "the trusted cluster is not in the document, or does harm");
}
