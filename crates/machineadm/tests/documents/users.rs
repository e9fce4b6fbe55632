//! Users and groups through the machine's own tools, on the live system of a sandbox and below `--root`.
use crate::support::{documents::document, run_output::RunOutput, sandbox::Sandbox};
use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink},
};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f a";
const HASH: &str = "$6$saltsalt$qFmFH.bQmmtXzyBY0s9v7Oicd2z4XSIecDzlB5KiA2/jctKu9YterLp8wwnSq.qc.eoxqOmSuNp2xS0ktL3nh/";

fn users(spec: &str) -> String {
    document("UsersConfig", spec)
}

fn alice(rest: &str) -> String {
    users(&format!("{{users: [{{name: alice, uid: 4242, home: /srv/alice{rest}}}]}}"))
}

fn done(ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

fn is_settled(sandbox: &Sandbox) {
    let plan = sandbox.machineadm(&["plan", "-f", "/srv/configuration.yaml", "--exit-code"]);
    assert!(plan.code == Some(0) && plan.stdout.contains("nothing to do"), "{}{}", plan.stdout, plan.stderr);
}

#[test]
fn a_user_is_created_with_group_password_and_keys_and_a_second_run_does_nothing() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let rest = format!(", groups: [ops], shell: /bin/sh, passwordHash: '{HASH}', sshAuthorizedKeys: ['{KEY}']");
    let documents = [users("{groups: [{name: ops, gid: 4300}]}"), alice(&rest)].concat();
    let documents = documents.replacen("spec: {groups", "metadata: {name: groups}\nspec: {groups", 1);
    let ran = sandbox.bootstrap(&documents);
    done(&ran);
    assert!(!ran.stdout.contains("saltsalt") && !ran.stderr.contains("saltsalt"));
    assert_eq!(sandbox.sh("id -u alice; id -Gn alice"), "4242\nalice ops\n");
    assert_eq!(sandbox.sh("getent shadow alice | cut -d: -f2").trim(), HASH);
    let keys = sandbox.at("/srv/alice/.ssh/authorized_keys");
    let found = fs::metadata(&keys).unwrap();
    assert_eq!((found.uid(), found.permissions().mode() & 0o7777), (4242, 0o600));
    let directory = fs::metadata(keys.parent().unwrap()).unwrap();
    assert_eq!((directory.uid(), directory.permissions().mode() & 0o7777), (4242, 0o700));
    assert!(sandbox.text("/srv/alice/.ssh/authorized_keys").unwrap().contains(KEY));
    is_settled(&sandbox);
    done(&sandbox.bootstrap(&alice(", shell: /bin/bash")));
    assert_eq!(sandbox.sh("getent passwd alice | cut -d: -f7; id -Gn alice"), "/bin/bash\nalice ops\n");
    is_settled(&sandbox);
}

#[test]
fn a_user_without_a_hash_is_locked_and_a_system_user_has_no_home() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    done(&sandbox.bootstrap(&users("{users: [{name: agent, system: true, shell: /usr/sbin/nologin}]}")));
    assert_eq!(sandbox.sh("getent shadow agent | cut -d: -f2"), "!\n");
    assert!(sandbox.sh("id -u agent").trim().parse::<u32>().unwrap() < 1000);
    assert!(!sandbox.at(&format!("/home/{}", "agent")).exists());
    is_settled(&sandbox);
}

/// The keys of one user must not become another's, nor the other way round.
#[test]
fn a_new_user_does_not_get_the_ssh_directory_of_another_user() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox
        .sh("mkdir -p /srv/victim/.ssh; echo original > /srv/victim/.ssh/authorized_keys; chmod 700 /srv/victim/.ssh");
    let before = sandbox.sh("stat -c '%u %a' /srv/victim/.ssh /srv/victim/.ssh/authorized_keys");
    let mallory =
        |home: &str| users(&format!("{{users: [{{name: mallory, home: {home}, sshAuthorizedKeys: ['{KEY}']}}]}}"));
    for home in ["/srv/victim", "/root"] {
        sandbox.sh(&format!("mkdir -p {home}/.ssh"));
        let ran = sandbox.bootstrap(&mallory(home));
        assert_eq!(ran.code, Some(1), "{home}: {}", ran.stdout);
        assert!(ran.stderr.contains("is owned by the user with UID 0, not by mallory"), "{home}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("chown mallory {home}/.ssh")), "{home}: {}", ran.stderr);
    }
    assert_eq!(sandbox.sh("stat -c '%u %a' /srv/victim/.ssh /srv/victim/.ssh/authorized_keys"), before);
    assert_eq!(sandbox.text("/srv/victim/.ssh/authorized_keys").as_deref(), Some("original\n"));
}

#[test]
fn a_user_and_a_group_of_one_name_belong_together() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    done(&sandbox.bootstrap(&users("{groups: [{name: carol, gid: 4400}], users: [{name: carol, home: /srv/carol}]}")));
    assert_eq!(sandbox.sh("id -g carol").trim(), "4400");
    is_settled(&sandbox);
}

#[test]
fn a_link_that_the_user_put_into_its_home_is_not_followed() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    done(&sandbox.bootstrap(&alice("")));
    let with_keys = alice(&format!(", sshAuthorizedKeys: ['{KEY}']"));
    symlink("/etc/victim", sandbox.at("/srv/alice/.ssh")).unwrap();
    let ran = sandbox.bootstrap(&with_keys);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("a symbolic link in a directory that other users can write"), "{}", ran.stderr);
    fs::remove_file(sandbox.at("/srv/alice/.ssh")).unwrap();
    fs::create_dir(sandbox.at("/srv/alice/.ssh")).unwrap();
    chown(sandbox.at("/srv/alice/.ssh"), Some(4242), Some(4242)).unwrap();
    symlink("/etc/shadow", sandbox.at("/srv/alice/.ssh/authorized_keys")).unwrap();
    let ran = sandbox.bootstrap(&with_keys);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(!sandbox.text("/etc/shadow").unwrap().contains(KEY));
}

#[test]
fn below_a_root_its_own_tools_are_used() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir -p /mnt/root; mount --bind / /mnt/root");
    fs::write(sandbox.at("/srv/configuration.yaml"), alice(&format!(", passwordHash: '{HASH}'"))).unwrap();
    let ran = sandbox.machineadm(&["bootstrap", "--root", "/mnt/root", "-f", "/srv/configuration.yaml"]);
    done(&ran);
    assert_eq!(sandbox.sh("getent shadow alice | cut -d: -f2").trim(), HASH);
    sandbox.sh("mkdir -p /mnt/empty/etc");
    let ran = sandbox.machineadm(&["bootstrap", "--root", "/mnt/empty", "-f", "/srv/configuration.yaml"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
    assert!(ran.stderr.contains("useradd: is not installed"), "{}", ran.stderr);
}
