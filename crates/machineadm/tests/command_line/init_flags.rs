//! `machineadm init`: which document its flags mean, and what is refused by name. It changes nothing here.
use crate::support::{
    init::{KEY, TOKEN, file, init, init_reading, printed, refused},
    run_output::RunOutput,
    scratch::Scratch,
};
use std::{
    fs,
    process::{Command, Stdio},
};

const VERSION: [&str; 2] = ["--kubernetes-version", "v1.36.4"];

#[test]
fn every_flag_of_kubeadm_becomes_a_field() {
    let scratch = Scratch::new("init");
    let token = file(&scratch, "token", &format!("{TOKEN}\n"));
    let words = [
        "--kubernetes-version=1.36.4",
        "--token-file",
        &token,
        "--token-ttl=2h",
        "--upload-certs",
        "--certificate-key",
        KEY,
        "--pod-network-cidr=10.244.0.0/16,fd00::/56",
        "--service-cidr=10.97.0.0/16,fd01::/112",
        "--service-dns-domain=k8s.example",
        "--control-plane-endpoint=api.example.com",
        "--apiserver-advertise-address=10.0.0.10",
        "--apiserver-bind-port=6444",
        "--apiserver-cert-extra-sans=a.example,b.example",
        "--apiserver-cert-extra-sans=10.0.0.99",
        "--cert-dir=/srv/pki",
        "--image-repository=registry.example.com/k8s",
        "--feature-gates=RootlessControlPlane=false,PublicKeysECDSA=true",
        "--cri-socket=unix:///run/crio/crio.sock",
        "--node-name=CP1",
        "--patches=/srv/patches",
        "--ignore-preflight-errors=NumCPU,Swap",
        "--skip-phases=addon/kube-proxy",
    ];
    let expected = format!(
        "  kubernetesVersion: \"1.36.4\"
  controlPlaneEndpoint: \"api.example.com:6444\"
  advertiseAddress: \"10.0.0.10\"
  nodeName: \"cp1\"
  runtimeSocket: \"/run/crio/crio.sock\"
  podSubnets:
    - \"10.244.0.0/16\"
    - \"fd00::/56\"
  serviceSubnets:
    - \"10.97.0.0/16\"
    - \"fd01::/112\"
  toleratedChecks:
    - \"cpu\"
    - \"swap\"
  certificateKey: \"{KEY}\"
  bootstrapToken:
    token: \"{TOKEN}\"
    ttl: \"2h\"
  without:
    - \"kubeProxy\"
  dnsDomain: \"k8s.example\"
  apiServerPort: 6444
  certificatesDirectory: \"/srv/pki\"
  imageRepository: \"registry.example.com/k8s\"
  featureGates:
    PublicKeysECDSA: true
    RootlessControlPlane: false
  apiServer:
    certSANs:
      - \"a.example\"
      - \"b.example\"
      - \"10.0.0.99\"
  patches: \"/srv/patches\"
"
    );
    assert_eq!(printed(&words), expected);
}

#[test]
fn without_flags_the_document_says_only_the_version_and_the_socket() {
    let plain = "  kubernetesVersion: \"v1.36.4\"\n  runtimeSocket: \"/run/containerd/containerd.sock\"\n";
    assert_eq!(printed(&VERSION), plain);
    // Values with which kubeadm chooses, as its users write them.
    assert_eq!(
        printed(&[&VERSION[..], &["--apiserver-advertise-address=0.0.0.0", "--upload-certs=false"]].concat()),
        plain
    );
    // As a script gives a variable that is not set.
    for flag in [
        "--pod-network-cidr",
        "--service-cidr",
        "--service-dns-domain",
        "--control-plane-endpoint",
        "--apiserver-advertise-address",
        "--apiserver-cert-extra-sans",
        "--cert-dir",
        "--image-repository",
        "--feature-gates",
        "--node-name",
        "--cri-socket",
        "--patches",
        "--ignore-preflight-errors",
        "--skip-phases",
    ] {
        assert_eq!(printed(&[&VERSION[..], &[flag, ""]].concat()), plain, "{flag}");
    }
}

#[test]
fn an_empty_token_is_none_and_a_ttl_of_zero_is_for_ever() {
    let without = printed(&[&VERSION[..], &["--token", ""]].concat());
    assert!(without.contains("  without:\n    - \"bootstrapToken\"\n") && !without.contains("token:"), "{without}");
    let for_ever = printed(&[&VERSION[..], &["--token", TOKEN, "--token-ttl", "0"]].concat());
    assert!(for_ever.contains(&format!("  bootstrapToken:\n    token: \"{TOKEN}\"\n    ttl: \"0\"\n")), "{for_ever}");
    refused(&[&VERSION[..], &["--token", "", "--token-ttl", "1h"]].concat(), &["--token-ttl has no effect"]);
    let skipped = printed(&[&VERSION[..], &["--skip-phases", "bootstrap-token,addon,preflight"]].concat());
    for text in ["- \"bootstrapToken\"", "- \"coreDNS\"", "- \"kubeProxy\"", "toleratedChecks:\n    - \"all\""] {
        assert!(skipped.contains(text), "{skipped}");
    }
}

#[test]
fn the_certificate_key_comes_by_flag_by_file_by_standard_input_or_is_generated() {
    let scratch = Scratch::new("init");
    let path = file(&scratch, "key", &format!("{KEY}\n"));
    let line = format!("  certificateKey: \"{KEY}\"\n");
    for words in [["--certificate-key", KEY], ["--certificate-key-file", &path]] {
        let words = [&VERSION[..], &["--upload-certs", "--skip-certificate-key-print"], &words].concat();
        assert!(printed(&words).contains(&line), "{words:?}");
    }
    let words = [&VERSION[..], &["--upload-certs", "--certificate-key-file", "-", "--print-config"]].concat();
    let ran = init_reading(&words, &format!("{KEY}\n"));
    assert!(ran.code == Some(0) && ran.stdout.contains(&line), "{ran:?}");
    let generated = || {
        let document = printed(&[&VERSION[..], &["--upload-certs"]].concat());
        let line = document.lines().find_map(|line| line.trim().strip_prefix("certificateKey: ")).expect("a key");
        line.trim_matches('"').to_owned()
    };
    let (first, second) = (generated(), generated());
    assert!(first.len() == 64 && first != second, "{first} {second}");
    refused(
        &[&VERSION[..], &["--upload-certs", "--skip-certificate-key-print"]].concat(),
        &["a generated key that is not printed is lost", "pass --certificate-key-file"],
    );
    refused(&[&VERSION[..], &["--certificate-key", KEY]].concat(), &["requires --upload-certs"]);
    refused(
        &[&VERSION[..], &["--certificate-key-file", &path, "--upload-certs", "--skip-phases", "upload-certs"]].concat(),
        &["a certificate key requires --upload-certs"],
    );
    assert!(
        !printed(&[&VERSION[..], &["--upload-certs", "--skip-phases=upload-certs"]].concat())
            .contains("certificateKey")
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_name_and_what_to_do() {
    let no_kubeadm = ["the Kubernetes version is not known: kubeadm is not installed", "pass --kubernetes-version"];
    refused(&["--print-config"], &no_kubeadm);
    for label in ["stable-1", "stable-1.36", "latest", "ci/latest-1.37"] {
        refused(
            &["--kubernetes-version", label],
            &[label, "looks up on the internet", "name a version such as v1.36.4"],
        );
    }
    let with = |words: &[&'static str]| [&VERSION[..], words].concat();
    refused(&with(&["--token", "nonsense", "--print-config"]), &["spec.bootstrapToken.token"]);
    refused(&with(&["--token-ttl", "-1h", "--print-config"]), &["spec.bootstrapToken.ttl", "is in the past"]);
    refused(&with(&["--upload-certs", "--certificate-key", "abc"]), &["--certificate-key has 3 characters"]);
    refused(&with(&["--feature-gates", "A,B=perhaps"]), &["--feature-gates A:", "--feature-gates B=perhaps:"]);
    refused(&with(&["--ignore-preflight-errors", "Swop"]), &["Swop", "name-resolution"]);
    refused(
        &with(&["--skip-phases", "certs/ca,mark-control-plane,nonsense"]),
        &["--skip-phases certs/ca: cannot be skipped", "taints: []", "--skip-phases nonsense: unknown phase"],
    );
    refused(
        &with(&[
            "--control-plane-endpoint",
            "https://x",
            "--pod-network-cidr",
            "x",
            "--node-name",
            "A B",
            "--print-config",
        ]),
        &["spec.controlPlaneEndpoint", "spec.podSubnets[0]", "spec.nodeName"],
    );
    refused(
        &with(&["--token-file", "-", "--certificate-key-file", "-", "--upload-certs"]),
        &["standard input can be read once: --token-file, --certificate-key-file all name it"],
    );
    // A variable that a script has not set.
    refused(&with(&["--token-file", "", "--print-config"]), &["error: the name of a file is empty: pass its path"]);
    let nonsense = init(&with(&["--token", "nonsense", "--print-config"]));
    assert!(!nonsense.stderr.contains("nonsense"), "a value that may be a secret is not quoted: {}", nonsense.stderr);
}

#[test]
fn the_phase_without_its_flag_says_so_and_does_nothing() {
    let ran = init(&["phase", "upload-certs"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""));
    assert_eq!(ran.stderr, "nothing is uploaded: pass --upload-certs to upload the certificates\n");
    refused(
        &["phase", "upload-certs", "--upload-certs", "--skip-certificate-key-print"],
        &["a generated key that is not printed is lost"],
    );
    refused(&["--node-name", "a", "phase", "upload-certs"], &["--node-name"]);
}

/// `certs upload` takes the kubeconfig of kubectl, which may be of another cluster; kubeadm's phase does not.
#[test]
fn the_phase_uploads_to_the_cluster_of_this_node() {
    let scratch = Scratch::new("init");
    fs::create_dir_all(scratch.path().join(".kube")).expect("a directory");
    file(&scratch, ".kube/config", "apiVersion: v1\nkind: Config\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    // A context that no kubeconfig has: nothing is uploaded, whatever machine this is.
    command.args(["init", "phase", "upload-certs", "--upload-certs", "--context", "of-no-kubeconfig"]);
    command.env("HOME", scratch.path());
    let ran = RunOutput::of(command.env_remove("KUBECONFIG").stdin(Stdio::null()).output().expect("it starts"));
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("/etc/kubernetes/admin.conf") && !ran.stderr.contains(".kube/config"),
        "{}",
        ran.stderr
    );
}
