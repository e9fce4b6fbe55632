//! What others seal opens here, and what is sealed here opens with others: Python with `cryptography`, and openssl.
#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]
use machineadm_documents::{
    AnyDocument, Fresh, Heading, KINDS, Secret, Source, decrypt, read, seal, sealed_document, v1alpha1::Sealed,
};
use objects::hex::encode as hex;
use std::{io::Write, path::Path, process::Stdio};

const PASSPHRASE: &str = "correct horse battery staple";
const DOCUMENT: &str = include_str!("vectors/sealed-by-python.yaml");
const PLAIN: &str = include_str!("vectors/plain.yaml");

/// What a program prints, given this input.
fn run(program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = testbed::judges::command(program).unwrap();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?} failed; is python3-cryptography there? run scripts/setup"
    );
    output.stdout
}

/// Debian's Python, which has Debian's `cryptography`.
fn python(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/seal.py");
    run("/usr/bin/python3", &[&[script.to_str().unwrap()], arguments].concat(), input)
}

fn sealed(document: &str) -> Sealed {
    let source = Source { name: "-".into(), bytes: document.as_bytes().to_vec().into() };
    let mut read = read(vec![source]);
    assert!(read.report.is_empty(), "{}", read.report);
    let AnyDocument::Encrypted(encrypted) = read.documents.remove(0).body else { panic!() };
    encrypted.sealed
}

fn opened(document: &str, passphrase: &str) -> Vec<u8> {
    decrypt(&sealed(document), &Secret::new(passphrase.into())).unwrap().to_vec()
}

fn sealed_here(text: &[u8], passphrase: &str, rounds: u32, fresh: Fresh) -> String {
    let sealed = seal(text, &Secret::new(passphrase.into()), rounds, fresh).unwrap();
    let uri = Secret::new("file:///passphrase".to_owned());
    sealed_document(
        &sealed,
        &Heading { name: None, provider: "file", passphrase_uri: &uri, certificate_authority: None },
    )
}

#[test]
fn a_kept_document_of_pythons_opens() {
    assert_eq!(opened(DOCUMENT, PASSPHRASE), PLAIN.as_bytes());
}

#[test]
fn what_python_seals_opens_here() {
    testbed::needs!(Judge("/usr/bin/python3"));
    let large: Vec<u8> = (0..64_000u32).map(|number| (number % 251) as u8).collect();
    for (text, passphrase, rounds) in [
        (&b""[..], "passphrase", "1000"),
        (PLAIN.as_bytes(), "pässphräse with spaces", "50000"),
        (&large, PASSPHRASE, "1234"),
    ] {
        let document = python(&["seal", rounds, passphrase], text);
        assert_eq!(opened(std::str::from_utf8(&document).unwrap(), passphrase), text);
    }
}

/// The defaults that the schema tells its readers, for another program that follows them.
#[test]
fn a_document_that_states_no_algorithm_opens_with_the_defaults_of_the_schema() {
    testbed::needs!(Judge("/usr/bin/python3"));
    let kind = KINDS.iter().find(|kind| kind.kind == "EncryptedConfig").unwrap();
    let schema = (kind.schema)();
    let default = |member: &str| match &schema["properties"]["spec"]["properties"][member]["default"] {
        serde_json::Value::String(name) => name.clone(),
        other => other.to_string(),
    };
    let names = ["cipherAlgorithm", "digestAlgorithm", "keyDerivationAlgorithm", "iterations"];
    let defaults = names.map(default);
    assert_eq!(defaults, ["aes-256-gcm", "sha-512", "pbkdf2", "50000"]);
    let sealed_with = |algorithms: [&str; 4]| {
        let arguments = [&["seal-with"], &algorithms[..], &[PASSPHRASE]].concat();
        let document = String::from_utf8(python(&arguments, PLAIN.as_bytes())).unwrap();
        assert!(names.iter().all(|name| !document.contains(name)), "{document}");
        decrypt(&sealed(&document), &Secret::new(PASSPHRASE.into())).map(|text| text.to_vec())
    };
    let [cipher, digest, derivation, rounds] = defaults.each_ref().map(String::as_str);
    assert_eq!(sealed_with([cipher, digest, derivation, rounds]).unwrap(), PLAIN.as_bytes());
    for other in [
        ["aes-128-gcm", digest, derivation, rounds],
        [cipher, "sha-256", derivation, rounds],
        [cipher, digest, derivation, "50001"],
    ] {
        assert!(sealed_with(other).is_err(), "{other:?} is no default, and opened");
    }
}

#[test]
fn what_is_sealed_here_opens_with_python() {
    testbed::needs!(Judge("/usr/bin/python3"));
    let fresh = Fresh { salt: *b"0123456789abcdef", iv: *b"0123456789ab" };
    for (text, passphrase, rounds) in [(&b""[..], "passphrase", 1000), (PLAIN.as_bytes(), "pässphräse", 50_000)] {
        let document = sealed_here(text, passphrase, rounds, fresh);
        assert_eq!(python(&["open", passphrase], document.as_bytes()), text);
    }
}

/// openssl makes the key; its command line has no GCM, but GCM's first block of counters is CTR from 2 on.
#[test]
fn openssl_derives_the_same_key_and_opens_what_is_sealed_here() {
    testbed::needs!(Judge("openssl"));
    let fresh = Fresh { salt: *b"0123456789abcdef", iv: *b"0123456789ab" };
    let sealed = seal(PLAIN.as_bytes(), &Secret::new(PASSPHRASE.into()), 2000, fresh).unwrap();
    let options = [format!("pass:{PASSPHRASE}"), format!("hexsalt:{}", hex(&fresh.salt)), "iter:2000".into()];
    let mut arguments = vec!["kdf", "-keylen", "32", "-binary", "-kdfopt", "digest:SHA512"];
    options.iter().for_each(|option| arguments.extend(["-kdfopt", option]));
    arguments.push("PBKDF2");
    let key = hex(&run("openssl", &arguments, b""));
    let counter = format!("{}00000002", hex(&fresh.iv));
    let ciphertext = &sealed.ciphertext[..sealed.ciphertext.len() - 16];
    let plain = run("openssl", &["enc", "-d", "-aes-256-ctr", "-K", &key, "-iv", &counter], ciphertext);
    assert_eq!(plain, PLAIN.as_bytes());
}
