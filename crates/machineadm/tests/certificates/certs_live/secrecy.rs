//! The certificate key and the private keys after a whole copy: nowhere but in the files of their owners.
use super::{
    look::{COPY, done, ttl_tokens},
    tap::Tap,
};
use crate::support::{
    certs_bed::{CertsBed, KEY},
    run_output::RunOutput,
};
use base64::{Engine, prelude::BASE64_STANDARD, prelude::BASE64_STANDARD_NO_PAD};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use testbed::{Result, control_plane::Options, fake::Seen};

#[test]
fn the_key_is_in_no_object_log_request_argument_environment_or_readable_file() -> Result<()> {
    testbed::needs!(ControlPlane, Judge("strace"));
    let bed = CertsBed::new(&Options::default())?;
    let watched = Watched::new(&bed)?;
    let ca_key = fs::read_to_string(bed.plane.pki().join("ca.key")).unwrap();
    // A line of base64 in the middle of the private key.
    let private = ca_key.lines().nth(1).unwrap();
    let forms = [forms(KEY.as_bytes()), forms(&objects::hex::decode::<32>(KEY).unwrap()), forms(private.as_bytes())];
    let [key, raw, private] = forms;
    let key = [key, raw].concat();
    every_form_is_found(&bed, &[&key[..], &private].concat());

    two_uploads_at_once_share_no_nonce(&watched)?;
    watched.whole_copy();
    let plane = bed.plane.pki().parent().unwrap().to_owned();
    let evidence = watched.evidence();
    watched.objects_of_the_cluster()?;
    // What shows that etcd's files are searched as they are now.
    assert!(!files_with(&[b"kubeadm:kubeadm-certs".to_vec()], &plane.join("etcd")).is_empty());
    // Requests, objects, outputs, arguments and environments; etcd's files, and the logs of every program.
    assert_eq!(files_with(&key, &evidence), Vec::<PathBuf>::new());
    assert_eq!(files_with(&key, &plane), Vec::<PathBuf>::new());
    assert_eq!(files_with(&key, bed.scratch.path()), [PathBuf::from(bed.key_file())]);
    assert_eq!(files_with(&private, &evidence), Vec::<PathBuf>::new());
    assert_eq!(files_with(&private, &plane), [bed.plane.pki().join("ca.key")]);
    assert_eq!(files_with(&private, bed.scratch.path()), [bed.target().join("ca.key")]);
    for file in [bed.key_file().into(), bed.target().join("ca.key")] {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, 0o600, "{}", file.display());
    }
    bed.plane.down()
}

/// Commands whose requests, words, arguments and environments are kept.
struct Watched<'a> {
    bed: &'a CertsBed,
    tap: Tap,
}

impl<'a> Watched<'a> {
    fn new(bed: &'a CertsBed) -> Result<Self> {
        let watched = Self { bed, tap: Tap::before(&bed.plane)? };
        fs::create_dir(watched.evidence()).unwrap();
        Ok(watched)
    }

    fn evidence(&self) -> PathBuf {
        self.bed.scratch.path().join("evidence")
    }

    /// `certs upload` with a key that is not printed.
    fn upload(&self) -> Command {
        let (pki, key) = (self.bed.plane.pki().display().to_string(), self.bed.key_file());
        let mut command = self.command(&self.tap.administrator(), &["upload", "--cert-dir", &pki]);
        command.args(["--certificate-key-file", &key, "--skip-certificate-key-print"]);
        command
    }

    /// A command below strace, which writes down every program that is started.
    fn command(&self, kubeconfig: &str, words: &[&str]) -> Command {
        let name = format!("kubeconfig-{}", words[0]);
        let kubeconfig = self.bed.file(&name, kubeconfig);
        let mut command = testbed::judges::command("strace").unwrap();
        command.args(["-ff", "-v", "-s", "100000", "-e", "trace=execve,connect", "-o"]);
        command.arg(self.evidence().join(format!("started-{}", words[0])));
        command.arg(env!("CARGO_BIN_EXE_machineadm")).arg("certs").args(words).args(["--kubeconfig", &kubeconfig]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, name: &str, mut command: Command) {
        let ran = done(RunOutput::of(command.output().unwrap()));
        fs::write(self.evidence().join(format!("printed-{name}")), format!("{ran:?}")).unwrap();
    }

    fn whole_copy(&self) {
        self.run("upload", self.upload());
        let (root, key) = (self.bed.machine().display().to_string(), self.bed.key_file());
        let words = ["download", "--certificate-key-file", &key, "--root", &root];
        let before = self.tap.seen().len();
        self.run("download", self.command(&self.tap.holder(&self.bed.token), &words));
        assert!(self.bed.is_copied(&self.bed.target()));
        self.asked_as_a_holder_only(&self.tap.seen()[before..]);
        self.run("list", self.command(&self.tap.administrator(), &["list", "-o", "json"]));
        self.run("delete", self.command(&self.tap.administrator(), &["delete", "-o", "json"]));
        self.run("upload-again", self.upload());
        let seen = self.tap.seen();
        assert!(copies(&seen).len() >= 4, "{} requests were seen", seen.len());
        let text = |seen: &Seen| [seen.head.as_bytes(), &seen.body, b"\n"].concat();
        fs::write(self.evidence().join("requests"), seen.iter().flat_map(text).collect::<Vec<u8>>()).unwrap();
        let started: Vec<_> = fs::read_dir(self.evidence()).unwrap().map(|entry| entry.unwrap().path()).collect();
        let started = started.iter().filter(|path| path.to_string_lossy().contains("/started-"));
        let traces: Vec<_> = started.map(|path| fs::read_to_string(path).unwrap()).collect();
        assert!(traces.iter().filter(|trace| trace.contains("execve(")).count() >= 4);
        self.spoke_to_the_api_server_only(&traces);
    }

    /// No command has acted on another machine: the one address that it has connected to is the API server's.
    fn spoke_to_the_api_server_only(&self, traces: &[String]) {
        let lines = traces.iter().flat_map(|trace| trace.lines());
        let connected: BTreeSet<_> = lines.filter(|line| line.contains("connect(")).collect();
        let to_api_server = format!("sin_port=htons({}), sin_addr=inet_addr(\"127.0.0.1\")", self.tap.port());
        let others: Vec<_> = connected.iter().filter(|line| !line.contains(&to_api_server)).collect();
        assert!(!connected.is_empty() && others.is_empty(), "{others:?}");
    }

    /// A joining machine reads two objects, with its bootstrap token and no other identity.
    fn asked_as_a_holder_only(&self, seen: &[Seen]) {
        let bearer = format!("Bearer {}", self.bed.token);
        let is_holder = |seen: &Seen| !seen.identified && seen.header("Authorization") == Some(&bearer);
        assert!(seen.iter().all(is_holder), "{seen:?}");
        let asked: Vec<_> = seen.iter().filter_map(|seen| seen.head.split(" HTTP/").next()).collect();
        let of = "GET /api/v1/namespaces/kube-system";
        assert_eq!(asked, [format!("{of}/configmaps/kubeadm-config"), format!("{of}/secrets/kubeadm-certs")]);
    }

    fn objects_of_the_cluster(&self) -> Result<()> {
        let words = ["get", "secrets,configmaps,events", "--all-namespaces", "--output=json"];
        let objects = self.bed.plane.kubectl(&words)?;
        assert!(objects.contains("\"kubeadm-certs\"") && objects.contains("\"kubeadm-config\""));
        fs::write(self.evidence().join("objects"), objects).unwrap();
        Ok(())
    }
}

/// The entries of every copy that was sent.
fn copies(seen: &[Seen]) -> Vec<Value> {
    let sent = seen.iter().filter(|seen| !seen.body.is_empty());
    let sent = sent.filter_map(|seen| serde_json::from_slice::<Value>(&seen.body).ok());
    sent.filter(|object| object["kind"] == "Secret" && object["metadata"]["name"] == "kubeadm-certs")
        .map(|object| object["data"].clone())
        .collect()
}

/// Both begin when there is no copy, and each encrypts the whole set under the same key.
fn two_uploads_at_once_share_no_nonce(watched: &Watched<'_>) -> Result<()> {
    let uploads = [watched.upload(), watched.upload()];
    for upload in uploads.map(|mut upload| upload.spawn().unwrap()) {
        done(RunOutput::of(upload.wait_with_output().unwrap()));
    }
    let copies = copies(&watched.tap.seen());
    let entries = copies.iter().flat_map(|copy| copy.as_object().unwrap().values());
    let entry = |value: &Value| BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap();
    let nonces: Vec<Vec<u8>> = entries.map(|value| entry(value)[..12].to_vec()).collect();
    assert!(copies.len() >= 2 && nonces.len() == 8 * copies.len(), "{} copies", copies.len());
    assert_eq!(nonces.iter().collect::<BTreeSet<_>>().len(), nonces.len(), "{nonces:?}");
    // The copy that is left has a live owner.
    let secrets = watched.bed.secrets()?;
    let owner = &secrets[COPY]["metadata"]["ownerReferences"][0]["uid"];
    assert!(ttl_tokens(&secrets).iter().any(|token| token["metadata"]["uid"] == *owner), "{owner}");
    Ok(())
}

/// As it is, in hexadecimal of either case, and in base64 at each of the three places where it can begin.
fn forms(secret: &[u8]) -> Vec<Vec<u8>> {
    let hex = objects::hex::encode(secret);
    let shifted = (0..3).map(|before| {
        let whole = BASE64_STANDARD_NO_PAD.encode([&vec![0; before], secret].concat());
        // Letters that also depend on what stands before and behind are left out.
        whole.as_bytes()[(before * 8usize).div_ceil(6)..(before + secret.len()) * 8 / 6].to_vec()
    });
    [secret.to_vec(), hex.to_uppercase().into_bytes(), hex.into_bytes()].into_iter().chain(shifted).collect()
}

/// The files below a directory that hold one of these, in order.
fn files_with(forms: &[Vec<u8>], directory: &Path) -> Vec<PathBuf> {
    let patterns = tempfile::NamedTempFile::new().unwrap();
    fs::write(patterns.path(), forms.join(&b'\n')).unwrap();
    let mut grep = Command::new("grep");
    grep.env("LC_ALL", "C").args(["-rlaF", "-f"]).arg(patterns.path()).arg(directory);
    let found = grep.output().unwrap();
    assert!(matches!(found.status.code(), Some(0 | 1)), "{found:?}");
    let mut files: Vec<_> = String::from_utf8(found.stdout).unwrap().lines().map(PathBuf::from).collect();
    files.sort();
    files
}

/// What shows that a search finds what it looks for.
fn every_form_is_found(bed: &CertsBed, forms: &[Vec<u8>]) {
    let directory = bed.scratch.path().join("control");
    fs::create_dir(&directory).unwrap();
    for (number, form) in forms.iter().enumerate() {
        assert!(!form.contains(&b'\n'), "grep looks for lines");
        fs::write(directory.join(format!("{number:02}")), [b"\x00\xff", &form[..], b"\x00\n"].concat()).unwrap();
    }
    assert_eq!(files_with(forms, &directory).len(), forms.len());
    fs::remove_dir_all(directory).unwrap();
}
