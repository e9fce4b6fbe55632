//! A control plane with certificates to copy, and the machine that shall get them.
use crate::support::{run_output::RunOutput, scratch::Scratch};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
};

/// The files of a control plane node with stacked etcd, in the order in which machineadm names them.
pub(crate) const FILES: [&str; 8] =
    ["ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key", "etcd/ca.crt", "etcd/ca.key"];

/// A certificate key of no other cluster.
pub(crate) const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";

/// The control plane, and a directory for what a test writes.
pub(crate) struct CertsBed {
    pub(crate) plane: ControlPlane,
    pub(crate) scratch: Scratch,
    /// A join token, and the pin of the cluster's CA.
    pub(crate) token: String,
    pub(crate) pin: String,
}

impl CertsBed {
    /// A cluster whose kubeadm-config, written by real kubeadm, has the usual certificates directory.
    pub(crate) fn new(options: &Options) -> Result<Self> {
        let plane = ControlPlane::start(options)?;
        let scratch = Scratch::new("certs");
        let mut bed = Self { plane, scratch, token: String::new(), pin: String::new() };
        bed.upload_config(|text| text)?;
        let made = bed.admin(&["discovery-objects"]);
        assert_eq!(made.code, Some(0), "{made:?}");
        let joined = bed.admin(&["token", "create", "--print-join-command"]);
        assert_eq!(joined.code, Some(0), "{joined:?}");
        let words: Vec<_> = joined.stdout.split_whitespace().collect();
        let after = |flag: &str| words[words.iter().position(|word| *word == flag).expect(flag) + 1].to_owned();
        (bed.token, bed.pin) = (after("--token"), after("--discovery-token-ca-cert-hash"));
        Ok(bed)
    }

    /// Lets real kubeadm write kubeadm-config, with a change to its configuration file.
    pub(crate) fn upload_config(&self, change: impl Fn(String) -> String) -> Result<()> {
        let own = self.plane.pki();
        let text = fs::read_to_string(own.with_file_name("kubeadm.yaml")).expect("the plane's configuration");
        let text = text.replace(&own.display().to_string(), "/etc/kubernetes/pki");
        let file = self.scratch.path().join("kubeadm.yaml");
        fs::write(&file, change(text)).expect("a file");
        let mut kubeadm = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
        kubeadm.args(["init", "phase", "upload-config", "all", "--config"]).arg(&file);
        let ended =
            RunOutput::of(kubeadm.arg("--kubeconfig").arg(self.plane.kubeconfig()).output().expect("it starts"));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        Ok(())
    }

    /// The root of the joining machine.
    pub(crate) fn machine(&self) -> PathBuf {
        let root = self.scratch.path().join("machine");
        fs::create_dir_all(&root).expect("a root");
        root
    }

    /// Where the cluster wants certificates on the joining machine.
    pub(crate) fn target(&self) -> PathBuf {
        self.machine().join("etc/kubernetes/pki")
    }

    /// A command of ours with the administrator's rights.
    pub(crate) fn admin(&self, words: &[&str]) -> RunOutput {
        RunOutput::of(self.admin_command(words).output().expect("it starts"))
    }

    pub(crate) fn admin_command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.args(words).arg("--kubeconfig").arg(self.plane.kubeconfig()).stdin(Stdio::null());
        command
    }

    /// `certs upload` of this control plane's own files, with a given key.
    pub(crate) fn upload(&self, further: &[&str]) -> RunOutput {
        let pki = self.plane.pki();
        let key = self.key_file();
        let words = ["certs", "upload", "--cert-dir", &pki.display().to_string(), "--certificate-key-file", &key];
        self.admin(&[&words[..], further].concat())
    }

    /// `certs download` on the joining machine, discovering by token.
    pub(crate) fn download(&self, further: &[&str]) -> RunOutput {
        RunOutput::of(self.download_command(further).output().expect("it starts"))
    }

    pub(crate) fn download_command(&self, further: &[&str]) -> Command {
        let endpoint = self.plane.url(0).expect("an API server");
        let (key, token) = (self.key_file(), self.file("token", &self.token));
        let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
        command.args([
            "certs",
            "download",
            &endpoint,
            "--token-file",
            &token,
            "--discovery-token-ca-cert-hash",
            &self.pin,
        ]);
        command.args(["--certificate-key-file", &key, "--root"]).arg(self.machine()).args(further).stdin(Stdio::null());
        command
    }

    pub(crate) fn key_file(&self) -> String {
        self.file("key", KEY)
    }

    /// A file that only its owner reads.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.scratch.path().join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
        path.display().to_string()
    }

    /// Whether a directory has all files of the control plane, and with the right modes.
    pub(crate) fn is_copied(&self, directory: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt;
        FILES.iter().all(|name| {
            let (own, copy) = (self.plane.pki().join(name), directory.join(name));
            let mode = if name.ends_with(".key") { 0o600 } else { 0o644 };
            fs::read(own).expect("a file of the plane") == fs::read(&copy).unwrap_or_default()
                && copy.metadata().expect("a file").permissions().mode() & 0o7777 == mode
        })
    }
}
