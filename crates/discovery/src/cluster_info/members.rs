//! Which members a kubeconfig may have. Whatever else stands there could be a credential in a form that we don't know,
//! or a word that another reader takes for one that we would have refused.
use super::read::Problem;
use objects::kubeconfig::{Kubeconfig, List, Members};
use serde_json::Value;

const CONFIG: &[&str] =
    &["apiVersion", "kind", "preferences", "clusters", "users", "contexts", "current-context", "extensions"];
const PREFERENCES: &[&str] = &["colors", "extensions"];
const CLUSTER: &[&str] = &[
    "server",
    "tls-server-name",
    "insecure-skip-tls-verify",
    "certificate-authority",
    "certificate-authority-data",
    "proxy-url",
    "disable-compression",
    "extensions",
];
const CONTEXT: &[&str] = &["cluster", "user", "namespace", "extensions"];

/// Every member that no kubeconfig has, wherever it stands; what users hold is looked at elsewhere.
pub(super) fn problems(config: &Kubeconfig) -> Vec<Problem> {
    let mut problems = strangers("", config.members(), CONFIG);
    if let Some(Value::Object(preferences)) = config.members().get("preferences") {
        problems.extend(strangers("preferences.", preferences, PREFERENCES));
    }
    for (list, known) in [(List::Clusters, CLUSTER), (List::Contexts, CONTEXT)] {
        for (path, item) in config.items(list) {
            problems.extend(strangers(&format!("{path}."), item, &["name", list.member()]));
            if let Some(Value::Object(members)) = item.get(list.member()) {
                problems.extend(strangers(&format!("{path}.{}.", list.member()), members, known));
            }
        }
    }
    problems
}

/// Names are compared letter by letter: `Users` is no `users`, but somebody may take it for that.
fn strangers(path: &str, members: &Members, known: &[&'static str]) -> Vec<Problem> {
    let strange = members.keys().filter(|name| !known.contains(&name.as_str()));
    let meant = |name: &str| known.iter().find(|known| known.eq_ignore_ascii_case(name)).copied();
    strange.map(|name| Problem::Unknown { path: format!("{path}{name}"), meant: meant(name) }).collect()
}

#[cfg(test)]
mod tests {
    use crate::cluster_info::{Origin, Problem, read};

    fn found(text: &str) -> Vec<Problem> {
        [Origin::Signed, Origin::Elsewhere, Origin::File]
            .map(|origin| read(text.as_bytes(), origin).err().unwrap_or_default())
            .into_iter()
            .reduce(|one, other| if one == other { one } else { panic!("{one:?} {other:?}") })
            .unwrap_or_default()
    }

    #[test]
    fn what_no_kubeconfig_has_is_refused_by_name_wherever_it_stands() {
        for (text, path) in [
            ("clusters: [{cluster: {server: 'https://a'}}]\nUsers: [{user: {token: hunter2}}]", "Users"),
            ("clusters: [{cluster: {server: 'https://a'}}]\ntoken: hunter2", "token"),
            ("clusters: [{cluster: {server: 'https://a'}}]\npreferences: {token: hunter2}", "preferences.token"),
            ("clusters: [{token: hunter2, cluster: {server: 'https://a'}}]", "clusters[0].token"),
            ("clusters: [{cluster: {server: 'https://a', token: hunter2}}]", "clusters[0].cluster.token"),
            (
                "clusters: [{cluster: {server: 'https://a', Insecure-Skip-TLS-Verify: true}}]",
                "clusters[0].cluster.Insecure-Skip-TLS-Verify",
            ),
            (
                "clusters: [{cluster: {server: 'https://a'}}, {name: b, cluster: {password: hunter2}}]",
                "clusters[1].cluster.password",
            ),
            (
                "clusters: [{cluster: {server: 'https://a'}}]\ncontexts: [{context: {token: hunter2}}]",
                "contexts[0].context.token",
            ),
        ] {
            let problems = found(text);
            assert!(matches!(&problems[..], [Problem::Unknown { path: it, .. }] if it == path), "{text}: {problems:?}");
            assert!(!problems[0].to_string().contains("hunter2"), "{}", problems[0]);
        }
        let text = found("clusters: [{cluster: {server: 'https://a'}}]\nUsers: []")[0].to_string();
        assert_eq!(text, "has the unknown field Users: remove it, or write users");
    }

    #[test]
    fn all_that_kubectl_writes_is_known() {
        let text = "apiVersion: v1\nkind: Config\npreferences: {colors: true, extensions: [{name: e, extension: {}}]}\n\
            extensions: [{name: e, extension: {x: 1}}]\ncurrent-context: m\ncontexts:\n- name: m\n  context:\n    \
            {cluster: m, user: m, namespace: n, extensions: [{name: context_info, extension: {provider: minikube}}]}\n\
            clusters:\n- name: m\n  cluster:\n    server: https://a\n    disable-compression: true\n    \
            tls-server-name: b\n    insecure-skip-tls-verify: false\n    proxy-url: ''\n    \
            certificate-authority: ''\n    certificate-authority-data: ''\n    \
            extensions: [{name: cluster_info, extension: {version: v1.36.0}}]\n";
        assert_eq!(found(text), []);
    }
}
