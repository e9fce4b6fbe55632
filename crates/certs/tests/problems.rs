//! What is wrong with a set: each problem by itself and all of them at once, by the file's name.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use discovery::certificate::CaBundle;
use jiff::Timestamp;
use machineadm_certs::{
    CertificateSet, Etcd, ExternalEtcd, FileName, FileSet, Found, Problem, SetEncryption, check_download, check_upload,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use secret::Secret;
use std::collections::BTreeMap;

/// A certificate with its key, both as PEM.
struct Pair {
    certificate: String,
    key: String,
}

/// Years in which a certificate is valid.
type Years = (i32, i32);
const LONG: Years = (2020, 2040);

fn pair(is_ca: IsCa, (from, to): Years) -> Pair {
    let mut params = CertificateParams::new(vec!["kubernetes".to_owned()]).unwrap();
    (params.is_ca, params.not_before, params.not_after) = (is_ca, date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
    let key = KeyPair::generate().unwrap();
    Pair { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

fn ca() -> Pair {
    pair(IsCa::Ca(BasicConstraints::Unconstrained), LONG)
}

fn content(text: &str) -> Found {
    Found::Content(Secret::new(text.as_bytes().to_vec()))
}

fn now() -> Timestamp {
    "2030-06-01T00:00:00Z".parse().unwrap()
}

fn stacked() -> FileSet {
    FileSet::new(&Etcd::Stacked)
}

/// A set in which nothing is wrong.
fn whole() -> BTreeMap<FileName, Found> {
    let mut found = BTreeMap::new();
    for (certificate, key) in [
        (FileName::CaCertificate, FileName::CaKey),
        (FileName::FrontProxyCaCertificate, FileName::FrontProxyCaKey),
        (FileName::EtcdCaCertificate, FileName::EtcdCaKey),
    ] {
        let pair = ca();
        found.extend([(certificate, content(&pair.certificate)), (key, content(&pair.key))]);
    }
    let key = KeyPair::generate().unwrap();
    found.insert(FileName::ServiceAccountKey, content(&key.serialize_pem()));
    found.insert(FileName::ServiceAccountPublicKey, content(&key.public_key_pem()));
    found
}

fn shown(result: Result<CertificateSet, Vec<Problem>>) -> Vec<String> {
    result.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// The problems of a set in which these files are changed.
fn with(changes: impl IntoIterator<Item = (FileName, Found)>) -> Vec<String> {
    let mut found = whole();
    found.extend(changes);
    shown(check_upload(&stacked(), found, now()))
}

#[test]
fn a_whole_set_passes_with_every_byte_of_it() {
    let (found, files) = (whole(), stacked());
    let set = check_upload(&files, found.clone(), now()).unwrap();
    assert_eq!(set.files().len(), 8);
    for (file, content) in set.files() {
        let Found::Content(original) = &found[&file.name] else { panic!("{}", file.location) };
        assert_eq!(content, original, "{}", file.location);
    }
}

#[test]
fn each_spoiled_file_is_named_with_its_fault() {
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let cases = [
        (FileName::EtcdCaKey, Found::Missing, "etcd/ca.key is missing"),
        (FileName::CaCertificate, Found::Missing, "ca.crt is missing"),
        (FileName::ServiceAccountKey, Found::Unreadable("permission denied".to_owned()), "sa.key cannot be read: perm"),
        (FileName::CaKey, content(""), "ca.key is empty"),
        (FileName::CaCertificate, content(" \n"), "ca.crt is empty"),
        (FileName::CaKey, content("not a key"), "ca.key is not PEM"),
        (FileName::EtcdCaCertificate, content("not a certificate"), "etcd/ca.crt is not PEM"),
        (FileName::ServiceAccountPublicKey, content("ssh-rsa AAAA"), "sa.pub is not PEM"),
        (FileName::CaCertificate, content(broken), "ca.crt has a CERTIFICATE block that is not an X.509 certificate"),
        (FileName::CaCertificate, content("-----BEGIN CERTIFICATE-----\n"), "ca.crt is not valid PEM: block 1"),
        (FileName::CaKey, content("-----BEGIN PRIVATE KEY-----\nA\n"), "ca.key is not valid PEM: block 1"),
        (FileName::CaKey, content(&format!("  {}", ca().key)), "ca.key has a PEM block behind white space"),
        (FileName::CaKey, content(broken), "ca.key has no PEM block of a private key"),
        (
            FileName::ServiceAccountPublicKey,
            content(&broken.replace("CERTIFICATE", "X")),
            "sa.pub has no PEM block of a",
        ),
        (FileName::CaKey, content(&broken.replace("CERTIFICATE", "PRIVATE KEY")), "ca.key has a key that is damaged"),
        (FileName::CaKey, content(&broken.replace("CERTIFICATE", "ENCRYPTED PRIVATE KEY")), "ca.key is encrypted"),
        (FileName::CaKey, content(&ca().key), "ca.crt does not belong to the private key in ca.key"),
        (FileName::FrontProxyCaKey, content(&ca().key), "front-proxy-ca.crt does not belong to the private key in fr"),
        (FileName::EtcdCaKey, content(&ca().key), "etcd/ca.crt does not belong to the private key in etcd/ca.key"),
        (FileName::ServiceAccountKey, content(&ca().key), "sa.pub does not belong to the private key in sa.key"),
    ];
    for (name, spoiled, expected) in cases {
        let problems = with([(name, spoiled)]);
        assert!(problems.len() == 1 && problems[0].starts_with(expected), "{expected}: {problems:?}");
    }
}

#[test]
fn a_private_key_in_a_file_that_everybody_may_read_is_refused() {
    let pair = ca();
    let both = content(&format!("{}{}", pair.certificate, pair.key));
    let expected = ["ca.crt has a private key in it, although its mode 0644 lets every user read it"];
    assert_eq!(with([(FileName::CaCertificate, both), (FileName::CaKey, content(&pair.key))]), expected);
    assert!(with([(FileName::ServiceAccountPublicKey, content(&pair.key))])[0].starts_with("sa.pub has a private key"));
}

#[test]
fn a_certificate_that_is_over_has_not_begun_or_is_no_ca_is_refused() {
    let of = |pair: Pair| {
        with([(FileName::CaCertificate, content(&pair.certificate)), (FileName::CaKey, content(&pair.key))])
    };
    let ca = |years| pair(IsCa::Ca(BasicConstraints::Unconstrained), years);
    assert_eq!(of(ca(LONG)), [""; 0]);
    assert_eq!(of(ca((2020, 2030))), ["ca.crt expired at 2030-01-01T00:00:00Z"]);
    assert_eq!(of(ca((2031, 2040))), ["ca.crt is not valid before 2031-01-01T00:00:00Z"]);
    for no_ca in [IsCa::NoCa, IsCa::ExplicitNoCa] {
        assert!(of(pair(no_ca, LONG))[0].starts_with("ca.crt is not the certificate of a CA"));
    }
}

#[test]
fn a_certificate_is_valid_from_its_first_to_its_last_second() {
    let pair = pair(IsCa::Ca(BasicConstraints::Unconstrained), (2030, 2031));
    let mut found = whole();
    found.extend([(FileName::CaCertificate, content(&pair.certificate)), (FileName::CaKey, content(&pair.key))]);
    let at = |time: &str| shown(check_upload(&stacked(), found.clone(), time.parse().unwrap())).len();
    assert_eq!(["2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"].map(at), [0, 0]);
    assert_eq!(["2029-12-31T23:59:59Z", "2031-01-01T00:00:01Z"].map(at), [1, 1]);
}

#[test]
fn all_problems_are_listed_at_once_and_nothing_is_copied() {
    let expired = pair(IsCa::Ca(BasicConstraints::Unconstrained), (2020, 2021));
    let changes = [
        (FileName::CaCertificate, content(&expired.certificate)),
        (FileName::FrontProxyCaKey, content("x")),
        (FileName::ServiceAccountPublicKey, Found::Missing),
        (FileName::EtcdCaCertificate, content("")),
    ];
    assert_eq!(
        with(changes),
        [
            "ca.crt expired at 2021-01-01T00:00:00Z",
            "ca.crt does not belong to the private key in ca.key",
            "front-proxy-ca.key is not PEM: it has no BEGIN line",
            "sa.pub is missing",
            "etcd/ca.crt is empty",
        ]
    );
    assert_eq!(shown(check_upload(&stacked(), BTreeMap::new(), now())).len(), 8);
}

#[test]
fn no_problem_shows_anything_of_a_key() {
    let pair = ca();
    let secret = pair.key.lines().nth(1).unwrap().to_owned();
    let spoiled = [pair.key.replace("-----END", "----END"), pair.key.replace("PRIVATE KEY", "X"), secret.clone()];
    for text in spoiled {
        let found = whole().into_keys().map(|name| (name, content(&text))).collect();
        let problems = check_upload(&stacked(), found, now()).unwrap_err();
        assert_eq!(problems.len(), 8);
        let all = format!("{problems:?} {:?} {:?}", shown(Err(problems.clone())), content(&text));
        assert!(!all.contains(&secret[..16]), "{all}");
    }
    assert!(!format!("{:?}", check_upload(&stacked(), whole(), now()).unwrap()).contains("BEGIN"));
}

#[test]
fn an_external_ca_is_refused_with_what_the_operator_provides_instead() {
    let cluster = with([(FileName::CaKey, Found::Missing)]);
    assert_eq!(cluster.len(), 1);
    for part in ["ca.key is missing: with an external CA", "apiserver.crt", "apiserver-kubelet-client.crt"] {
        assert!(cluster[0].contains(part), "{part}: {cluster:?}");
    }
    for part in ["admin.conf", "controller-manager.conf", "scheduler.conf", "kubelet.conf", "except ca.key"] {
        assert!(cluster[0].contains(part), "{part}: {cluster:?}");
    }
    let proxy = with([(FileName::FrontProxyCaKey, Found::Missing)]);
    assert!(proxy.len() == 1 && proxy[0].contains("front-proxy-client.crt and its key"), "{proxy:?}");

    let neither = with([(FileName::CaKey, Found::Missing), (FileName::CaCertificate, Found::Missing)]);
    assert_eq!(neither, ["ca.crt is missing", "ca.key is missing"]);
    let mut downloaded = whole();
    downloaded.remove(&FileName::CaKey);
    let problems = shown(check_download(&stacked(), downloaded, &CaBundle::default(), now()));
    assert_eq!(problems, ["ca.key is missing"]);
}

#[test]
fn the_first_certificate_of_a_bundle_signs_and_must_be_among_the_discovered_ones() {
    let (own, other) = (ca(), ca());
    let bundle = |pairs: &[&Pair]| pairs.iter().map(|pair| pair.certificate.as_str()).collect::<String>();
    let check = |certificates: &[&Pair], discovered: &[&Pair]| {
        let mut found = whole();
        let text = bundle(certificates);
        found.extend([(FileName::CaCertificate, content(&text)), (FileName::CaKey, content(&own.key))]);
        let discovered = match bundle(discovered) {
            none if none.is_empty() => CaBundle::default(),
            some => CaBundle::read(some.into_bytes()).unwrap(),
        };
        shown(check_download(&stacked(), found, &discovered, now()))
    };
    let unknown = "ca.crt starts with a CA certificate that is not among the discovered CA certificates of the cluster";
    let foreign = "ca.crt does not belong to the private key in ca.key";
    assert_eq!(check(&[&own], &[&own]), [""; 0]);
    assert_eq!(check(&[&own, &other], &[&other, &own]), [""; 0]);
    assert_eq!(check(&[&own], &[&other]), [unknown]);
    assert_eq!(check(&[&own, &other], &[&other]), [unknown]);
    assert_eq!(check(&[&other, &own], &[&own, &other]), [foreign]);
    assert_eq!(check(&[&other, &own], &[&own]), [foreign, unknown]);
    assert_eq!(check(&[&own], &[]), [""; 0]);
}

#[test]
fn an_old_ca_after_the_first_may_be_over() {
    let (own, old) = (ca(), pair(IsCa::Ca(BasicConstraints::Unconstrained), (2010, 2020)));
    let of = |bundle: String| with([(FileName::CaCertificate, content(&bundle)), (FileName::CaKey, content(&own.key))]);
    assert_eq!(of(format!("{}{}", own.certificate, old.certificate)), [""; 0]);
    let turned = of(format!("{}{}", old.certificate, own.certificate));
    assert_eq!(
        turned,
        ["ca.crt expired at 2020-01-01T00:00:00Z", "ca.crt does not belong to the private key in ca.key"]
    );
}

#[test]
fn tokens_of_service_accounts_may_be_verified_by_several_keys() {
    let [own, other] = [(); 2].map(|()| KeyPair::generate().unwrap());
    let of = |public: &str| {
        let private = content(&own.serialize_pem());
        with([(FileName::ServiceAccountKey, private), (FileName::ServiceAccountPublicKey, content(public))])
    };
    let [one, two] = [&own, &other].map(KeyPair::public_key_pem);
    assert_eq!(of(&format!("{two}{one}")), [""; 0]);
    assert_eq!(of(&two), ["sa.pub does not belong to the private key in sa.key"]);
    let damaged = format!("{one}{}", two.replacen("-----\n", "-----\nAAAA\n", 1));
    assert!(of(&damaged)[0].starts_with("sa.pub has a key that is damaged"), "{:?}", of(&damaged));
}

fn external(ca_file: Option<&str>, cert_file: Option<&str>, key_file: Option<&str>) -> FileSet {
    let [ca_file, cert_file, key_file] = [ca_file, cert_file, key_file].map(|path| path.map(Into::into));
    FileSet::new(&Etcd::External(ExternalEtcd { ca_file, cert_file, key_file }))
}

#[test]
fn with_external_etcd_its_client_certificate_and_any_of_its_cas_are_checked() {
    let files = external(Some("/e/ca.pem"), Some("/e/client.pem"), Some("/e/client-key.pem"));
    let (client, etcd) = (pair(IsCa::NoCa, LONG), ca());
    let old = pair(IsCa::Ca(BasicConstraints::Unconstrained), (2010, 2020));
    let of = |ca_bundle: &str, client_certificate: &str| {
        let mut found = whole();
        found.insert(FileName::ExternalEtcdCaCertificate, content(ca_bundle));
        found.insert(FileName::ExternalEtcdCertificate, content(client_certificate));
        found.insert(FileName::ExternalEtcdKey, content(&client.key));
        shown(check_upload(&files, found, now()))
    };
    assert_eq!(of(&etcd.certificate, &client.certificate), [""; 0]);
    assert_eq!(of(&format!("{}{}", old.certificate, etcd.certificate), &client.certificate), [""; 0]);
    assert_eq!(of(&old.certificate, &client.certificate), ["/e/ca.pem expired at 2020-01-01T00:00:00Z"]);
    assert!(of(&client.certificate, &client.certificate)[0].starts_with("/e/ca.pem is not the certificate of a CA"));
    let other = of(&etcd.certificate, &pair(IsCa::NoCa, (2010, 2020)).certificate);
    let belongs = "/e/client.pem does not belong to the private key in /e/client-key.pem";
    assert_eq!(other, ["/e/client.pem expired at 2020-01-01T00:00:00Z", belongs]);
}

#[test]
fn entries_that_external_etcd_does_not_use_are_uploaded_empty_as_kubeadm_expects_them() {
    let key = machineadm_certs::CertificateKey::generate(|bytes| bytes.fill(1));
    let owner = machineadm_certs::Owner { id: "abcdef".parse().unwrap(), uid: "u".to_owned() };
    let set = check_upload(&external(None, None, None), whole(), now()).unwrap();
    let mut next = 0;
    let entropy = |bytes: &mut [u8]| {
        next += 1;
        bytes.fill(next);
    };
    let secret = machineadm_certs::secret_object::secret(&set, SetEncryption::new(&key, entropy), &owner).unwrap();
    let empty: Vec<_> =
        secret.data.iter().filter(|(_, entry)| entry.expose().is_empty()).map(|(name, _)| name).collect();
    assert_eq!(empty, ["external-etcd-ca.crt", "external-etcd.crt", "external-etcd.key"]);
    assert_eq!(secret.data.len(), 9);
    let found = machineadm_certs::KubeadmCerts::read(&secret).unwrap().decrypt(&external(None, None, None), &key);
    assert_eq!(shown(check_download(&external(None, None, None), found, &CaBundle::default(), now())), [""; 0]);
}
