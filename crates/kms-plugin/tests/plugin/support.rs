//! The plugin as a process, and kube-apiserver's own client as its judge.
use base64::{Engine, prelude::BASE64_STANDARD};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use testbed::programs::KMS_CLIENT;
use testbed::softhsm::{CONFIGURATION, FAULT, SoftHsm, TOKEN};
use testbed::{copy_program, until};

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A directory with keys, a configuration, and at most one plugin that serves it.
pub(crate) struct Plugin {
    pub(crate) directory: TempDir,
    /// Where its keys are, if not in files.
    pub(crate) token: Option<SoftHsm>,
    child: Option<Child>,
}

impl Plugin {
    /// Key files and a configuration with these keys: name and further fields of each.
    pub(crate) fn new(keys: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        for (at, (name, _)) in keys.iter().enumerate() {
            write_keys(&directory.path().join(format!("{name}.keys")), &[u8::try_from(at).unwrap() + 1]);
        }
        let plugin = Self { directory, token: None, child: None };
        plugin.configure(keys, "");
        plugin
    }

    /// The same with keys on a new token of SoftHSM: a label for each, and the same material.
    pub(crate) fn on_token(keys: &[(&str, &str)]) -> Self {
        let directory = TempDir::new().unwrap();
        let token = SoftHsm::create(directory.path()).unwrap();
        for (at, (name, _)) in keys.iter().enumerate() {
            token.import(name, "01", &[u8::try_from(at).unwrap() + 1; 32]).unwrap();
        }
        let plugin = Self { directory, token: Some(token), child: None };
        plugin.configure(keys, "");
        plugin
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn socket(&self, key: &str) -> PathBuf {
        self.path(&format!("{key}.sock"))
    }

    /// Writes the configuration, by rename.
    pub(crate) fn configure(&self, keys: &[(&str, &str)], further: &str) {
        let here = self.directory.path().display();
        let mut text = format!(
            "apiVersion: kms.machineadm.cluster.x-k8s.io/v1alpha1\nkind: PluginConfiguration\n{further}keys:\n"
        );
        for (name, fields) in keys {
            let service = match &self.token {
                None => format!("file: {{path: {here}/{name}.keys}}"),
                Some(token) => format!(
                    "pkcs11: {{module: {}, tokenLabel: {TOKEN}, pinFile: {}, keyLabel: {name}}}",
                    token.module().display(),
                    token.pin_file().display()
                ),
            };
            text += &format!("- name: {name}\n  socket: {here}/{name}.sock\n  {service}\n{fields}");
        }
        fs::write(self.path("new.yaml"), text).unwrap();
        fs::rename(self.path("new.yaml"), self.path("kms.yaml")).unwrap();
    }

    /// The keys of a file, the first of which encrypts.
    pub(crate) fn keys(&self, key: &str, list: &[u8]) {
        write_keys(&self.path(&format!("{key}.keys")), list);
    }

    /// A newer key, with material 2; the old one stays.
    pub(crate) fn rotate(&self, key: &str) {
        match &self.token {
            None => self.keys(key, &[2, 1]),
            Some(token) => token.import(key, "02", &[2; 32]).unwrap(),
        }
    }

    /// The first key encrypts again.
    pub(crate) fn rotate_back(&self, key: &str) {
        match &self.token {
            None => self.keys(key, &[1, 2]),
            Some(token) => token.delete(key, "02").unwrap(),
        }
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm-kms-plugin"));
        command.arg("--config").arg(self.path("kms.yaml"));
        command.envs(
            self.token.iter().flat_map(|token| [(CONFIGURATION, token.configuration()), (FAULT, self.path("fault"))]),
        );
        command
    }

    pub(crate) fn check(&self) -> Output {
        self.command().arg("--check").output().unwrap()
    }

    pub(crate) fn start(&mut self) {
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        self.start_with_log(log);
    }

    pub(crate) fn start_with_log(&mut self, log: impl Into<Stdio>) {
        assert!(self.child.is_none());
        self.child = Some(self.command().stderr(log).spawn().unwrap());
    }

    /// Starts it as another user, to whom all of its files belong.
    pub(crate) fn start_as(&mut self, user: u32) {
        let program = self.path("plugin");
        copy_program(Path::new(env!("CARGO_BIN_EXE_machineadm-kms-plugin")), &program).unwrap();
        let files = fs::read_dir(self.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        for path in files.chain([self.directory.path().to_owned()]) {
            chown(path, Some(user), Some(user)).unwrap();
        }
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut command = Command::new(program);
        command.arg("--config").arg(self.path("kms.yaml")).uid(user).gid(user).stderr(log);
        self.child = Some(command.spawn().unwrap());
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.id().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.child.take().unwrap().wait().unwrap()
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        if self.child.is_some() {
            self.kill();
        }
    }
}

fn write_keys(path: &Path, list: &[u8]) {
    let entry = |byte: &u8| format!("- {{name: k{byte}, secret: {}}}\n", BASE64_STANDARD.encode([*byte; 32]));
    let new = path.with_extension("new");
    fs::write(&new, format!("keys:\n{}", list.iter().map(entry).collect::<String>())).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(new, path).unwrap();
}

/// kube-apiserver's own client.
pub(crate) struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    pub(crate) fn new() -> Self {
        let program = KMS_CLIENT.ensure().unwrap().judge("kms-client").unwrap();
        let mut child =
            Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// One that is connected to a socket.
    pub(crate) fn of(socket: &Path) -> Self {
        let mut client = Self::new();
        assert_eq!(error(&client.ask(&json!({"do": "connect", "socket": socket}))), "");
        client
    }

    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        writeln!(self.input, "{request}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    pub(crate) fn status(&mut self) -> Value {
        self.ask(&json!({"do": "status"}))
    }

    /// Waits until Status reports a healthy key, other than the one before; its id.
    pub(crate) fn healthy(&mut self, before: &str) -> String {
        let what = "Status reports a healthy key";
        until(what, LIMIT, || {
            let status = self.status();
            let id = status["keyID"].as_str().unwrap_or_default();
            if error(&status).is_empty() && id != before { Ok(id.to_owned()) } else { Err(status.to_string()) }
        })
        .unwrap()
    }

    /// Waits until kube-apiserver would call the key unhealthy for this reason; what it was told.
    pub(crate) fn unhealthy(&mut self, reason: &str) -> Value {
        until(&format!("Status says {reason}"), LIMIT, || {
            let status = self.status();
            if error(&status).contains(reason) { Ok(status) } else { Err(status.to_string()) }
        })
        .unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why kube-apiserver refuses an answer; empty if it accepts it.
pub(crate) fn error(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_default()
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

pub(crate) fn data(answer: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(answer["data"].as_str().unwrap_or_default()).unwrap()
}
