//! ClusterInfo must not hold client credentials of any form: not a whole one, not half of one, not another's name.
use super::read::{Origin, Problem};
use objects::kubeconfig::{Kubeconfig, List};
use serde_json::Value;

/// The only member of a user that is surely none.
const HARMLESS: &str = "extensions";

/// Every credential in any user of a kubeconfig. A member that is not known counts as one.
pub(super) fn problems(config: &Kubeconfig, origin: Origin) -> Vec<Problem> {
    let any = config.members().get("users").is_some_and(|users| !is_empty(users));
    if origin == Origin::Signed && any {
        return vec![Problem::Users];
    }
    let mut problems = Vec::new();
    for (path, item) in config.items(List::Users) {
        let beside = item.keys().filter(|member| !["name", "user"].contains(&member.as_str()));
        problems.extend(beside.map(|member| Problem::Credentials { path: format!("{path}.{member}") }));
    }
    for user in config.entries(List::Users) {
        let given = user.members.iter().filter(|(member, value)| *member != HARMLESS && !is_empty(value));
        problems.extend(given.map(|(member, _)| Problem::Credentials { path: user.path(member) }));
    }
    problems
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::cluster_info::{Origin, Problem, read};

    fn found(users: &str, origin: Origin) -> Vec<Problem> {
        let text = format!("clusters: [{{cluster: {{server: 'https://x'}}}}]\nusers: {users}\n");
        read(text.as_bytes(), origin).err().unwrap_or_default()
    }

    #[test]
    fn every_form_of_credential_is_refused_in_any_user() {
        for member in [
            "token: hunter2",
            "tokenFile: /t",
            "username: hunter2",
            "password: hunter2",
            "client-certificate: /a",
            "client-certificate-data: eA==",
            "client-key: /b",
            "client-key-data: eA==",
            "exec: {command: x}",
            "auth-provider: {name: x}",
            "as: root",
            "as-uid: '1'",
            "as-groups: [g]",
            "as-user-extra: {a: [b]}",
            "Token: hunter2",
            "invented-tomorrow: x",
        ] {
            let users = format!("[{{name: a}}, {{name: b, user: {{{member}}}}}]");
            let name = member.split(':').next().unwrap();
            let problems = found(&users, Origin::File);
            assert_eq!(problems, [Problem::Credentials { path: format!("users[1].user.{name}") }], "{member}");
            assert!(!problems[0].to_string().contains("hunter2"));
            assert_eq!(found(&users, Origin::Elsewhere), problems);
        }
    }

    #[test]
    fn a_credential_beside_its_user_is_one_too() {
        let problems = found("[{name: a, token: hunter2}]", Origin::File);
        assert_eq!(problems, [Problem::Credentials { path: "users[0].token".to_owned() }]);
        assert_eq!(found("[{name: a, User: {token: hunter2}}]", Origin::File).len(), 1);
    }

    #[test]
    fn users_without_credentials_pass_in_a_file_but_not_in_cluster_info() {
        for users in ["[{name: a, user: {}}]", "[{name: a, user: {token: ''}}]"] {
            assert_eq!(found(users, Origin::File), []);
            assert_eq!(found(users, Origin::Signed), [Problem::Users]);
        }
        assert_eq!(found("null", Origin::Signed), []);
        assert_eq!(found("[]", Origin::Signed), []);
        assert_eq!(found("7", Origin::Signed).last(), Some(&Problem::Users));
    }
}
