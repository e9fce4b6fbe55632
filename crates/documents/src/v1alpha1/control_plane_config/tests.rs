//! What a ControlPlaneConfig makes, and what it refuses.
use super::*;
use crate::{
    AnyDocument,
    document::Body,
    testing::{found, read_text, spec, with_spec},
};

const POLICY: &str = "policy: '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}'";
const KEY: &str = "ZXhhbXBsZSBvZiBhIGtleSB3aXRoIDMyIGJ5dGVzLi4=";
const KUBECONFIG: &str = "kubeconfig: '{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: \
                          {cluster: b, user: c}}], clusters: [{name: b, cluster: {server: https://hook.example.com}}], \
                          users: [{name: c, user: {token: hunter2}}]}'";

fn made(yaml: &str) -> ControlPlane {
    match spec("ControlPlaneConfig", yaml) {
        AnyDocument::ControlPlane(made) => *made,
        other => panic!("{other:?}"),
    }
}

fn arguments(made: &ControlPlane) -> Vec<(&str, &str)> {
    made.arguments.iter().map(|argument| (argument.name.as_str(), argument.value.as_str())).collect()
}

fn problems(yaml: &str) -> Vec<String> {
    found(&with_spec("ControlPlaneConfig", yaml))
}

fn encryption(provider: &str) -> String {
    format!(
        "encryption: {{configuration: '{{apiVersion: apiserver.config.k8s.io/v1, kind: EncryptionConfiguration, resources: \
         [{{resources: [secrets], providers: [{provider}]}}]}}'}}"
    )
}

fn configuration(member: &str, kind: &str, rest: &str) -> String {
    format!("{member}: {{configuration: '{{apiVersion: apiserver.config.k8s.io/v1, kind: {kind}, {rest}}}'}}")
}

#[test]
fn a_policy_alone_is_logged_to_the_default_file() {
    let made = made(&format!("audit: {{{POLICY}}}"));
    let expected = [
        ("audit-policy-file", "/etc/kubernetes/machineadm/audit-policy.yaml"),
        ("audit-log-path", "/var/log/kubernetes/audit/audit.log"),
    ];
    assert_eq!(arguments(&made), expected);
    let volumes: Vec<_> =
        made.volumes.iter().map(|volume| (&*volume.name, &*volume.host_path, volume.read_only)).collect();
    let expected = [
        ("machineadm-audit-log", "/var/log/kubernetes/audit", false),
        ("machineadm-files", "/etc/kubernetes/machineadm", true),
    ];
    assert_eq!(volumes, expected);
    assert!(made.volumes.iter().all(|volume| volume.host_path == volume.mount_path));
    assert_eq!(made.files.iter().map(|file| &*file.name).collect::<Vec<_>>(), ["audit-policy.yaml"]);
}

#[test]
fn a_webhook_alone_has_no_log() {
    let made = made(&format!("audit: {{{POLICY}, webhook: {{{KUBECONFIG}}}}}"));
    let names: Vec<_> = arguments(&made).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["audit-policy-file", "audit-webhook-config-file"]);
    assert_eq!(made.secrets(), [&b"hunter2"[..]]);
}

#[test]
fn every_argument_that_a_member_makes_is_listed() {
    let log = "log: {path: /var/log/a/b.log, maxAgeDays: 1, maxBackups: 2, maxSizeMegabytes: 3}";
    let all = [
        format!("audit: {{{POLICY}, {log}, webhook: {{{KUBECONFIG}}}}}"),
        "admission: {enable: [AlwaysPullImages], disable: [DefaultStorageClass], configuration: '{apiVersion: \
         apiserver.config.k8s.io/v1, kind: AdmissionConfiguration}'}"
            .to_owned(),
        encryption(&format!("{{aescbc: {{keys: [{{name: a, secret: {KEY}}}]}}}}, {{identity: {{}}}}")),
        format!(
            "authentication: {{webhook: {{{KUBECONFIG}, cacheTTL: 5m}}, configuration: '{{apiVersion: \
             apiserver.config.k8s.io/v1, kind: AuthenticationConfiguration}}'}}"
        ),
        configuration(
            "authorization",
            "AuthorizationConfiguration",
            "authorizers: [{type: Node, name: node}, {type: RBAC, name: rbac}]",
        ),
    ];
    let made = made(&all.join("\n"));
    let mut names: Vec<_> = arguments(&made).into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    let mut listed = super::super::CONTROL_PLANE_ARGUMENTS;
    listed.sort_unstable();
    assert_eq!(names, listed);
    assert_eq!(made.arguments.iter().find(|argument| argument.name == "audit-log-maxsize").unwrap().value, "3");
    assert_eq!(made.secrets().len(), 3, "two tokens and a key");
}

#[test]
fn the_plugin_that_kubeadm_enables_stays_enabled() {
    let of = |admission: &str| made(&format!("admission: {{{admission}}}\narguments: {{v: '2'}}"));
    let enabled = |admission: &str| {
        let made = of(admission);
        let found = made.arguments.iter().find(|argument| argument.name == "enable-admission-plugins");
        found.map(|argument| argument.value.clone())
    };
    assert_eq!(
        enabled("enable: [AlwaysPullImages, NodeRestriction]").as_deref(),
        Some("NodeRestriction,AlwaysPullImages")
    );
    assert_eq!(enabled("disable: [Priority]"), None);
    assert_eq!(enabled("disable: [NodeRestriction]").as_deref(), Some(""));
}

#[test]
fn the_directory_of_a_kms_socket_is_mounted_and_shared_directories_are_refused() {
    let kms = |endpoint: &str| encryption(&format!("{{kms: {{apiVersion: v2, name: a, endpoint: {endpoint}}}}}"));
    let made = made(&kms("unix:///run/kmsplugin/current.sock"));
    assert!(
        made.volumes.iter().any(|volume| volume.host_path == "/run/kmsplugin" && volume.name == "machineadm-kms-0")
    );
    for (endpoint, why) in [
        ("unix:///run/a.sock", "the API server would see all of /run"),
        ("unix:///var/run/a.sock", "the API server would see all of /var/run"),
        ("unix:///a.sock", "the API server would see all of /"),
        ("unix://a.sock", "must be `unix://` and an absolute path"),
        ("https://a", "must be `unix://` and an absolute path"),
    ] {
        let found = problems(&kms(endpoint));
        assert!(found.len() == 1 && found[0].contains("resources[0].providers[0].kms.endpoint"), "{found:?}");
        assert!(found[0].ends_with(why), "{endpoint}: {found:?}");
    }
}

#[test]
fn an_encryption_configuration_that_the_api_server_would_refuse_is_refused_and_not_quoted() {
    for (provider, expected) in [
        (
            "{aescbc: {keys: [{name: a, secret: aHVudGVyMg==}]}}",
            "aescbc.keys[0].secret must be base64 of 16, 24 or 32 bytes",
        ),
        ("{secretbox: {keys: [{name: a, secret: hunter2}]}}", "secretbox.keys[0].secret must be base64 of 32 bytes"),
        ("{aesgcm: {keys: []}}", "aesgcm.keys must have at least one key"),
        ("{rot13: {}}", "must be one of aescbc, aesgcm, identity, kms, secretbox"),
        ("{identity: {}, kms: {}}", "must be exactly one of aescbc, aesgcm, identity, kms, secretbox"),
    ] {
        let found = problems(&encryption(provider));
        assert!(found.len() == 1 && found[0].ends_with(expected), "{provider}: {found:?}");
        assert!(!found[0].contains("hunter2") && !found[0].contains("aHVudGVyMg"), "{found:?}");
    }
}

#[test]
fn texts_are_of_their_kinds() {
    for (yaml, expected) in [
        (
            "audit: {policy: 'a: [', log: {path: '-'}}".to_owned(),
            vec!["spec.audit.policy: line 2: not valid YAML", "spec.audit.log.path: must be a file"],
        ),
        (
            "audit: {policy: '{apiVersion: v1, kind: Policy}'}".to_owned(),
            vec!["spec.audit.policy: must be of kind Policy, apiVersion audit.k8s.io/v1"],
        ),
        (
            "audit: {policy: '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: All}], rule: []}'}"
                .to_owned(),
            vec![
                "spec.audit.policy: `rule` is not a member of Policy",
                "spec.audit.policy: rules[0].level must be one of None, Metadata, Request, RequestResponse",
            ],
        ),
        (
            configuration("authorization", "AuthorizationConfiguration", "authorizers: [{type: RBAC, name: rbac}]"),
            vec![
                "spec.authorization.configuration: authorizers must have one of type Node: without it the cluster would",
            ],
        ),
        (
            configuration("authentication", "AuthenticationConfiguration", "jwt: [{issuer: {url: http://a}}]"),
            vec![
                "spec.authentication.configuration: jwt[0].issuer.url must be an https URL",
                "spec.authentication.configuration: jwt[0].issuer.audiences must have",
                "spec.authentication.configuration: jwt[0].claimMappings.username must have",
            ],
        ),
        (
            configuration("authentication", "AuthenticationConfiguration", "anonymous: {enabled: false}"),
            vec!["spec.authentication.configuration: anonymous.enabled is false"],
        ),
        (
            "authentication: {webhook: {kubeconfig: '{apiVersion: v1, kind: Config}', cacheTTL: soon}}".to_owned(),
            vec![
                "spec.authentication.webhook.cacheTTL: ",
                "spec.authentication.webhook.kubeconfig: must have a current-context whose cluster has an https server",
            ],
        ),
        ("{}".to_owned(), vec!["spec: must have at least one member"]),
    ] {
        let found = problems(&yaml);
        assert_eq!(found.len(), expected.len(), "{yaml}: {found:?}");
        for start in expected {
            assert!(found.iter().any(|problem| problem.starts_with(start)), "{start}: {found:?}");
        }
    }
}

#[test]
fn files_have_plain_names_of_their_own_and_what_texts_name_is_there() {
    let found = problems(
        "files: [{name: a/b, content: x}, {name: ca.crt, content: x}, {name: ca.crt, content: x}, {name: encryption.yaml, \
         content: x}]\narguments: {oidc-ca-file: /etc/kubernetes/machineadm/other.crt, tls-cert-file: \
         /etc/kubernetes/machineadm/ca.crt}",
    );
    let expected = [
        "spec.files[0].name: must be letters, digits, `.`, `_` and `-`, at most 128, and no path",
        "spec.files[2].name: is the name of an earlier file",
        "spec.files[3].name: is the name of a file that another member of this kind makes",
        "spec.arguments.oidc-ca-file: names the file `other.crt` in /etc/kubernetes/machineadm, which no member of this \
         document makes",
    ];
    assert_eq!(found, expected);
    let admission = configuration("admission", "AdmissionConfiguration", "plugins: [{name: A, path: a.yaml}]");
    assert!(problems(&admission)[0].contains("names the file `a.yaml`"));
    assert_eq!(problems(&format!("{admission}\nfiles: [{{name: a.yaml, content: x}}]")), [""; 0]);
}

#[test]
fn an_argument_that_a_member_makes_or_excludes_is_refused() {
    let authentication = configuration("authentication", "AuthenticationConfiguration", "jwt: []");
    let found = problems(&format!(
        "audit: {{{POLICY}}}\n{authentication}\narguments: {{audit-log-path: /a/b, oidc-issuer-url: 'https://a', audit-log-format: json}}"
    ));
    let expected = [
        "spec.arguments.audit-log-path: is set by spec.audit.log.path: remove one of them",
        "spec.arguments.oidc-issuer-url: must not be set with spec.authentication.configuration",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_argument_has_one_spelling_and_a_directory_one_mount() {
    let found = problems("arguments: {encryption_provider_config: /etc/a.yaml}");
    let expected =
        "spec.arguments.encryption_provider_config: must be written with `-`: kube-apiserver takes `_` for the same";
    assert_eq!(found, [expected]);
    for directory in ["/etc/kubernetes/pki", "/etc/ssl/certs"] {
        let found = problems(&format!("audit: {{{POLICY}, log: {{path: {directory}/audit.log}}}}"));
        let expected =
            format!("spec.audit.log.path: must be in a directory of its own: kubeadm mounts {directory} already");
        assert_eq!(found, [expected]);
    }
}

#[test]
fn secrets_of_a_webhook_are_not_shown() {
    let text = with_spec("ControlPlaneConfig", &format!("authentication: {{webhook: {{{KUBECONFIG}}}}}"));
    let read = read_text(&text);
    assert!(!read.report.has_errors() && !format!("{read:?}").contains("hunter2"), "{}", read.report);
}
