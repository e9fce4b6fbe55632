//! Client certificates that a machine issues to itself, judged by openssl, a real etcd and a real API server.
extern crate machineadm_cluster as cluster;

use base64::{Engine, prelude::BASE64_STANDARD};
use certs::client_certificate::{ClientCertificate, Subject};
use cluster::{
    ApiServer, Kubeconfig, Timeouts,
    etcd::{EtcdError, EtcdServers},
    issue_client_certificate,
};
use etcd::{Credentials, Quorum};
use jiff::{SignedDuration, Timestamp};
use secret::Secret;
use std::{fs, path::Path};
use tempfile::TempDir;
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    judges,
};

const ADMINISTRATOR: Subject = Subject { name: "machineadm", group: Some("system:masters") };
const ETCD_CLIENT: Subject = Subject { name: "machineadm", group: None };

/// What makes the key of a CA, and how its file begins.
const KEYS: &[(&str, &[&str], &str)] = &[
    ("RSA as kubeadm writes it", &["genrsa", "-traditional", "2048"], "BEGIN RSA PRIVATE KEY"),
    ("RSA in PKCS#8", &["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], "BEGIN PRIVATE KEY"),
    ("EC as kubeadm writes it", &["ecparam", "-genkey", "-noout", "-name", "prime256v1"], "BEGIN EC PRIVATE KEY"),
    ("EC with its parameters", &["ecparam", "-genkey", "-name", "prime256v1"], "BEGIN EC PARAMETERS"),
    ("EC of 384 bits", &["ecparam", "-genkey", "-noout", "-name", "secp384r1"], "BEGIN EC PRIVATE KEY"),
    ("EC in PKCS#8", &["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "BEGIN PRIVATE KEY"),
];

fn openssl(words: &[&str]) -> String {
    let output = judges::command("openssl").expect("openssl").args(words).output().expect("it runs");
    assert!(output.status.success(), "openssl {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A CA with a key of this kind: its certificate and its key.
fn authority(folder: &TempDir, make: &[&str]) -> (Vec<u8>, Secret<Vec<u8>>) {
    let path = |name: &str| folder.path().join(name).display().to_string();
    openssl(&[make[0], "-out", &path("ca.key")].into_iter().chain(make[1..].iter().copied()).collect::<Vec<_>>());
    openssl(&[
        "req",
        "-x509",
        "-new",
        "-key",
        &path("ca.key"),
        "-subj",
        "/O=a, b/CN=etcd-ca",
        "-days",
        "30",
        "-out",
        &path("ca.crt"),
        "-addext",
        "keyUsage=critical,digitalSignature,keyEncipherment,keyCertSign",
    ]);
    let read = |name: &str| fs::read(folder.path().join(name)).expect("a file");
    (read("ca.crt"), Secret::new(read("ca.key")))
}

#[test]
fn openssl_verifies_what_a_ca_of_any_usual_key_issues() {
    testbed::needs!(Judge("openssl"));
    for (what, make, beginning) in KEYS {
        let folder = tempfile::tempdir().expect("a directory");
        let (certificate, key) = authority(&folder, make);
        assert!(String::from_utf8_lossy(key.expose()).contains(beginning), "{what}");
        let issued = issue_client_certificate(&certificate, &key, ADMINISTRATOR);
        let issued = issued.unwrap_or_else(|error| panic!("{what}: {error}"));
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("client.crt"), &issued.certificate).expect("written");
        fs::write(path("client.key"), issued.key.expose()).expect("written");
        let verify = |purpose: &str| {
            let (ca, client) = (path("ca.crt"), path("client.crt"));
            let words = ["verify", "-x509_strict", "-purpose", purpose, "-CAfile", &ca, &client];
            judges::command("openssl").expect("openssl").args(words).output().expect("it runs")
        };
        let client = verify("sslclient");
        assert!(client.status.success(), "{what}: {}", String::from_utf8_lossy(&client.stderr));
        assert!(!verify("sslserver").status.success(), "{what}: it is for clients only");
        let public = |words: &[&str]| openssl(words);
        assert_eq!(
            public(&["x509", "-noout", "-pubkey", "-in", &path("client.crt")]),
            public(&["pkey", "-pubout", "-in", &path("client.key")]),
            "{what}: the key is the certificate's"
        );
        shows_its_subject_and_ends_soon(what, &path("client.crt"));
    }
}

fn shows_its_subject_and_ends_soon(what: &str, certificate: &str) {
    let text = openssl(&["x509", "-noout", "-text", "-in", certificate]);
    assert!(text.contains("Subject: O = system:masters, CN = machineadm\n"), "{what}: {text}");
    assert!(text.contains("TLS Web Client Authentication\n") && !text.contains("Server Authentication"), "{text}");
    assert!(!text.contains("CA:TRUE") && !text.contains("Certificate Sign"), "{what}: {text}");
    let dates = openssl(&["x509", "-noout", "-dates", "-dateopt", "iso_8601", "-in", certificate]);
    let time = |label: &str| -> Timestamp {
        let found = dates.lines().find_map(|line| line.strip_prefix(label)).expect("a date");
        found.replacen(' ', "T", 1).parse().expect("a time")
    };
    let (from, until, now) = (time("notBefore="), time("notAfter="), Timestamp::now());
    assert!(from <= now && until > now, "{what}: {from} {until}");
    assert!(until.duration_since(from) <= SignedDuration::from_mins(35), "{what}: {from} {until}");
}

#[test]
fn what_cannot_issue_is_named_without_a_byte_of_its_key() {
    testbed::needs!(Judge("openssl"));
    let (folder, other) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let (certificate, key) = authority(&folder, KEYS[0].1);
    let text = String::from_utf8(key.expose().clone()).expect("PEM");
    let line = text.lines().nth(3).expect("a line of the key").to_owned();
    let half = Secret::new(text.as_bytes()[..text.len() / 2].to_vec());
    let spoiled = Secret::new(text.replacen(&line, &line[1..], 1).into_bytes());
    let binary = Secret::new(vec![0xff; 64]);
    let (elder, foreign) = authority(&other, KEYS[0].1);
    let cases = [
        (&certificate[..], &half),
        (&certificate[..], &spoiled),
        (&certificate[..], &binary),
        (&certificate[..], &foreign),
        (b"no certificate", &key),
        (b"\xff\xfe", &key),
    ];
    for (number, (certificate, key)) in cases.into_iter().enumerate() {
        let error = issue_client_certificate(certificate, key, ETCD_CLIENT).expect_err(&format!("case {number}"));
        let said = format!("{error} {error:?}");
        assert!(said.starts_with("the CA of this machine issues no client certificate: "), "{said}");
        let quoted = line.as_bytes().windows(8).any(|part| said.contains(&*String::from_utf8_lossy(part)));
        assert!(!quoted, "{said}");
    }
    let issued = issue_client_certificate(&certificate, &key, ETCD_CLIENT).expect("issued");
    assert_eq!(format!("{issued:?}"), "ClientCertificate { .. }");
    // While a CA is replaced, the file has both, and the key belongs to one of them.
    assert!(issue_client_certificate(&[elder, certificate].concat(), &key, ETCD_CLIENT).is_ok());
}

#[test]
fn a_real_etcd_and_a_real_api_server_accept_them() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options { controllers: Vec::new(), ..Options::default() })?;
    let read = |name: &str| fs::read(plane.pki().join(name)).expect("a file of kubeadm");
    let issue = |name: &str, subject| {
        let (certificate, key) = (read(&format!("{name}.crt")), Secret::new(read(&format!("{name}.key"))));
        issue_client_certificate(&certificate, &key, subject).expect("issued")
    };
    let members = |client: ClientCertificate| {
        let ClientCertificate { certificate, key } = client;
        let credentials = Credentials { authority: read("etcd/ca.crt"), certificate, key };
        let endpoints = vec![plane.etcd_url().expect("a URL")];
        EtcdServers::connect(&credentials, endpoints).expect("a client").membership()
    };
    let membership = members(issue("etcd/ca", ETCD_CLIENT)).expect("etcd answers");
    assert_eq!((membership.members.len(), membership.quorum), (1, Quorum::Held));
    let stranger = members(issue("ca", ETCD_CLIENT)).expect_err("it is of the other CA");
    assert!(matches!(stranger, EtcdError::Unreachable { .. }), "{stranger:?}");

    let ask = |client: &ClientCertificate| {
        let kubeconfig = kubeconfig(&plane.url(0).expect("a URL"), &read("ca.crt"), client);
        let kubeconfig = Kubeconfig::read(kubeconfig.as_bytes(), Path::new("/")).expect("a kubeconfig");
        ApiServer::connect(kubeconfig, Timeouts::default()).expect("a client").get("/api/v1/namespaces/kube-system")
    };
    let found = ask(&issue("ca", ADMINISTRATOR)).expect("an administrator may read").expect("a namespace");
    assert_eq!(found["metadata"]["name"], "kube-system");
    let refused = ask(&issue("ca", ETCD_CLIENT)).expect_err("without the group it may do nothing").to_string();
    assert!(refused.contains("machineadm") && refused.contains("forbidden"), "{refused}");
    plane.down()
}

fn kubeconfig(server: &str, authority: &[u8], client: &ClientCertificate) -> String {
    let text = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
    format!(
        "apiVersion: v1\nkind: Config\nclusters: [{{name: a, cluster: {{server: '{server}', certificate-authority-data: \
         {}}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\ncurrent-context: a\nusers: [{{name: a, \
         user: {{client-certificate-data: {}, client-key-data: {}}}}}]\n",
        text(authority),
        text(&client.certificate),
        text(client.key.expose())
    )
}
