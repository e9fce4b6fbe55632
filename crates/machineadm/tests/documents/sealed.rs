//! Sealed and remote configuration by the real program: sealed, opened, applied, and refused without a trace.
use crate::support::{
    differences::differences,
    documents::document,
    file_tree::look,
    machine_tree::machine_tree,
    run_output::RunOutput,
    scratch_machine::{PASSPHRASE, ScratchMachine},
    shell,
};
use serde_json::Value;
use std::{
    fs,
    io::Write,
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Command, Stdio},
};

const SECRET: &str = "hunter2-in-the-clear";

fn file(path: &str, content: &str) -> String {
    document("FilesConfig", &format!("{{files: [{{path: {path}, content: {content}}}]}}"))
}

fn remote(uri: &str, more: &str) -> String {
    document("RemoteConfig", &format!("{{provider: file, uri: '{uri}'{more}}}"))
}

fn done(ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// Refused with this message, and the tree is as it was but for the mark for whoever polls.
fn refused(scratch: &ScratchMachine, configuration: &str, why: &str) {
    let before = machine_tree(&scratch.root());
    let ran = scratch.bootstrap(configuration);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains(why), "{}", ran.stderr);
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(SECRET) && !text.contains(PASSPHRASE), "{text}");
    }
    let mut after = machine_tree(&scratch.root());
    for mark in ["/run/cluster-api/bootstrap-failure.json", "/run/cluster-api"] {
        let marked = after.remove(mark).unwrap_or_else(|| panic!("{why}: nobody who polls learns of it"));
        assert!(!String::from_utf8_lossy(&marked.body).contains(SECRET), "{why}");
    }
    std::fs::remove_dir_all(scratch.root().join("run/cluster-api")).expect("the mark can be removed");
    assert_eq!(differences(&before, &after), Vec::<String>::new());
}

#[test]
fn what_encrypt_seals_decrypt_opens_and_no_two_are_alike() {
    let scratch = ScratchMachine::new();
    let plain = file("/etc/a", SECRET);
    let [one, two] = [scratch.seal(&plain, &[]), scratch.seal(&plain, &[])];
    assert!(!one.contains(SECRET) && !one.contains(PASSPHRASE));
    let fields = |text: &str| {
        let field = |line: &&str| ["salt", "iv", "ciphertext"].iter().any(|name| line.trim().starts_with(name));
        text.lines().filter(field).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(fields(&one).len(), 3);
    assert!(fields(&one).iter().zip(fields(&two)).all(|(one, two)| *one != two), "salt, iv and ciphertext are new");
    scratch.write("sealed.yaml", &[one, two].concat());
    let opened = scratch.run(&["decrypt", "-f", "@sealed.yaml"]);
    done(&opened);
    assert_eq!(opened.stdout.matches(SECRET).count(), 2);
    scratch
        .write("opened.yaml", &scratch.run(&["decrypt", "-f", "@sealed.yaml"]).stdout.replacen("/etc/a", "/etc/b", 1));
    done(&scratch.run(&["validate", "-f", "@opened.yaml"]));
}

#[test]
fn encrypt_refuses_what_would_not_open_to_anything() {
    let scratch = ScratchMachine::new();
    scratch.write("wrong.yaml", &[document("FilesConfig", "{}"), document("SysctlConfig", "{}")].concat());
    scratch.write("good.yaml", &file("/etc/a", SECRET));
    scratch.write("scope.yaml", &document("ScopeConfig", "{machines: {hostnames: [a]}}"));
    let uri = scratch.uri("passphrase");
    for (words, why) in [
        (&["-f", "@wrong.yaml"][..], "spec.parameters   required, but missing"),
        (&["-f", "@good.yaml", "--name", "Not A Name"], "metadata.name"),
        (&["-f", "@good.yaml", "--provider", "awskms"], "unknown; built in are: file, descriptor, https"),
        (&["-f", "@good.yaml", "--for-machine-id", "x"], "must be 32 hexadecimal digits"),
        (&["-f", "@good.yaml", "--iterations", "12"], "1000..=1000000"),
        (&["-f", "@scope.yaml", "--for-hostname", "a"], "start with a ScopeConfig"),
        (&["-f", "@good.yaml", "--valid-for", "1d"], "must be a duration"),
        (&["-f", "@good.yaml", "--valid-for", "99999999h"], "is too long"),
        (&["-f", "@good.yaml", "--max-age", "99999999h"], "is too long"),
        (&["-f", "@good.yaml", "--max-age", "87841h"], "is too long: at most 87840h"),
        (
            &["-f", "@good.yaml", "--not-after", "tomorrow"],
            "must be a time as in RFC 3339, such as `2027-01-01T00:00:00Z`",
        ),
        (&["-f", "@good.yaml", "--max-age", "1ms"], "at least 1s"),
        (&["-f", "@good.yaml", "--valid-for", "0"], "at least 1s"),
        (&["-f", "@good.yaml", "--certificate-authority", "@good.yaml"], "requires --provider https"),
        (&["-f", "@good.yaml", "--provider", "https", "--certificate-authority", "@missing.pem"], "missing.pem"),
        (
            &["-f", "@good.yaml", "--provider", "https", "--certificate-authority", "@good.yaml"],
            "contains no certificate",
        ),
    ] {
        let ran = scratch.run(&[&["encrypt", "--passphrase-uri", &uri], words].concat());
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(why) && ran.stdout.is_empty(), "{words:?}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn encrypt_warns_of_a_time_that_is_over() {
    let scratch = ScratchMachine::new();
    scratch.write("plain.yaml", &file("/etc/a", SECRET));
    let uri = scratch.uri("passphrase");
    let until = |time| {
        let ran = scratch.run(&["encrypt", "--passphrase-uri", &uri, "-f", "@plain.yaml", "--not-after", time]);
        done(&ran);
        ran.stderr.contains("warning: --not-after is in the past")
    };
    assert!(until("2020-01-01T00:00:00Z"));
    assert!(!until("9999-12-31T23:59:59Z"));
}

#[test]
fn a_passphrase_file_is_its_owners_alone_and_long_enough() {
    let scratch = ScratchMachine::new();
    let sealed = scratch.seal(&file("/etc/a", SECRET), &[]);
    scratch.chmod("passphrase", 0o640);
    refused(&scratch, &sealed, "can be read by others than its owner");
    scratch.chmod("passphrase", 0o600);
    for (text, why) in [
        ("short", "the passphrase there is invalid: it must have 8 to 4096 bytes"),
        (&"x".repeat(5000), "the passphrase there is invalid"),
    ] {
        scratch.write("passphrase", text);
        refused(&scratch, &sealed, why);
    }
    fs::remove_file(scratch.path("passphrase")).unwrap();
    refused(&scratch, &sealed, "No such file or directory");
    std::os::unix::fs::symlink("/etc/hostname", scratch.path("passphrase")).unwrap();
    refused(&scratch, &sealed, "can be read by others than its owner");
    scratch.write("plain.yaml", &file("/etc/a", "x"));
    fs::remove_file(scratch.path("passphrase")).unwrap();
    scratch.write("passphrase", "fourteen bytes");
    scratch.chmod("passphrase", 0o600);
    let weak = scratch.run(&["encrypt", "--passphrase-uri", &scratch.uri("passphrase"), "-f", "@plain.yaml"]);
    done(&weak);
    assert!(weak.stderr.contains("warning: the passphrase has fewer than 16 bytes"), "{}", weak.stderr);
}

#[test]
fn a_nested_configuration_is_applied_and_tells_where_it_came_from() {
    let scratch = ScratchMachine::new();
    let inner = scratch.seal(&file("/etc/secret", SECRET), &["--for-hostname", "node-7", "--valid-for", "1h"]);
    scratch.write("remote.yaml", &[file("/etc/remote", "from-elsewhere"), inner].concat());
    let allow = ", allow: [localFiles]";
    let configuration = [file("/etc/local", "here"), remote(&scratch.uri("remote.yaml"), allow)].concat();
    scratch.write("node.yaml", &configuration);
    let plan = scratch.run(&["plan", "-f", "@node.yaml", "--out", &scratch.path("plan")]);
    done(&plan);
    let at = format!("node.yaml#2 > {}", scratch.uri("remote.yaml"));
    let line =
        format!("node.yaml (1), {0}/{at} (1), {0}/{at}#2 > decrypted (1)", scratch.path("").trim_end_matches('/'));
    assert!(plan.stdout.contains(&line), "{}", plan.stdout);
    assert!(!plan.stdout.contains(SECRET) && plan.stdout.contains("bytes, not shown"), "{}", plan.stdout);
    let ran = scratch.run(&["apply", "@plan"]);
    done(&ran);
    let text = |name: &str| fs::read_to_string(scratch.root().join(name)).unwrap();
    assert_eq!([text("etc/local"), text("etc/remote"), text("etc/secret")], ["here", "from-elsewhere", SECRET]);
    let outcome: Value = serde_json::from_str(&text("var/lib/machineadm/outcome.json")).unwrap();
    assert_eq!(outcome["documents"], 3);
    assert_eq!(outcome["sources"].as_array().unwrap().len(), 3);
    assert!(scratch.run(&["status"]).stdout.contains("#2 > decrypted (1)"));
    assert!(fs::read_to_string(scratch.path("plan")).unwrap().find(SECRET).is_none());
}

#[test]
fn what_is_kept_for_the_next_boot_and_in_a_plan_stays_sealed() {
    let scratch = ScratchMachine::new();
    shell::install(&scratch.root());
    let stops = document("CommandsConfig", "{commands: [{name: fails, argv: [/bin/sh, -c, exit 3]}]}");
    let secret = [file("/etc/secret", SECRET), stops].concat();
    let sealed = scratch.seal(&secret, &[]);
    assert_eq!(scratch.bootstrap(&sealed).code, Some(1));
    let kept = fs::read_to_string(scratch.root().join("var/lib/machineadm/configuration.yaml")).unwrap();
    assert_eq!(kept, sealed);
    for (name, entry) in look(&scratch.root()) {
        let holds = String::from_utf8_lossy(&entry.body).contains(SECRET);
        assert_eq!(holds, name == "/etc/secret", "{name}");
    }
    let again = scratch.run(&["bootstrap"]);
    assert_eq!(again.code, Some(1), "it goes on with what was kept: {}", again.stderr);
    assert!(again.stderr.contains("fails"), "{}", again.stderr);
    done(&scratch.run(&["plan", "-f", "@node.yaml", "--out", &scratch.path("plan"), "-o", "json"]));
    let plan: Value = serde_json::from_str(&fs::read_to_string(scratch.path("plan")).unwrap()).unwrap();
    use base64::Engine;
    let engine = base64::engine::general_purpose::STANDARD;
    assert_eq!(engine.decode(plan["plan"]["configuration"].as_str().unwrap()).unwrap(), sealed.as_bytes());
}

#[test]
fn a_sealed_file_that_changes_is_never_shown() {
    let scratch = ScratchMachine::new();
    fs::write(scratch.root().join("etc/motd"), "old\n").unwrap();
    let open = "{files: [{path: /etc/motd, block: open, content: open}]}";
    let block = format!("{{files: [{{path: /etc/motd, block: secret, content: {SECRET}}}]}}");
    let sealed = scratch.seal(&document("FilesConfig", &block), &[]);
    scratch.write("node.yaml", &[sealed, document("FilesConfig", open)].concat());
    let plan = scratch.run(&["plan", "-f", "@node.yaml"]);
    done(&plan);
    assert!(!plan.stdout.contains(SECRET) && plan.stdout.matches("not shown").count() == 2, "{}", plan.stdout);
}

#[test]
fn hostile_storage_is_refused_and_nothing_is_changed() {
    let scratch = ScratchMachine::new();
    let plain = file("/etc/a", "evil");
    scratch.write("remote.yaml", &plain);
    let uri = scratch.uri("remote.yaml");
    refused(&scratch, &remote(&uri, ", require: encrypted"), "must be an EncryptedConfig");
    let digest = "0".repeat(64);
    refused(&scratch, &remote(&uri, &format!(", sha256: '{digest}'")), "does not match the fetched bytes");
    scratch.chmod("remote.yaml", 0o666);
    refused(&scratch, &remote(&uri, ""), "can be written by everybody");
    scratch.chmod("remote.yaml", 0o644);
    let sealed = scratch.seal(&file("/etc/a", SECRET), &[]);
    scratch.write("remote.yaml", &sealed);
    refused(&scratch, &remote(&uri, ", require: encrypted"), "is not allowed to name local files");
    refused(&scratch, &remote(&uri, ""), "`allow: [localFiles]`");
    scratch.write("remote.yaml", &remote(&uri, ""));
    refused(&scratch, &remote(&uri, ", allow: [localFiles]"), "endless recursion");
    scratch.write("remote.yaml", &sealed);
    done(&scratch.bootstrap(&remote(&uri, ", require: encrypted, allow: [localFiles]")));
}

#[test]
fn what_is_not_for_this_machine_or_not_any_more_is_refused() {
    let scratch = ScratchMachine::new();
    let plain = file("/etc/a", SECRET);
    let other = scratch.seal(&plain, &["--for-hostname", "node-8", "--for-machine-id", &"a".repeat(32)]);
    refused(&scratch, &other, "for other machines, not for node-7");
    let over = scratch.seal(&plain, &["--not-after", "2020-01-01T00:00:00Z"]);
    refused(&scratch, &over, "have expired: the clock of this machine is at");
    let scope = |spec: &str| document("ScopeConfig", spec);
    let old = scope("{issuedAt: '2020-01-01T00:00:00Z', maxAge: 24h}");
    refused(&scratch, &scratch.seal(&[old, plain.clone()].concat(), &[]), "older than `maxAge`");
    let future = scope("{issuedAt: '2999-01-01T00:00:00Z'}");
    refused(&scratch, &scratch.seal(&[future, plain.clone()].concat(), &[]), "set the clock");
    refused(
        &scratch,
        &[scope("{machines: {hostnames: [node-7]}}"), plain.clone()].concat(),
        "is allowed only as the first document",
    );
    fs::write(scratch.root().join("etc/machine-id"), "a".repeat(32)).unwrap();
    done(&scratch.bootstrap(&other));
}

#[test]
fn what_was_damaged_is_refused_each_in_its_own_way() {
    let scratch = ScratchMachine::new();
    let sealed = scratch.seal(&file("/etc/a", SECRET), &[]);
    let line = |name: &str| sealed.lines().find(|line| line.trim().starts_with(name)).unwrap();
    let changed = |name: &str, value: &str| sealed.replace(line(name), &format!("  {name}: {value}"));
    // Another first letter is another first byte.
    let flipped = |name: &str| {
        let old = line(name);
        let at = old.find('"').unwrap() + 1;
        let letter = if &old[at..=at] == "A" { "B" } else { "A" };
        sealed.replace(old, &format!("{}{letter}{}", &old[..at], &old[at + 1..]))
    };
    // By its nature the cipher can't tell these apart.
    let unopened = "cannot be decrypted: the passphrase is not the one it was encrypted with, or the ciphertext was damaged or changed";
    for name in ["salt", "iv", "ciphertext"] {
        refused(&scratch, &flipped(name), unopened);
    }
    refused(&scratch, &changed("ciphertext", "\"QUFBQUFBQUFBQUFBQUFBQQ==\""), unopened);
    refused(&scratch, &changed("ciphertext", "AAAA"), "is shorter than its tag of 16 bytes: it was truncated");
    refused(&scratch, &changed("salt", "AAAA"), "has 3 bytes: at least 16, at most 1024");
    refused(&scratch, &changed("iv", "AAAA"), "has 3 bytes: aes-256-gcm takes 12");
    refused(&scratch, &changed("cipherAlgorithm", "rot13"), "`rot13` is not supported; use `aes-256-gcm`");
    refused(&scratch, &changed("digestAlgorithm", "md5"), "`md5` is not supported; use `sha-512`");
    refused(&scratch, &changed("keyDerivationAlgorithm", "scrypt"), "`scrypt` is not supported; use `pbkdf2`");
    refused(&scratch, &changed("iterations", "12"), "12 rounds are too few: at least 1000, 50000 by default");
    refused(&scratch, &changed("iterations", "4000000000"), "too many rounds");
    scratch.write("passphrase", "another passphrase");
    refused(&scratch, &sealed, unopened);
}

#[test]
fn validate_stays_offline_unless_it_is_told_to_expand() {
    let scratch = ScratchMachine::new();
    scratch.write("node.yaml", &remote(&scratch.uri("missing.yaml"), ""));
    done(&scratch.run(&["validate", "-f", "@node.yaml"]));
    let ran = scratch.run(&["validate", "--expand", "-f", "@node.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stdout.contains("No such file or directory"), "{}", ran.stdout);
}

#[test]
fn a_passphrase_comes_through_a_descriptor_once_for_all() {
    let scratch = ScratchMachine::new();
    scratch.write("plain.yaml", &file("/etc/a", SECRET));
    let run = |script: &str| scripted(&scratch, Stdio::null(), script);
    let seal = r#""$1" encrypt --provider descriptor --passphrase-uri fd:3 -f "$2/plain.yaml""#;
    done(&run(&format!(r#"{seal} 3< "$2/passphrase" > "$2/one"; {seal} 3< "$2/passphrase" > "$2/two""#)));
    let opened = run(r#"cat "$2/passphrase" | "$1" decrypt -f "$2/one" -f "$2/two" 3<&0 < /dev/null"#);
    done(&opened);
    assert_eq!(opened.stdout.matches(SECRET).count(), 2);
    let none = run(r#""$1" decrypt -f "$2/one""#);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("did not inherit descriptor 3"), "{}", none.stderr);
}

/// Runs a script in which `$1` is machineadm and `$2` the scratch directory.
fn scripted(scratch: &ScratchMachine, stdin: Stdio, script: &str) -> RunOutput {
    let mut command = Command::new("sh");
    command.args(["-ec", script, "sh", env!("CARGO_BIN_EXE_machineadm"), &scratch.path("")]).stdin(stdin);
    RunOutput::of(command.output().expect("sh runs"))
}

#[test]
fn a_descriptor_is_read_itself_whatever_it_is() {
    let scratch = ScratchMachine::new();
    scratch.write("plain.yaml", &file("/etc/a", SECRET));
    let seal = r#""$1" encrypt --provider descriptor --passphrase-uri fd:3 -f "$2/plain.yaml""#;
    done(&scripted(&scratch, Stdio::null(), &format!(r#"{seal} 3< "$2/passphrase" > "$2/sealed""#)));
    let open = r#"timeout 60 "$1" decrypt -f "$2/sealed" 3<&0 < /dev/null"#;
    for given in [
        r#"exec < "$2/passphrase""#,
        // A named pipe whose writer has gone: opening it anew would wait for another one.
        r#"mkfifo "$2/pipe"; exec 4<> "$2/pipe"; exec < "$2/pipe"; cat "$2/passphrase" >&4; exec 4>&-"#,
        // What stands before the passphrase has been read by somebody else.
        r#"(echo first; cat "$2/passphrase") > "$2/both"; exec < "$2/both"; read line"#,
        // Whoever handed it over has taken its name away.
        r#"cp "$2/passphrase" "$2/gone"; exec < "$2/gone"; rm "$2/gone""#,
    ] {
        let opened = scripted(&scratch, Stdio::null(), &format!("{given}; {open}"));
        done(&opened);
        assert!(opened.stdout.contains(SECRET), "{given}");
    }
    let twice = scripted(&scratch, Stdio::null(), &format!(r#"exec 3< "$2/passphrase"; {seal} > "$2/one"; {seal}"#));
    assert_eq!(twice.code, Some(2), "{}", twice.stderr);
    assert!(twice.stderr.contains("descriptor 3 is at its end"), "{}", twice.stderr);
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    ours.write_all(&fs::read(scratch.path("passphrase")).unwrap()).unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let opened = scripted(&scratch, OwnedFd::from(theirs).into(), open);
    done(&opened);
    assert!(opened.stdout.contains(SECRET));
}
