//! A control plane whose certificates are copied, and our commands on it.
use super::gateway::Gateway;
use crate::support::{run_output::RunOutput, scratch::Scratch};
use cluster::{ApiServer, Kubeconfig, Timeouts};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
};

/// For conditions that take seconds at most; this is for a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// Certificate keys: of what must be there in the end, and of runs that are disturbed.
pub(crate) const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";
pub(crate) const OTHER_KEY: &str = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

/// The control plane, and a directory for what a test writes.
pub(crate) struct Bed {
    pub(crate) plane: ControlPlane,
    pub(crate) scratch: Scratch,
}

impl Bed {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { plane: ControlPlane::start(&Options::default())?, scratch: Scratch::new("certs-faults") })
    }

    /// A connection of the test's own, past every gateway.
    pub(crate) fn connect(&self) -> ApiServer {
        ApiServer::connect(Kubeconfig::load(&self.plane.kubeconfig()).unwrap(), Timeouts::default()).unwrap()
    }

    /// One of our commands, with a kubeconfig.
    pub(crate) fn command(&self, kubeconfig: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.args(words).arg("--kubeconfig").arg(kubeconfig);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// `certs upload` of the control plane's own files under a key.
    pub(crate) fn upload(&self, kubeconfig: &Path, key: &str) -> Command {
        let (pki, file) = (self.plane.pki().display().to_string(), self.private_file(&key[..8], key));
        let words = ["certs", "upload", "--cert-dir", &pki, "--certificate-key-file", &file];
        self.command(kubeconfig, &words)
    }

    /// A whole upload that nothing disturbs.
    pub(crate) fn upload_undisturbed(&self) {
        let ended = RunOutput::of(self.upload(&self.plane.kubeconfig(), KEY).output().unwrap());
        assert_eq!((ended.code, ended.stdout), (Some(0), format!("{KEY}\n")), "{}", ended.stderr);
    }

    /// `certs delete`, so that the next upload finds nothing.
    pub(crate) fn delete(&self) {
        let ended = RunOutput::of(self.command(&self.plane.kubeconfig(), &["certs", "delete"]).output().unwrap());
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }

    /// A kubeconfig that leads through a gateway.
    pub(crate) fn through(&self, gateway: &Gateway, name: &str) -> PathBuf {
        self.private_file(name, &gateway.kubeconfig()).into()
    }

    /// A file that only its owner reads.
    pub(crate) fn private_file(&self, name: &str, text: &str) -> String {
        let path = self.scratch.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    }
}
