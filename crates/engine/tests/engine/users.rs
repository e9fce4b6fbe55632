//! Users and groups: created once, changed where they differ, their numbers and other keys left alone.
use crate::support::{changes, file, fresh, look, run, run_pruning, text_of, turn, wanted};
use documents::Secret;
use host::{DirectoryState, FileState, Memory, UserState};
use machineadm_engine::{Line, Mode, PlanError, TurnId, Wanted};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a";
const KEYS: &str = "/srv/alice/.ssh/authorized_keys";
const SSH: &str = "/srv/alice/.ssh";

fn users(spec: &str) -> Wanted {
    wanted(&[("UsersConfig", "u", spec)])
}

fn lines(wanted: &Wanted, host: &Memory) -> Vec<String> {
    let preview = look(Mode::Post, wanted, host).unwrap();
    let line = |step| {
        let Line { action, target, detail, .. } = Line::of(step);
        format!("{action} {target}: {detail}")
    };
    turn(&preview, "UsersConfig u").steps.iter().map(line).collect()
}

fn alice(shell: &str) -> UserState {
    let (home, shell, password) = ("/srv/alice".to_owned(), shell.to_owned(), Secret::new("!".to_owned()));
    UserState { uid: 1000, gid: 1000, home, shell, groups: ["audio".to_owned()].into(), password }
}

fn with_alice() -> Memory {
    let mut host = fresh();
    host.users.insert("alice".into(), alice("/bin/sh"));
    host.groups.extend([("alice".to_owned(), 1000), ("audio".to_owned(), 29)]);
    host
}

#[test]
fn groups_users_passwords_and_keys_are_created_once() {
    let spec = format!(
        "{{groups: [{{name: ops, gid: 2000}}], users: [{{name: alice, uid: 1500, groups: [ops], shell: /bin/bash, home: /srv/alice, \
         passwordHash: '$6$salt$s3cret', sshAuthorizedKeys: ['{KEY}']}}]}}"
    );
    let (wanted, mut host) = (users(&spec), fresh());
    let expected = [
        "create ops: group, gid 2000",
        "create alice: user, uid 1500, groups ops, home /srv/alice, shell /bin/bash",
        "change alice: password, not shown",
        "create /srv/alice/.ssh/authorized_keys: SSH keys, 0600 alice",
    ];
    assert_eq!(lines(&wanted, &host), expected);
    run(Mode::Post, &wanted, &mut host).unwrap();
    let keys = &host.files[KEYS];
    assert_eq!((keys.mode, keys.uid, host.users["alice"].password.expose().as_str()), (0o600, 1500, "$6$salt$s3cret"));
    assert!(changes(Mode::Post, &wanted, &mut host).is_empty());
}

#[test]
fn a_new_user_without_a_hash_has_no_password() {
    let mut host = fresh();
    run(Mode::Post, &users("{users: [{name: alice}]}"), &mut host).unwrap();
    assert_eq!(host.users["alice"].password.expose(), "!");
}

#[test]
fn of_an_existing_user_only_what_the_entry_names_is_changed() {
    let mut host = with_alice();
    assert_eq!(lines(&users("{users: [{name: alice}]}"), &host), [""; 0]);
    let changed = users("{users: [{name: alice, shell: /bin/bash, groups: [audio, root], home: /srv/alice}]}");
    assert_eq!(lines(&changed, &host), ["change alice: user, groups root, shell /bin/bash"]);
    run(Mode::Post, &changed, &mut host).unwrap();
    let expected = UserState { groups: ["audio", "root"].map(str::to_owned).into(), ..alice("/bin/bash") };
    assert_eq!(host.users["alice"], expected);
}

#[test]
fn the_number_of_an_existing_account_is_not_changed() {
    let host = with_alice();
    for (spec, what) in [
        ("{users: [{name: alice, uid: 1001}]}", "user alice: has the ID 1000, but the configuration has 1001"),
        ("{groups: [{name: audio, gid: 30}]}", "group audio: has the ID 29, but the configuration has 30"),
    ] {
        let failure = look(Mode::Post, &users(spec), &host).unwrap_err();
        assert!(failure.cause.to_string().starts_with(what), "{failure:?}");
    }
}

#[test]
fn keys_of_the_user_stay_beside_the_managed_ones() {
    let mut host = with_alice();
    host.directories.insert(SSH.into(), DirectoryState { mode: 0o700, uid: 1000, gid: 1000 });
    host.files.insert(KEYS.into(), FileState { uid: 1000, gid: 1000, mode: 0o600, ..file("own\n") });
    run(Mode::Post, &users(&format!("{{users: [{{name: alice, sshAuthorizedKeys: ['{KEY}']}}]}}")), &mut host).unwrap();
    let (begin, end) = ("# BEGIN machineadm sshAuthorizedKeys", "# END machineadm sshAuthorizedKeys");
    assert_eq!(text_of(&host, KEYS), format!("own\n{begin}\n{KEY}\n{end}\n"));
    run(Mode::Post, &users("{users: [{name: alice, sshAuthorizedKeys: []}]}"), &mut host).unwrap();
    assert_eq!(text_of(&host, KEYS), "own\n");
}

#[test]
fn a_file_of_another_user_is_not_read_into_the_keys() {
    let mut host = with_alice();
    host.directories.insert(SSH.into(), DirectoryState { mode: 0o700, uid: 1000, gid: 1000 });
    host.files.insert(KEYS.into(), file("root's own\n"));
    let wanted = users(&format!("{{users: [{{name: alice, sshAuthorizedKeys: ['{KEY}']}}]}}"));
    let refusal = |host: &Memory| {
        let failure = look(Mode::Post, &wanted, host).unwrap_err();
        assert!(matches!(*failure.cause, PlanError::Look(_)), "{failure:?}");
        failure.cause.to_string()
    };
    assert_eq!(refusal(&host), format!("{KEYS}: is owned by the user with UID 0, not by alice"));
    host.files.remove(KEYS);
    host.directories.insert(SSH.into(), DirectoryState { mode: 0o700, uid: 0, gid: 0 });
    assert_eq!(refusal(&host), format!("{SSH}: is owned by the user with UID 0, not by alice"));
    // A new user owns nothing yet.
    host.users.remove("alice");
    let new = users(&format!("{{users: [{{name: bob, home: /srv/alice, sshAuthorizedKeys: ['{KEY}']}}]}}"));
    assert!(look(Mode::Post, &new, &host).is_err());
}

#[test]
fn pruning_deletes_no_user() {
    let mut host = fresh();
    run(Mode::Post, &users("{groups: [{name: ops}], users: [{name: alice}]}"), &mut host).unwrap();
    run_pruning(&wanted(&[("FilesConfig", "k", "{files: [{path: /etc/k, content: k}]}")]), &mut host).unwrap();
    assert!(host.users.contains_key("alice") && host.groups.contains_key("ops"));
}

#[test]
fn the_owner_of_a_file_is_known_after_the_document_that_creates_the_user() {
    let user = ("UsersConfig", "u", "{users: [{name: etcd, system: true}]}");
    let owned = ("FilesConfig", "f", "{files: [{path: /srv/etcd, type: directory, owner: etcd}]}");
    let (both, mut host) = (wanted(&[user, owned]), fresh());
    let preview = look(Mode::Provision, &both, &host).unwrap();
    assert_eq!(turn(&preview, "FilesConfig f").known_after.as_ref().and_then(TurnId::number), Some(1));
    assert!(look(Mode::Provision, &wanted(&[owned, user]), &host).is_err());
    run(Mode::Provision, &both, &mut host).unwrap();
    assert_eq!(host.directories["/srv/etcd"].uid, host.users["etcd"].uid);
}
