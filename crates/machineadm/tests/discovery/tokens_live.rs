//! Tokens on a real control plane: made by us, judged by the real signer, authenticator and kubeadm, and the other way.
use base64::{Engine, prelude::BASE64_STANDARD};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Output},
    time::Duration,
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
    until,
};

/// The signer needs milliseconds; this is for a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

fn token(plane: &ControlPlane, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.arg("token").args(words).arg("--kubeconfig").arg(plane.kubeconfig());
    command.output().expect("it runs")
}

fn kubeadm(plane: &ControlPlane, words: &[&str]) -> Result<Output> {
    let mut command = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
    command.args(words).arg("--kubeconfig").arg(plane.kubeconfig());
    Ok(command.output().expect("it runs"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a run that must succeed.
fn said(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    text(&output.stdout)
}

/// Makes the map that the signer signs.
fn cluster_info(plane: &ControlPlane, scratch: &Path) -> Result<()> {
    let file = scratch.join("kubeconfig");
    std::fs::write(&file, "apiVersion: v1\nkind: Config\n").expect("a file");
    let from = format!("--from-file=kubeconfig={}", file.display());
    plane.kubectl(&["--namespace=kube-public", "create", "configmap", "cluster-info", &from]).map(drop)
}

/// Waits until the real signer has signed with this token.
fn is_signed(plane: &ControlPlane, id: &str) -> Result<()> {
    until(&format!("token {id} is signed"), LIMIT, || {
        let path = format!("--output=jsonpath={{.data.jws-kubeconfig-{id}}}");
        let shown = plane.kubectl(&["--namespace=kube-public", "get", "configmap", "cluster-info", &path]);
        match shown.map_err(|error| error.to_string())?.is_empty() {
            true => Err("no signature".to_owned()),
            false => Ok(()),
        }
    })
}

fn secrets(plane: &ControlPlane) -> Result<Vec<Value>> {
    let list = plane.kubectl(&[
        "--namespace=kube-system",
        "get",
        "secrets",
        "--field-selector=type=bootstrap.kubernetes.io/token",
        "--output=json",
    ])?;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    Ok(list["items"].as_array().expect("items").clone())
}

#[test]
fn tokens_that_we_make_are_signed_listed_and_deleted_by_the_real_programs_and_theirs_by_us() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    cluster_info(&plane, scratch.path())?;

    let made = token(&plane, &["create"]);
    let warning = text(&made.stderr);
    let made = said(&made);
    let (id, _) = made.trim_end().split_once('.').expect("a token");
    for told in [
        "can join this cluster as a node",
        "a node can read the Secrets of its pods",
        &format!("\nremedy: delete the token when it is no longer needed: machineadm token delete {id}\n"),
    ] {
        assert!(warning.starts_with("warning: until 20") && warning.contains(told), "{told}: {warning}");
    }
    lives_for(&plane, id, SignedDuration::from_hours(24))?;
    is_signed(&plane, id)?;

    let signing = said(&token(&plane, &["create", "aaaaaa.0123456789abcdef", "--usages", "signing", "--ttl", "0"]));
    assert_eq!(signing, "aaaaaa.0123456789abcdef\n");
    is_signed(&plane, "aaaaaa")?;
    said(&kubeadm(&plane, &["token", "create", "bbbbbb.0123456789abcdef", "--description", "by kubeadm, & <co>"])?);
    let words = ["create", "cccccc.0123456789abcdef", "--ttl", "90m", "--description", "both", "--groups"];
    let groups = "system:bootstrappers:one,system:bootstrappers:two";
    said(&token(&plane, &[&words[..], &[groups]].concat()));
    lives_for(&plane, "cccccc", SignedDuration::from_mins(90))?;

    for format in ["json", "yaml", "jsonpath={.token} {.groups[*]}{\"\\n\"}"] {
        let theirs = said(&kubeadm(&plane, &["token", "list", "-o", format])?);
        assert_eq!(said(&token(&plane, &["list", "-o", format])), theirs, "{format}");
    }
    tables(&plane, 5)?;
    // It is the first row that the heading goes by.
    for (ttl, description) in
        [("0", ""), ("1h", "für alle"), ("1h", "a text that is longer than its column has room for it")]
    {
        said(&token(&plane, &["create", "000000.0123456789abcdef", "--ttl", ttl, "--description", description]));
        tables(&plane, 6)?;
        said(&token(&plane, &["delete", "000000"]));
    }

    expiring(&plane)?;
    deleting(&plane)?;
    refusals(&plane)?;
    taken(&plane)?;
    for_programs(&plane)?;
    configured(&plane, scratch.path())?;
    unnamed(&plane)?;
    denied(&plane, scratch.path());
    described(&plane, scratch.path())?;
    plane.down()
}

/// When a token of the cluster expires: absolute, in UTC, to the second, as RFC 3339 has it.
fn expiration(secret: &Value) -> Timestamp {
    let encoded = secret["data"]["expiration"].as_str().expect("an expiration");
    let time = text(&BASE64_STANDARD.decode(encoded).expect("base64"));
    assert!(is_like(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", &time), "{time}");
    time.parse().expect("a time")
}

fn is_like(pattern: &str, text: &str) -> bool {
    regex_lite::Regex::new(pattern).expect("a pattern").is_match(text)
}

fn find(plane: &ControlPlane, id: &str) -> Result<Option<Value>> {
    let name = format!("bootstrap-token-{id}");
    Ok(secrets(plane)?.into_iter().find(|secret| secret["metadata"]["name"] == name.as_str()))
}

/// The token's expiration is this long after the API server created its Secret: at most a second more, since that time
/// is cut to seconds, and less only by the time that the request took.
fn lives_for(plane: &ControlPlane, id: &str, ttl: SignedDuration) -> Result<()> {
    let secret = find(plane, id)?.expect("it was created");
    let created = secret["metadata"]["creationTimestamp"].as_str().expect("a time");
    let created: Timestamp = created.parse().expect("a time");
    let lives = expiration(&secret).duration_since(created);
    let (least, most) = (ttl - SignedDuration::from_mins(2), ttl + SignedDuration::from_secs(1));
    assert!((least..=most).contains(&lives), "{id}: {lives} instead of {ttl}");
    Ok(())
}

/// The real cleaner deletes a token of ours when it has expired, not before, and no other.
fn expiring(plane: &ControlPlane) -> Result<()> {
    let others = secrets(plane)?;
    // What it prints tells when it expires: on a busy machine it may be gone before it is looked for.
    let created = said(&token(plane, &["create", "iiiiii.0123456789abcdef", "--ttl", "3s", "-o", "json"]));
    let created: Value = serde_json::from_str(&created).expect("JSON");
    let expires: Timestamp = created["expires"].as_str().expect("a time").parse().expect("a time");
    let gone = until("the cleaner deletes the token", LIMIT, || {
        match find(plane, "iiiiii").map_err(|error| error.to_string())? {
            None => Ok(Timestamp::now()),
            Some(_) => Err("it is there".to_owned()),
        }
    })?;
    assert!(gone >= expires, "deleted by {gone}, expires {expires}");
    assert_eq!(secrets(plane)?, others);
    Ok(())
}

/// Ours and kubeadm's are the same, but for the time to live, which may change between the two.
fn tables(plane: &ControlPlane, lines: usize) -> Result<()> {
    let without_ttl = |table: String| {
        let cut = |line: &str| format!("{}{}", line.get(..26).unwrap_or(line), line.get(38..).unwrap_or_default());
        table.lines().map(cut).collect::<Vec<_>>()
    };
    let theirs = without_ttl(said(&kubeadm(plane, &["token", "list"])?));
    assert_eq!(theirs.len(), lines, "{theirs:?}");
    assert_eq!(without_ttl(said(&token(plane, &["list"]))), theirs);
    Ok(())
}

fn deleting(plane: &ControlPlane) -> Result<()> {
    let wrong = token(plane, &["delete", "bbbbbb.ffffffffffffffff", "zzzzzz", "cccccc.0123456789abcdef"]);
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let complaint = text(&wrong.stderr);
    assert!(complaint.contains("\"bbbbbb\" has another secret half"), "{complaint}");
    assert!(complaint.contains("\"zzzzzz\" does not exist") && !complaint.contains("ffffffffffffffff"), "{complaint}");
    assert_eq!(text(&wrong.stdout), "bootstrap token \"cccccc\" deleted\n", "one failure stops the rest");
    let dry = said(&token(plane, &["delete", "--dry-run", "bbbbbb"]));
    assert_eq!(dry, "bootstrap token \"bbbbbb\" deleted (dry run)\n");
    let names: Vec<_> = secrets(plane)?.iter().map(|secret| secret["metadata"]["name"].clone()).collect();
    assert!(names.iter().any(|name| name == "bootstrap-token-bbbbbb"), "{names:?}");
    assert!(!names.iter().any(|name| name == "bootstrap-token-cccccc"), "{names:?}");
    said(&token(plane, &["delete", "bbbbbb"]));
    said(&token(plane, &["delete", "bbbbbb"]));
    not_deleting(plane)
}

/// A Secret whose `token-id` is not the one in its name is no token: the specification says that it must be ignored.
fn not_deleting(plane: &ControlPlane) -> Result<()> {
    let name = "bootstrap-token-mmmmmm";
    let data = ["--from-literal=token-id=nnnnnn", "--from-literal=token-secret=0123456789abcdef"];
    let words = ["--namespace=kube-system", "create", "secret", "generic", name];
    plane.kubectl(&[&words[..], &data, &["--type=bootstrap.kubernetes.io/token"]].concat())?;
    for given in ["mmmmmm", "mmmmmm.0123456789abcdef"] {
        let refused = token(plane, &["delete", given]);
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let complaint = text(&refused.stderr);
        assert!(complaint.contains("not a bootstrap token (its token-id is not the one"), "{complaint}");
    }
    plane.kubectl(&["--namespace=kube-system", "delete", "secret", name]).map(drop)
}

/// What is wrong is refused before anything is made.
fn refusals(plane: &ControlPlane) -> Result<()> {
    let before = secrets(plane)?;
    for (words, problem) in [
        (&["create", "--ttl", "-1h"][..], "is in the past"),
        (&["create", "--ttl=-1h"], "is in the past"),
        (&["create", "--usages", "signing", "--groups", "system:bootstrappers:x"], "groups need the usage"),
        (&["create", "--usages", "signin"], "is not a usage"),
        (&["create", "--groups", "system:masters"], "is not a group of a token"),
        (&["create", "ABCDEF.0123456789abcdef"], "is not a bootstrap token"),
        (&["create", "--certificate-key", "00"], "--print-join-command"),
        (&["create", "--certificate-key", "00", "--print-join-command"], "32 bytes in hex"),
        (&["delete", "abcdef", "no token"], "argument 2 is neither"),
        (&["list", "-o", "wide"], "-o must be"),
    ] {
        let refused = token(plane, words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {refused:?}");
        assert!(text(&refused.stderr).contains(problem), "{words:?}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{words:?}");
    }
    let again = token(plane, &["create", "aaaaaa.ffffffffffffffff"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).starts_with("error: a token with id \"aaaaaa\" already exists: it never expires\n"));
    let dry = token(plane, &["--dry-run=true", "create", "dddddd.0123456789abcdef", "--print-join-command=false"]);
    assert_eq!(said(&dry), "dddddd.0123456789abcdef\n");
    assert!(text(&dry.stderr).contains("bootstrap-token-dddddd would be created"), "{dry:?}");
    assert_eq!(secrets(plane)?, before);
    Ok(())
}

/// An id that is there is refused with what is there, even for the very same token: its end is another than was asked.
fn taken(plane: &ControlPlane) -> Result<()> {
    let secret = |id: &str, expiration: &str| {
        let data = serde_json::json!({"token-id": id, "token-secret": "0123456789abcdef", "expiration": expiration});
        serde_json::json!({
            "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "stringData": data,
            "metadata": {"name": format!("bootstrap-token-{id}"), "namespace": "kube-system", "finalizers": ["a.b/c"]},
        })
    };
    let items = [secret("hhhhh0", "2001-01-01T00:00:00Z"), secret("hhhhh1", "2099-01-01T00:00:00Z")];
    let file = tempfile::NamedTempFile::new().expect("a file");
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(file.path(), list.to_string()).expect("a file");
    plane.kubectl(&["create", "--filename", &file.path().display().to_string()])?;
    plane.kubectl(&["--namespace=kube-system", "delete", "secret", "bootstrap-token-hhhhh1", "--wait=false"])?;
    for (words, what) in [
        (&["create", "aaaaaa.0123456789abcdef", "--usages", "signing", "--ttl", "1h"][..], "it never expires"),
        (&["create", "aaaaaa.0123456789abcdef", "--usages", "signing", "--dry-run"], "it never expires"),
        (&["create", "hhhhh1.0123456789abcdef"], "it is being deleted"),
    ] {
        let refused = token(plane, words);
        assert_eq!(refused.status.code(), Some(1), "{words:?}: {refused:?}");
        assert!(refused.stdout.is_empty(), "{words:?}: {refused:?}");
        let complaint = text(&refused.stderr);
        assert!(complaint.contains(&format!("already exists: {what}\nremedy: ")), "{words:?}: {complaint}");
        assert!(!complaint.contains("0123456789abcdef") && !complaint.contains("warning"), "{words:?}: {complaint}");
    }
    // A run that was cut short can be run again.
    let same = token(plane, &["create", "aaaaaa.0123456789abcdef", "--usages", "signing", "--ttl", "0"]);
    assert_eq!(said(&same), "aaaaaa.0123456789abcdef\n");
    assert!(text(&same.stderr).contains("the token aaaaaa already exists"), "{same:?}");
    let same = ["create", "aaaaaa.0123456789abcdef", "--usages", "signing", "--ttl", "0", "-o", "json"];
    let same: Value = serde_json::from_str(&said(&token(plane, &same))).expect("JSON");
    assert_eq!((&same["token"], &same["existed"]), (&"aaaaaa.0123456789abcdef".into(), &true.into()));
    // The real cleaner may have been at it.
    let ended = text(&token(plane, &["create", "hhhhh0.0123456789abcdef"]).stderr);
    let known = ["it expired at 2001-01-01 00:00 UTC", "it is being deleted"];
    assert!(known.iter().any(|what| ended.contains(&format!("already exists: {what}\n"))), "{ended}");
    let free = "--patch={\"metadata\":{\"finalizers\":null}}";
    for id in ["hhhhh0", "hhhhh1"] {
        let name = format!("bootstrap-token-{id}");
        plane.kubectl(&["--namespace=kube-system", "patch", "secret", &name, "--type=merge", free])?;
        said(&token(plane, &["delete", id]));
    }
    Ok(())
}

/// What programs read: every result on standard output, and nothing else.
fn for_programs(plane: &ControlPlane) -> Result<()> {
    let words = ["create", "gggggg.0123456789abcdef", "--ttl", "1h", "--description", "x", "--print-join-command"];
    let made = said(&token(plane, &[&words[..], &["-o", "json"]].concat()));
    let made: Value = serde_json::from_str(&made).expect("JSON");
    assert_eq!((&made["token"], &made["existed"]), (&"gggggg.0123456789abcdef".into(), &Value::Null));
    assert_eq!((&made["description"], made["usages"].as_array().expect("usages").len()), (&"x".into(), 2));
    assert_eq!(made["groups"][0], "system:bootstrappers:kubeadm:default-node-token");
    assert!(made["joinCommand"].as_str().is_some_and(|line| line.starts_with("kubeadm join 127.0.0.1:")), "{made}");
    let listed = said(&token(plane, &["list", "-o", "JSON"]));
    let expires = format!("\"expires\": {}", made["expires"]);
    assert!(listed.contains(&expires), "{listed}");

    let deleted = token(plane, &["delete", "-o", "yaml", "gggggg", "gggggg", "aaaaaa.ffffffffffffffff"]);
    assert_eq!(deleted.status.code(), Some(1), "{deleted:?}");
    let reason = "bootstrap token \\\"aaaaaa\\\" has another secret half: it was not deleted";
    assert_eq!(
        text(&deleted.stdout),
        format!(
            "id: \"gggggg\"\nresult: \"deleted\"\n---\nid: \"gggggg\"\nresult: \"absent\"\n---\n\
             id: \"aaaaaa\"\nreason: \"{reason}\"\nresult: \"failed\"\n"
        )
    );
    Ok(())
}

/// `--config` with `expires`, which kubeadm itself can't do, and the join command.
fn configured(plane: &ControlPlane, scratch: &Path) -> Result<()> {
    let file = scratch.join("init.yaml");
    let document = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens:\n\
                    - {token: 123456.0123456789abcdef, expires: '2099-01-01T00:00:00Z', description: from a file}\n\
                    - {token: eeeeee.0123456789abcdef, usages: [signing], ttl: 0s}\n";
    std::fs::write(&file, document).expect("a file");
    let made = said(&token(plane, &["create", "--config", &file.display().to_string()]));
    assert_eq!(made, "123456.0123456789abcdef\neeeeee.0123456789abcdef\n");
    let listed = said(&kubeadm(plane, &["token", "list"])?);
    let line = listed.lines().find(|line| line.starts_with("123456.")).expect("it is listed");
    assert!(line.contains("2099-01-01T00:00:00Z") && line.contains("from a file"), "{line}");

    // One id is known: none of the others is made.
    let other = document.replace("123456.", "jjjjjj.").replace("eeeeee.0123456789abcdef", "eeeeee.ffffffffffffffff");
    std::fs::write(&file, other).expect("a file");
    let refused = token(plane, &["create", "--config", &file.display().to_string()]);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(text(&refused.stderr).starts_with("error: a token with id \"eeeeee\" already exists"), "{refused:?}");
    assert!(!said(&kubeadm(plane, &["token", "list"])?).contains("jjjjjj."));
    for document in ["kind: InitConfiguration\nbootstrapTokens: []\n", "kind: ClusterConfiguration\n"] {
        std::fs::write(&file, format!("apiVersion: kubeadm.k8s.io/v1beta4\n{document}")).expect("a file");
        let made = said(&token(plane, &["create", "--config", &file.display().to_string()]));
        assert_eq!((made.len(), made.lines().count()), (24, 1), "{document}: {made}");
    }

    let words = ["create", "ffffff.0123456789abcdef", "--print-join-command", "--certificate-key", ""];
    let ours = said(&token(plane, &words));
    said(&token(plane, &["delete", "ffffff"]));
    let theirs = said(&kubeadm(plane, &[&["token"][..], &words].concat())?);
    assert_eq!(ours, theirs);
    said(&token(plane, &["delete", "ffffff"]));
    let key = "0123456789abcdef".repeat(4);
    let with_key = [&words[..3], &["--certificate-key", &key]].concat();
    let ours = said(&token(plane, &with_key));
    said(&token(plane, &["delete", "ffffff"]));
    assert_eq!(ours, said(&kubeadm(plane, &[&["token"][..], &with_key].concat())?));
    Ok(())
}

/// An empty `--kubeconfig` is none, for kubeadm as well.
fn unnamed(plane: &ControlPlane) -> Result<()> {
    let list = |program: &Path| {
        let mut command = Command::new(program);
        command.args(["token", "list", "-o", "json", "--kubeconfig="]).env("KUBECONFIG", plane.kubeconfig());
        said(&command.output().expect("it runs"))
    };
    let theirs = list(&KUBERNETES.ensure()?.judge("kubeadm")?);
    assert!(theirs.contains("BootstrapToken"), "{theirs}");
    assert_eq!(list(Path::new(env!("CARGO_BIN_EXE_machineadm"))), theirs);
    Ok(())
}

/// Whoever may make no tokens learns which one failed.
fn denied(plane: &ControlPlane, scratch: &Path) {
    let admin = std::fs::read_to_string(plane.kubeconfig()).expect("a kubeconfig");
    let without_key = admin.lines().filter(|line| !line.contains("client-key-data:"));
    let stranger = without_key.map(|line| match line.split_once("client-certificate-data:") {
        Some((before, _)) => format!("{before}token: nobody\n"),
        None => format!("{line}\n"),
    });
    let (kubeconfig, file) = (scratch.join("stranger.conf"), scratch.join("denied.yaml"));
    std::fs::write(&kubeconfig, stranger.collect::<String>()).expect("a file");
    let document = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens:\n\
                    - {token: kkkkkk.0123456789abcdef}\n- {token: llllll.0123456789abcdef}\n";
    std::fs::write(&file, document).expect("a file");
    for words in [&["--config", &file.display().to_string()][..], &["kkkkkk.0123456789abcdef"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.args(["token", "create"]).args(words).arg("--kubeconfig").arg(&kubeconfig);
        let refused = command.output().expect("it runs");
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let complaint = text(&refused.stderr);
        assert!(complaint.starts_with("error: failed to create bootstrap token \"kkkkkk\": "), "{complaint}");
        assert!(!complaint.contains("0123456789abcdef"), "{complaint}");
    }
}

/// Whatever a description holds, ours and kubeadm's are the same; what was recorded of it is what it is still.
fn described(plane: &ControlPlane, scratch: &Path) -> Result<()> {
    let recorded: Vec<Value> =
        serde_json::from_str(include_str!("../vectors/token-list/descriptions.json")).expect("JSON");
    // kubeadm doesn't keep these.
    let texts = recorded.iter().filter_map(|case| case["text"].as_str());
    let texts = texts.filter(|text| !text.contains(['\u{85}', '\u{feff}']));
    let secret = |(number, text): (usize, &str)| {
        let id = format!("d{number:05}");
        let data = serde_json::json!({"token-id": id, "token-secret": "0123456789abcdef", "description": text});
        serde_json::json!({
            "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token", "stringData": data,
            "metadata": {"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"},
        })
    };
    let items: Vec<_> = texts.enumerate().map(secret).collect();
    let file = scratch.join("described.json");
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": items});
    std::fs::write(&file, list.to_string()).expect("a file");
    plane.kubectl(&["create", "--filename", &file.display().to_string()])?;
    for format in ["json", "yaml"] {
        let theirs = said(&kubeadm(plane, &["token", "list", "-o", format])?);
        assert!(theirs.matches("BootstrapToken").count() > items.len());
        assert_eq!(said(&token(plane, &["list", "-o", format])), theirs, "{format}");
    }
    Ok(())
}

#[test]
fn without_a_usable_kubeconfig_the_command_says_what_to_do() {
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.arg("token").args(words).output().expect("it runs")
    };
    let none = run(&["--kubeconfig", "/nonexistent/kubeconfig", "list"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("cannot read the kubeconfig /nonexistent/kubeconfig"), "{none:?}");
    let endless = run(&["list", "--kubeconfig", "/dev/zero"]);
    assert_eq!(endless.status.code(), Some(2));
    assert!(text(&endless.stderr).contains("neither a file nor a pipe"), "{endless:?}");
}

/// Whoever opens the kubeconfig waits: it is a pipe into which nobody writes.
#[test]
fn random_tokens_are_generated_without_a_server_and_without_reading_a_kubeconfig() {
    let scratch = tempfile::tempdir().expect("a folder");
    let pipe = scratch.path().join("kubeconfig");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let generate = |further: &[&str]| {
        let mut command = Command::new("timeout");
        command.args(["20", env!("CARGO_BIN_EXE_machineadm"), "token", "generate"]).args(further);
        let output = command.env("KUBECONFIG", &pipe).env("HOME", scratch.path()).output().expect("it runs");
        assert!(output.stderr.is_empty(), "{output:?}");
        said(&output)
    };
    let name = pipe.display().to_string();
    let named = ["--kubeconfig", &name, "--dry-run"];
    let tokens = [generate(&[]), generate(&[]), generate(&named), generate(&named)];
    for token in &tokens {
        assert!(is_like(r"^[a-z0-9]{6}\.[a-z0-9]{16}\n$", token), "{token}");
    }
    let halves: BTreeSet<&str> = tokens.iter().flat_map(|token| token.split('.')).collect();
    assert_eq!(halves.len(), 2 * tokens.len(), "a half of a token is the same twice: {halves:?}");
}

#[test]
fn everything_that_is_wrong_with_tokens_of_a_file_is_listed_at_once_with_its_place() {
    let scratch = tempfile::tempdir().expect("a folder");
    let file = scratch.path().join("init.yaml");
    let document = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens:\n\
                    - {token: abcdef.fedcba9876543210}\n- {token: nonsense, usages: [sining]}\n\
                    - {token: abcdef.fedcba9876543210, ttl: 1h0m0s, expires: '2099-01-01T00:00:00Z'}\n\
                    - {usages: [signing], groups: ['system:bootstrappers:x'], expires: '2001-01-01T00:00:00Z'}\n";
    std::fs::write(&file, document).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    let refused = command.args(["token", "create", "--config"]).arg(&file).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    let complaint = text(&refused.stderr);
    for problem in [
        "bootstrapTokens[1].token is not a bootstrap token",
        "bootstrapTokens[1]: `sining` is not a usage",
        "bootstrapTokens[2].ttl and expires are both set",
        "bootstrapTokens[3].expires is in the past",
        "bootstrapTokens[3]: groups need the usage authentication",
        "two tokens have the id \"abcdef\"",
    ] {
        assert!(complaint.contains(&format!("error: {problem}")), "{problem}: {complaint}");
    }
    assert!(!complaint.contains("fedcba9876543210"), "{complaint}");
}
