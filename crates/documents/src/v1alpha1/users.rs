//! UsersConfig: users, groups, and the SSH keys that may log in.
use super::{
    API_VERSION,
    absolute_path::{is_virtual, path_problem},
    reserved::Reserved,
    ssh_key,
};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Users and groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounts {
    /// Groups, created before the users.
    pub groups: Vec<GroupEntry>,
    /// Users.
    pub users: Vec<UserEntry>,
}

/// Users and groups of the machine. At least one of `groups` and `users`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["groups"]}, {"required": ["users"]}]))]
pub struct UsersConfig {
    /// Groups, created before the users. An existing group keeps its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<GroupEntry>>,
    /// Users, created in this order with the machine's own `useradd`. Of an existing user only what the entry names is
    /// changed. Users, groups and keys stay when the document is removed from the configuration; `--prune` does not delete
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<UserEntry>>,
}

/// One group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GroupEntry {
    /// Its name: lower-case letters, digits, `_` and `-`, at most 32.
    #[schemars(regex(pattern = "^[a-z_][a-z0-9_-]{0,31}$"))]
    pub name: String,
    /// Its number; the system chooses one by default. Another number of an existing group is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
}

/// One user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserEntry {
    /// Its name: lower-case letters, digits, `_` and `-`, at most 32.
    #[schemars(regex(pattern = "^[a-z_][a-z0-9_-]{0,31}$"))]
    pub name: String,
    /// Its number; the system chooses one by default. Another number of an existing user is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// Primary group, by name. A new user gets a group with its own name by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Supplementary groups, by name. Other groups of an existing user stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<String>>,
    /// Home directory; by default the directory with the user's name below `/home`. That of an existing user is changed,
    /// but its content is not moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^/.*[^/]$"))]
    pub home: Option<String>,
    /// Login shell; the system's default for a new user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^/.*[^/]$"))]
    pub shell: Option<String>,
    /// Whether a new user is a system user: its number is from the system's range, and no home directory is created.
    #[serde(default)]
    #[schemars(extend("default" = false))]
    pub system: bool,
    /// Public keys that may log in over SSH, one line each: type, base64, comment. They become a managed block in
    /// `HOME/.ssh/authorized_keys`; other lines of the file stay. An empty list deletes the keys of the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssh_authorized_keys: Option<Vec<String>>,
    /// The hash of the password as `mkpasswd` prints it. A new user without it has no password and cannot log in with
    /// one; an existing user keeps its password.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub password_hash: Option<Secret<String>>,
}

impl Document for UsersConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "UsersConfig";
    const SUMMARY: &str = "Users, groups, and the SSH keys that may log in.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: UsersConfig
metadata:
  name: operators
spec:
  groups:
  - name: operators
    gid: 2000
  users:
  - name: alice
    groups:
    - operators
    shell: /bin/bash
    sshAuthorizedKeys:
    - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f alice@example.com
  - name: etcd
    system: true
    home: /var/lib/etcd
    shell: /usr/sbin/nologin
";
}

impl Check for UsersConfig {
    type Checked = Accounts;

    fn check(self, _: Option<&str>, findings: &mut Findings<'_>) -> Accounts {
        let Self { groups, users } = self;
        let (groups, users) = (groups.unwrap_or_default(), users.unwrap_or_default());
        if groups.is_empty() && users.is_empty() {
            findings.error("spec", "needs `groups` or `users`");
        }
        for (index, group) in groups.iter().enumerate() {
            let here = path::item("spec.groups", index);
            check_name(&group.name, &path::member(&here, "name"), findings);
            check_number(group.gid, &path::member(&here, "gid"), findings);
        }
        for (index, user) in users.iter().enumerate() {
            check_user(user, &path::item("spec.users", index), findings);
        }
        Accounts { groups, users }
    }
}

impl Body for Accounts {
    fn secrets(&self) -> Vec<&[u8]> {
        let hashes = self.users.iter().filter_map(|user| user.password_hash.as_ref());
        hashes.map(|hash| hash.expose().as_bytes()).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let group = |(index, group): (usize, &'a GroupEntry)| {
            let what = Claimed::Account { sort: "group", name: &group.name, number: group.gid };
            Claim::new(path::item("spec.groups", index), what)
        };
        let user = |(index, user): (usize, &'a UserEntry)| {
            let what = Claimed::Account { sort: "user", name: &user.name, number: user.uid };
            Claim::new(path::item("spec.users", index), what)
        };
        let keys = |(index, user): (usize, &'a UserEntry)| {
            user.ssh_authorized_keys.as_ref()?;
            let what = Claimed::AuthorizedKeys { path: authorized_keys(&user.home_directory()) };
            Some(Claim::new(path::member(&path::item("spec.users", index), "sshAuthorizedKeys"), what))
        };
        let groups = self.groups.iter().enumerate().map(group);
        let users = self.users.iter().enumerate();
        groups.chain(users.clone().map(user)).chain(users.filter_map(keys)).collect()
    }
}

impl UserEntry {
    /// The home directory of a new user.
    pub fn home_directory(&self) -> String {
        self.home.clone().unwrap_or_else(|| format!("/home/{}", self.name))
    }
}

/// The name of the managed block with a user's SSH keys.
pub const KEYS_BLOCK: &str = "sshAuthorizedKeys";

/// The file with the SSH keys that may log in, by the user's home directory.
pub fn authorized_keys(home: &str) -> String {
    format!("{home}/.ssh/authorized_keys")
}

fn check_user(user: &UserEntry, here: &str, findings: &mut Findings<'_>) {
    let field = |name: &str| path::member(here, name);
    check_name(&user.name, &field("name"), findings);
    check_number(user.uid, &field("uid"), findings);
    if let Some(group) = &user.group {
        check_name(group, &field("group"), findings);
    }
    for (index, group) in user.groups.iter().flatten().enumerate() {
        check_name(group, &path::item(&field("groups"), index), findings);
    }
    for (name, value) in [("home", &user.home), ("shell", &user.shell)] {
        let problem = value.as_deref().and_then(|text| match text.contains(':') {
            true => Some("must not contain `:`"),
            false => path_problem(text),
        });
        if let Some(problem) = problem {
            findings.error(&field(name), problem);
        }
    }
    if let Some(home) = &user.home {
        if is_virtual(home) {
            findings.error(&field("home"), "must not be below /proc, /sys or /dev");
        } else if let Some(reserved) = Reserved::of(&format!("{home}/name")).or_else(|| Reserved::of(home)) {
            findings.error(&field("home"), reserved.message()).hint(reserved.hint());
        }
    }
    for (index, key) in user.ssh_authorized_keys.iter().flatten().enumerate() {
        if let Some(problem) = ssh_key::problem(key) {
            findings.error(&path::item(&field("sshAuthorizedKeys"), index), problem);
        }
    }
    if user.password_hash.as_ref().is_some_and(|hash| !is_hash(hash.expose())) {
        findings
            .error(&field("passwordHash"), "must be a hash in crypt(5) format, such as `$y$…` or `$6$…`")
            .hint("generate one with: mkpasswd");
    }
}

/// Debian's rule, which every distribution takes.
fn check_name(name: &str, here: &str, findings: &mut Findings<'_>) {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_name = name.bytes().next().is_some_and(is_first) && name.bytes().all(allowed) && name.len() <= 32;
    if !is_name {
        let message = "must be lower-case letters, digits, `_` and `-`, at most 32, and start with a letter or `_`";
        findings.error(here, message);
    }
}

/// The largest numbers mean "no change" and "overflow" to the kernel.
fn check_number(number: Option<u32>, here: &str, findings: &mut Findings<'_>) {
    if number.is_some_and(|number| number >= 65_534 && (number == 65_534 || number == 65_535 || number == u32::MAX)) {
        findings.error(here, "is reserved: 65534, 65535 and 4294967295 cannot be used");
    }
}

fn is_hash(hash: &str) -> bool {
    let parts: Vec<&str> = hash.split('$').collect();
    let allowed = |byte: u8| byte.is_ascii_graphic() && !b":!*".contains(&byte);
    parts.len() >= 4 && parts[0].is_empty() && !parts[1].is_empty() && hash.len() <= 512 && hash.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use crate::testing::{document, found, problems};

    #[test]
    fn every_bad_member_is_listed() {
        let bad = "{name: 1a, uid: 4294967295, group: a b, groups: [ok, '-x'], home: home, shell: '/bin/a:b'}";
        let worse = "{name: b, sshAuthorizedKeys: [ssh-rsa], passwordHash: hunter2}";
        let yaml = &format!("{{groups: [{{name: Admin, gid: 65534}}], users: [{bad}, {worse}]}}");
        let expected = [
            "spec.groups[0].name",
            "spec.groups[0].gid",
            "spec.users[0].name",
            "spec.users[0].uid",
            "spec.users[0].group",
            "spec.users[0].groups[1]",
            "spec.users[0].home",
            "spec.users[0].shell",
            "spec.users[1].sshAuthorizedKeys[0]",
            "spec.users[1].passwordHash",
        ];
        assert_eq!(problems("UsersConfig", yaml), expected);
        assert_eq!(problems("UsersConfig", "{}"), ["spec"]);
    }

    #[test]
    fn a_password_hash_is_one_of_crypt_and_no_password() {
        let of = |hash: &str| problems("UsersConfig", &format!("users: [{{name: a, passwordHash: '{hash}'}}]"));
        for hash in ["$6$salt$abc./", "$y$j9T$salt$abc", "$5$rounds=5000$salt$abc"] {
            assert!(of(hash).is_empty(), "{hash}");
        }
        for hash in ["", "swordfish", "!", "$6$", "$6$a$b:c", "$6$a$b c"] {
            assert_eq!(of(hash), ["spec.users[0].passwordHash"], "{hash}");
        }
    }

    #[test]
    fn the_file_with_the_keys_is_of_no_other_document() {
        let user = document("UsersConfig", "spec: {users: [{name: a, home: /srv/a, sshAuthorizedKeys: []}]}");
        let file = |entry: &str| document("FilesConfig", &format!("spec: {{files: [{entry}]}}"));
        let whole = file("{path: /srv/a/.ssh/authorized_keys, content: x}");
        let message = "spec.users[0].sshAuthorizedKeys: the file with the keys is also set by document 1";
        assert_eq!(found(&[whole.clone(), user.clone()].concat()), [message]);
        let message = "spec.files[0].path: this file is also set by document 1";
        assert_eq!(found(&[user.clone(), whole].concat()), [message]);
        let block =
            file("{path: /srv/a/.ssh/authorized_keys, block: mine, content: x}, {path: /srv/a, type: directory}");
        assert!(found(&[block, user].concat()).is_empty());
    }

    #[test]
    fn names_and_numbers_are_unique_in_all_documents() {
        let both = |first: &str, second: &str| {
            let of = |name: &str, spec: &str| {
                document("UsersConfig", &format!("metadata: {{name: {name}}}\nspec: {{users: [{spec}]}}"))
            };
            found(&[of("x", first), of("y", second)].concat())
        };
        let name = "spec.users[0].name: this user is also set by document 1";
        assert_eq!(both("{name: a}", "{name: a}"), [name]);
        let number = "spec.users[0].uid: this number is also that of a user in document 1";
        assert_eq!(both("{name: a, uid: 1500}", "{name: b, uid: 1500}"), [number]);
        assert!(both("{name: a, uid: 1500}", "{name: b, uid: 1501}").is_empty());
        let groups = "spec: {groups: [{name: a, gid: 5}, {name: b, gid: 5}], users: [{name: a, uid: 5}]}";
        let message = "spec.groups[1].gid: this number is also that of a group in this document";
        assert_eq!(found(&document("UsersConfig", groups)), [message]);
    }
}
