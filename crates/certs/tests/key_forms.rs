//! Keys and certificates in every form that kubeadm reads, as OpenSSL writes them.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]
use machineadm_certs::public_key::{NoKey, PublicKey};
use objects::pem;
use std::{
    io::Write,
    process::{Command, Stdio},
};

/// What OpenSSL prints for an input.
fn openssl(arguments: &str, input: &str) -> String {
    let mut command: Command = testbed::judges::command("openssl").unwrap();
    command.args(arguments.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "openssl {arguments}");
    String::from_utf8(output.stdout).unwrap()
}

fn private(text: &str) -> Result<PublicKey, NoKey> {
    PublicKey::of_private_key(text.as_bytes())
}

fn public(text: &str) -> Result<Vec<PublicKey>, NoKey> {
    PublicKey::all_in(text.as_bytes())
}

fn labels(text: &str) -> Vec<&str> {
    pem::blocks(text.as_bytes()).map(|block| block.label).collect()
}

/// All private forms of a key in PKCS#8 come to one public key, which is that of its public form and its certificate.
fn agree(pkcs8: &str, forms: &[String]) {
    let key = private(pkcs8).unwrap();
    for form in forms {
        assert_eq!(private(form), Ok(key.clone()), "{:?}", labels(form));
    }
    assert_eq!(public(&openssl("pkey -pubout", pkcs8)), Ok(vec![key.clone()]));
    let certificate = openssl("req -x509 -new -key /dev/stdin -subj /CN=kubernetes -days 2", pkcs8);
    assert_eq!(public(&certificate), Ok(vec![key]));
}

#[test]
fn every_form_of_an_rsa_key_is_the_same_key() {
    testbed::needs!(Judge("openssl"));
    for bits in ["2048", "3072"] {
        let pkcs8 = openssl(&format!("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:{bits}"), "");
        let pkcs1 = openssl("pkey -traditional", &pkcs8);
        assert_eq!((labels(&pkcs8), labels(&pkcs1)), (vec!["PRIVATE KEY"], vec!["RSA PRIVATE KEY"]));
        agree(&pkcs8, &[pkcs1]);
    }
}

#[test]
fn every_form_of_an_ecdsa_key_is_the_same_key() {
    testbed::needs!(Judge("openssl"));
    for curve in ["prime256v1", "secp384r1", "secp521r1"] {
        let with_parameters = openssl(&format!("ecparam -name {curve} -genkey"), "");
        assert_eq!(labels(&with_parameters), ["EC PARAMETERS", "EC PRIVATE KEY"]);
        let sec1 = openssl("ec", &with_parameters);
        let without_public_half = openssl("ec -no_public", &with_parameters);
        assert_eq!(labels(&sec1), ["EC PRIVATE KEY"]);
        let pkcs8 = openssl("pkcs8 -topk8 -nocrypt", &with_parameters);
        agree(&pkcs8, &[with_parameters, sec1, without_public_half]);
    }
}

#[test]
fn two_keys_are_never_the_same_key() {
    testbed::needs!(Judge("openssl"));
    let [one, two] = [(); 2].map(|()| openssl("ecparam -name prime256v1 -genkey -noout", ""));
    assert_ne!(private(&one).unwrap(), private(&two).unwrap());
}

/// kube-apiserver 1.36 does not start with it: "data does not contain any valid RSA or ECDSA public keys".
#[test]
fn a_public_key_in_pkcs1_form_is_refused_with_its_remedy_and_by_its_content_not_its_label() {
    testbed::needs!(Judge("openssl"));
    let key = openssl("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048", "");
    let pkcs1 = openssl("rsa -RSAPublicKey_out", &key);
    assert_eq!(labels(&pkcs1), ["RSA PUBLIC KEY"]);
    let refused = Err(NoKey::Pkcs1PublicKey);
    assert_eq!([public(&pkcs1), public(&pkcs1.replace("RSA PUBLIC", "PUBLIC"))], [refused.clone(), refused]);
    let converted = openssl("rsa -RSAPublicKey_in -pubout", &pkcs1);
    let relabelled = converted.replace("PUBLIC KEY", "RSA PUBLIC KEY");
    let expected = vec![private(&key).unwrap()];
    assert_eq!([public(&converted), public(&relabelled)], [Ok(expected.clone()), Ok(expected)]);
}

#[test]
fn keys_that_kubernetes_cannot_use_are_refused() {
    testbed::needs!(Judge("openssl"));
    let ed25519 = openssl("genpkey -algorithm ED25519", "");
    assert_eq!(private(&ed25519), Err(NoKey::Unsupported));
    assert_eq!(public(&openssl("pkey -pubout", &ed25519)), Err(NoKey::Unsupported));
    let short = openssl("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:1024", "");
    assert_eq!(private(&short), Err(NoKey::Unsupported));
    let key = openssl("ecparam -name prime256v1 -genkey -noout", "");
    let encrypted = openssl("pkcs8 -topk8 -passout pass:x", &key);
    assert_eq!((labels(&encrypted), private(&encrypted)), (vec!["ENCRYPTED PRIVATE KEY"], Err(NoKey::Encrypted)));
    for (older, label) in [
        (openssl("ec -aes128 -passout pass:secret", &key), "EC PRIVATE KEY"),
        (openssl("genrsa -traditional -aes128 -passout pass:secret 2048", ""), "RSA PRIVATE KEY"),
    ] {
        assert_eq!((labels(&older), private(&older)), (vec![label], Err(NoKey::Encrypted)));
    }
    let compressed = openssl("ec -pubout -conv_form compressed", &key);
    assert_eq!(public(&compressed), Err(NoKey::Unsupported));
    let mislabelled = openssl("pkcs8 -topk8 -nocrypt", &key).replace("PRIVATE KEY", "EC PRIVATE KEY");
    assert_eq!(private(&mislabelled), Err(NoKey::Unsupported));
}

/// Otherwise a key file could claim to belong to a certificate whose key it does not hold.
#[test]
fn a_private_key_with_the_public_half_of_another_is_refused() {
    let [own, other]: [&[u8]; 2] =
        [include_bytes!("vectors/real/pki/ca.key"), include_bytes!("vectors/real/pki/sa.key")];
    let der = |text| pem::blocks(text).next().unwrap().der().unwrap().to_vec();
    let (mut mixed, other) = (der(own), der(other));
    assert_eq!(private(&pem::encode("EC PRIVATE KEY", &mixed)), PublicKey::of_private_key(own));
    // A public half on P-256 has 65 bytes and stands at the end.
    let at = mixed.len() - 65;
    mixed.splice(at.., other[at..].iter().copied());
    assert_eq!(private(&pem::encode("EC PRIVATE KEY", &mixed)), Err(NoKey::Unsupported));
}
