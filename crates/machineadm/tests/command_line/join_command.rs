//! `machineadm join`: which document its flags mean, and which flags exclude each other. It changes nothing here.
use crate::support::{run_output::RunOutput, scratch::Scratch};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

const TOKEN: &str = "ae23dc.faddc87f5a5ab458";
const OTHER: &str = "bbbbbb.faddc87f5a5ab458";
const PIN: &str = "sha256:9f3a5a2e0c1c0b5b2e2f9e5d6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7";

fn join(words: &[&str]) -> RunOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    RunOutput::of(command.arg("join").args(words).stdin(Stdio::null()).output().expect("it starts"))
}

fn file(scratch: &Scratch, name: &str, text: &str) -> String {
    let path = scratch.path().join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    path.display().to_string()
}

/// The document that flags mean, which `validate` accepts.
fn printed(words: &[&str]) -> String {
    let ran = join(&[words, &["--print-config"]].concat());
    assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.stderr);
    let scratch = Scratch::new("join");
    let path = file(&scratch, "node.yaml", &ran.stdout);
    let validated = Command::new(env!("CARGO_BIN_EXE_machineadm")).args(["validate", "-f", &path]).output();
    let validated = RunOutput::of(validated.expect("it starts"));
    assert_eq!(validated.code, Some(0), "{}{}", validated.stdout, validated.stderr);
    ran.stdout
}

#[test]
fn flags_of_kubeadm_become_a_document() {
    let document = printed(&["10.0.0.10:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN]);
    for line in ["kind: JoinConfig", "10.0.0.10:6443", TOKEN, PIN] {
        assert!(document.contains(line), "{line}: {document}");
    }
    let scratch = Scratch::new("join");
    let token = file(&scratch, "token", &format!("{TOKEN}\n"));
    let all = [
        "a.example.com",
        "b.example.com:6444",
        "--token-file",
        &token,
        "--discovery-token-unsafe-skip-ca-verification",
        "--node-name",
        "w1",
        "--cri-socket",
        "unix:///run/crio/crio.sock",
        "--ignore-preflight-errors",
        "Swap,SystemVerification",
        "--timeout",
        "90s",
    ];
    let document = printed(&all);
    for line in
        ["unsafeWithoutCAPins: true", "nodeName: \"w1\"", "/run/crio/crio.sock", "swap", "90s", "b.example.com:6444"]
    {
        assert!(document.contains(line), "{line}: {document}");
    }
    assert!(!document.contains("unix://"), "{document}");
    let checks = |names: &str| printed(&[&all[..10], &[names]].concat());
    for names in ["Swap,SystemVerification", "swap,systemverification", "swap,cgroups", "Swap,swap,CGROUPS"] {
        let document = checks(names);
        assert!(document.contains("toleratedChecks:\n    - \"swap\"\n    - \"cgroups\"\n"), "{names}: {document}");
    }
    assert!(checks("all").contains("toleratedChecks:\n    - \"all\"\n"));
    let refused = join(&[&all[..10], &["Swop,Nothing"]].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    for word in ["Swop", "Nothing", "name-resolution"] {
        assert!(refused.stderr.contains(word), "{}", refused.stderr);
    }
}

/// As a script gives a variable that is not set, and as kubeadm's users write that kubeadm chooses.
#[test]
fn an_empty_value_is_none_and_an_unspecified_address_is_that_of_the_default_route() {
    let words = ["10.0.0.10:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN, "--control-plane"];
    let plain = printed(&words);
    for flag in ["--node-name", "--cri-socket", "--patches", "--ignore-preflight-errors", "--skip-phases"] {
        assert_eq!(printed(&[&words[..], &[flag, ""]].concat()), plain, "{flag}");
    }
    for address in ["", "0.0.0.0"] {
        let words = [&words[..], &["--apiserver-advertise-address", address]].concat();
        assert_eq!(printed(&words), plain, "{address}");
    }
}

#[test]
fn beside_another_discovery_token_the_token_requests_the_certificate() {
    let words = ["a:6443", "--token", OTHER, "--discovery-token", TOKEN, "--discovery-token-ca-cert-hash", PIN];
    let document = printed(&words);
    assert!(document.contains(&format!("tlsBootstrapToken: \"{OTHER}\"")), "{document}");
    assert!(document.contains(&format!("token: \"{TOKEN}\"")), "{document}");
    let words = ["a:6443", "--token", TOKEN, "--tls-bootstrap-token", OTHER, "--discovery-token-ca-cert-hash", PIN];
    assert!(printed(&words).contains(&format!("tlsBootstrapToken: \"{OTHER}\"")));
}

#[test]
fn a_discovery_file_is_named_by_its_absolute_path() {
    let document = printed(&["--discovery-file", "cluster.yaml", "--tls-bootstrap-token", TOKEN]);
    let path = std::env::current_dir().expect("a directory").join("cluster.yaml");
    assert!(document.contains(&path.display().to_string()), "{document}");
}

#[test]
fn a_file_of_kubeadm_in_any_version_becomes_the_same_document() {
    let scratch = Scratch::new("join");
    let text = |api: &str| {
        format!(
            "apiVersion: kubeadm.k8s.io/{api}\nkind: JoinConfiguration\ndiscovery:\n  bootstrapToken:\n    \
             apiServerEndpoint: a:6443\n    token: {TOKEN}\n    caCertHashes: ['{PIN}']\nnodeRegistration:\n  name: w1\n  \
             criSocket: unix:///run/containerd/containerd.sock\n  ignorePreflightErrors: [NumCPU]\n  taints: [{{key: a/b, effect: NoSchedule}}]\n"
        )
    };
    let documents = ["v1beta2", "v1beta3", "v1beta4"].map(|api| {
        let path = file(&scratch, &format!("{api}.yaml"), &text(api));
        printed(&["--config", &path])
    });
    assert!(
        ["nodeName: \"w1\"", "effect: \"NoSchedule\"", "- \"cpu\""].iter().all(|word| documents[0].contains(word)),
        "{}",
        documents[0]
    );
    assert!(documents.iter().all(|document| *document == documents[0]), "{documents:?}");
    let path =
        file(&scratch, "cp.yaml", &format!("{}controlPlane: {{}}\ntimeouts: {{etcdAPICall: 9s}}\n", text("v1beta4")));
    let refused = join(&["--config", &path]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("JoinConfiguration.timeouts.etcdAPICall"), "{}", refused.stderr);
}

#[test]
fn a_certificate_key_comes_by_flag_by_file_by_standard_input_and_in_kubeadms_file() {
    const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
    let scratch = Scratch::new("join");
    let key = file(&scratch, "key", &format!("{KEY}\n"));
    let discovery = ["a:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN];
    let with = |words: &[&str]| printed(&[&discovery[..], &["--control-plane"], words].concat());
    let by_flag = with(&["--certificate-key", KEY]);
    assert!(by_flag.contains(&format!("certificateKey: \"{KEY}\"")), "{by_flag}");
    assert_eq!(with(&["--certificate-key-file", &key]), by_flag);
    let words = [&discovery[..], &["--control-plane", "--certificate-key-file", "-", "--print-config"]].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    let stdin = fs::File::open(&key).expect("the key");
    assert_eq!(
        RunOutput::of(command.arg("join").args(words).stdin(stdin).output().expect("it starts")).stdout,
        by_flag
    );

    let configuration = |rest: &str| {
        format!(
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  bootstrapToken: \
             {{apiServerEndpoint: a:6443, token: {TOKEN}, caCertHashes: ['{PIN}']}}\ncontrolPlane: {{certificateKey: {KEY}{rest}}}\n"
        )
    };
    let path = file(&scratch, "cp.yaml", &configuration(""));
    assert_eq!(printed(&["--config", &path]), by_flag);
    let twice = join(&["--config", &path, "--certificate-key-file", &key]);
    assert!(twice.code == Some(2) && twice.stderr.contains("remove one of them"), "{}", twice.stderr);
    let endpoint = ", localAPIEndpoint: {advertiseAddress: 10.0.0.2, bindPort: 7443}";
    let of_file = printed(&["--config", &file(&scratch, "endpoint.yaml", &configuration(endpoint))]);
    let address = ["--apiserver-advertise-address", "10.0.0.2", "--apiserver-bind-port", "7443"];
    assert_eq!(with(&[&["--certificate-key", KEY][..], &address].concat()), of_file);
    assert!(of_file.contains("advertiseAddress: \"10.0.0.2\"") && of_file.contains("apiServerPort: 7443"), "{of_file}");
}

/// As with every flag of kubeadm that is true or false. `kubeadm join --help` has these three.
#[test]
fn boolean_flags_of_kubeadm_take_true_and_false() {
    let pinned = ["a:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN];
    let with = |words: &[&str]| printed(&[&pinned[..], words].concat());
    assert_eq!(with(&["--control-plane=true"]), with(&["--control-plane"]));
    assert_eq!(with(&["--control-plane=false"]), with(&[]));
    assert_ne!(with(&["--control-plane=true"]), with(&[]));

    let unpinned = ["a:6443", "--token", TOKEN];
    let with = |word: &str| printed(&[&unpinned[..], &[word]].concat());
    let skip = "--discovery-token-unsafe-skip-ca-verification";
    assert_eq!(with(&format!("{skip}=true")), with(skip));
    let refused = join(&[&unpinned[..], &[&format!("{skip}=false"), "--print-config"]].concat());
    assert!(refused.code == Some(2) && refused.stderr.contains("hash is missing"), "{}", refused.stderr);

    let scratch = Scratch::new("join");
    let root = scratch.path().display().to_string();
    let below = |word: &str| join(&[&pinned[..], &["--root", &root, word]].concat());
    // Another machine's root cannot join; what the flag does there is proven on a whole machine.
    let (with_value, bare) = (below("--dry-run=true"), below("--dry-run"));
    assert!(with_value.stderr.contains("needs the running system"), "{}", with_value.stderr);
    assert_eq!(with_value.stderr, bare.stderr);
    let refused = join(&[&pinned[..], &["--dry-run=perhaps"]].concat());
    assert!(refused.code == Some(2) && refused.stderr.contains("--dry-run"), "{}", refused.stderr);
}

#[test]
fn what_only_a_control_plane_node_has_is_refused_on_a_worker() {
    let discovery = ["a:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN, "--print-config"];
    for (words, named) in [
        (&["--certificate-key", &"0".repeat(64)][..], "--control-plane"),
        (&["--apiserver-advertise-address", "10.0.0.2"], "--control-plane"),
        (&["--apiserver-bind-port", "7443"], "--control-plane"),
        (
            &["--control-plane=false", "--apiserver-advertise-address", "10.0.0.2"],
            "--apiserver-advertise-address is for",
        ),
        (&["--control-plane=false", "--apiserver-bind-port", "7443"], "--apiserver-bind-port is for"),
        (&["--control-plane", "--certificate-key", "0123"], "--certificate-key"),
        (&["--control-plane", "--skip-phases", "etcd-join"], "--skip-phases etcd-join"),
    ] {
        let ran = join(&[&discovery[..], words].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(named), "{words:?}: {}", ran.stderr);
    }
}

/// The specification's exclusions, and what is missing: exit code 2, and every problem names its flag.
#[test]
fn flags_that_exclude_each_other_and_missing_ones_are_refused() {
    let file = ["--discovery-file", "/cluster.yaml"];
    let cases: [(&[&str], &str); 9] = [
        (&[], "--token or --discovery-file is required"),
        (&["a:6443"], "--token or --discovery-file is required"),
        (&["a:6443", "--token", TOKEN], "--discovery-token-ca-cert-hash is missing"),
        (&["--token", TOKEN, "--discovery-token-ca-cert-hash", PIN], "endpoint is missing"),
        (&[file[0], file[1], "--token", TOKEN], "--token means --discovery-token, which cannot be combined"),
        (&[file[0], file[1], "--discovery-token", TOKEN], "--discovery-token cannot be combined"),
        (&[file[0], file[1], "a:6443", "--tls-bootstrap-token", TOKEN], "endpoint must not be given with"),
        (&file, "--discovery-file requires --tls-bootstrap-token-file"),
        (&["a:6443", "--token", "nonsense", "--discovery-token-ca-cert-hash", PIN], "is not a bootstrap token"),
    ];
    for (words, message) in cases {
        let ran = join(words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{words:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("nonsense"), "a value that may be a secret is not quoted: {}", ran.stderr);
    }
}

#[test]
fn what_is_no_valid_document_is_not_printed_as_one() {
    let words = ["a:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN, "--print-config"];
    let ran = join(&[&words[..], &["--node-name", "Node 1", "--cri-socket", "npipe:////x"]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(["spec.nodeName", "spec.runtimeSocket"].iter().all(|field| ran.stderr.contains(field)), "{}", ran.stderr);
}

#[test]
fn beside_a_file_of_kubeadm_no_flag_of_discovery_is_ignored() {
    let scratch = Scratch::new("join");
    let config = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nnodeRegistration: {{ignorePreflightErrors: [NumCPU]}}\n\
         discovery: {{bootstrapToken: {{token: {TOKEN}, apiServerEndpoint: 'a:6443', unsafeSkipCAVerification: true}}}}\n"
    );
    let config = file(&scratch, "join.yaml", &config);
    for words in [
        &["b:6443"][..],
        &["--token", TOKEN],
        &["--discovery-token-ca-cert-hash", PIN],
        &["--discovery-token-unsafe-skip-ca-verification"],
        &["--accept-untrusted-certificate"],
    ] {
        let ran = join(&[&["--config", &config, "--print-config"][..], words].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("--config excludes"), "{words:?}: {}", ran.stderr);
    }
    // The same check in both is one check.
    let document = printed(&["--config", &config, "--ignore-preflight-errors", "NumCPU,Swap"]);
    assert!(document.contains("toleratedChecks:\n    - \"cpu\"\n    - \"swap\"\n"), "{document}");
}

#[test]
fn phases_and_patches_of_kubeadm_become_fields_of_the_document() {
    let scratch = Scratch::new("join");
    fs::create_dir(scratch.path().join("patches")).expect("a directory");
    let patches = scratch.path().join("patches").display().to_string();
    file(&scratch, "patches/kubeletconfiguration.yaml", "maxPods: 42\n");
    file(&scratch, "patches/etcd.json", "[]");
    let first = ["a:6443", "--token", TOKEN, "--discovery-token-ca-cert-hash", PIN];
    let rest = ["--skip-phases", "preflight,control-plane-prepare", "--patches", &patches];
    let document = printed(&[&first[..], &rest].concat());
    assert!(document.contains("maxPods: 42") && document.contains("all"), "{document}");
    let refused = join(&[&first[..], &["--skip-phases", "kubelet-start,nonsense"]].concat());
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("kubelet-start") && refused.stderr.contains("nonsense"), "{}", refused.stderr);
    let config = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\nskipPhases: [preflight]\n\
         patches: {{directory: {patches}}}\ntimeouts: {{kubeletHealthCheck: 30s, tlsBootstrap: 40s, discovery: 50s}}\n\
         nodeRegistration: {{kubeletExtraArgs: [{{name: node-labels, value: 'a=b,c=d'}}]}}\n\
         discovery: {{bootstrapToken: {{token: {TOKEN}, apiServerEndpoint: 'a:6443', caCertHashes: ['{PIN}']}}}}\n"
    );
    let document = printed(&["--config", &file(&scratch, "join.yaml", &config)]);
    for line in ["maxPods: 42", "all", "30s", "40s", "50s", "a: \"b\"", "c: \"d\""] {
        assert!(document.contains(line), "{line}: {document}");
    }
}
