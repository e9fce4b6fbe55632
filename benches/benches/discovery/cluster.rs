//! A real cluster that can be discovered, with as many tokens as one wants, and what is run on it beside whom.
use machineadm_benches::{Cost, cost};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use testbed::{
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
    until,
};

const MEASURE: &str = env!("CARGO_BIN_EXE_measure");
const TOKEN: &str = "abcdef.3k9x0q2m7w5v8t1z";
const LIMIT: Duration = Duration::from_secs(60);

/// The cluster, our program and kubeadm.
pub(crate) struct Cluster {
    plane: ControlPlane,
    machineadm: PathBuf,
    kubeadm: PathBuf,
    scratch: tempfile::TempDir,
}

impl Cluster {
    /// Starts it, with this program of ours.
    pub(crate) fn start(machineadm: PathBuf) -> Result<Self, String> {
        let plane = ControlPlane::start(&Options::default()).map_err(|error| error.to_string())?;
        let kubeadm = KUBERNETES.ensure().map_err(|error| error.to_string())?.path("kubeadm");
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let cluster = Self { plane, machineadm, kubeadm, scratch };
        cluster.done(&["discovery-objects"])?;
        cluster.done(&["token", "create", TOKEN])?;
        let signature = "--output=jsonpath={.data.jws-kubeconfig-abcdef}";
        let words = ["--namespace=kube-public", "get", "configmap", "cluster-info", signature];
        let signed = until("the token is signed", LIMIT, || match cluster.plane.kubectl(&words) {
            Ok(text) if !text.is_empty() => Ok(()),
            other => Err(format!("{other:?}")),
        });
        signed.map_err(|error| error.to_string())?;
        Ok(cluster)
    }

    /// Makes so many tokens more, for authentication alone: the signer would write as many signatures.
    pub(crate) fn with_tokens(self, count: u32) -> Result<Self, String> {
        let mut text = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\nbootstrapTokens:\n".to_owned();
        for number in 0..count {
            let _ = writeln!(text, "- {{token: '{number:06}.{number:016}', usages: [authentication], ttl: 48h0m0s}}");
        }
        let file = self.file("init.yaml", &text)?;
        self.done(&["token", "create", "--config", &file])?;
        Ok(self)
    }

    fn file(&self, name: &str, text: &str) -> Result<String, String> {
        let file = self.scratch.path().join(name);
        fs::write(&file, text).map_err(|error| error.to_string())?;
        Ok(file.display().to_string())
    }

    fn kubeconfig(&self) -> String {
        self.plane.kubeconfig().display().to_string()
    }

    /// What one of our commands prints.
    fn done(&self, words: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.machineadm).args(words).args(["--kubeconfig", &self.kubeconfig()]).output();
        let output = output.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// `token list`, ours and kubeadm's.
    pub(crate) fn lists(&self, runs: u32) -> Result<[Cost; 2], String> {
        let words = ["token", "list", "--kubeconfig", &self.kubeconfig()].map(str::to_owned);
        let list = |program: &Path| accepted(cost(MEASURE, runs, program, &words)?, 0);
        Ok([list(&self.machineadm)?, list(&self.kubeadm)?])
    }

    fn join(&self) -> Result<[String; 2], String> {
        let command = self.done(&["token", "create", "--ttl", "1h", "--usages", "signing", "--print-join-command"])?;
        let words: Vec<_> = command.split(' ').collect();
        let pin = words.iter().skip_while(|word| **word != "--discovery-token-ca-cert-hash").nth(1);
        let endpoint = self.plane.url(0).map_err(|error| error.to_string())?.replace("https://", "");
        Ok([endpoint, (*pin.ok_or("no pin")?).to_owned()])
    }

    /// A whole discovery by token with a pin, ours and kubeadm's.
    ///
    /// kubeadm has no command for discovery alone. Of all that discover, this phase does the least besides: it makes no
    /// checks before, and afterwards asks for the ConfigMap kubeadm-config, which isn't there, so that it ends before it
    /// changes anything. (A dry run does more: it makes the map up, goes on, and leaves files on this machine.)
    pub(crate) fn discoveries(&self, runs: u32) -> Result<[Cost; 2], String> {
        let [endpoint, pin] = self.join()?;
        let ours = ["discover", &endpoint, "--token", TOKEN, "--discovery-token-ca-cert-hash", &pin];
        let ours = accepted(cost(MEASURE, runs, &self.machineadm, &ours)?, 0)?;
        let join = format!(
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  bootstrapToken:\n    \
             {{apiServerEndpoint: '{endpoint}', token: {TOKEN}, caCertHashes: ['{pin}']}}\n\
             nodeRegistration: {{name: w-1, criSocket: 'unix:///run/none.sock'}}\n\
             timeouts: {{kubernetesAPICall: 1s, discovery: 20s}}\n"
        );
        let file = self.file("join.yaml", &join)?;
        let theirs = ["join", "phase", "kubelet-start", "--config", &file];
        self.discovers(&theirs)?;
        Ok([ours, accepted(cost(MEASURE, runs, &self.kubeadm, &theirs)?, 1)?])
    }

    /// kubeadm fails in the end; that it has discovered the cluster before shows in its log alone.
    fn discovers(&self, words: &[&str]) -> Result<(), String> {
        let output = Command::new(&self.kubeadm).args(words).arg("-v=5").output().map_err(|error| error.to_string())?;
        let log = String::from_utf8_lossy(&output.stderr).into_owned();
        let all = ["TLS certificate validates against pinned roots", "configmaps \"kubeadm-config\" is forbidden"];
        if all.iter().all(|words| log.contains(words)) {
            Ok(())
        } else {
            Err(format!("kubeadm did not discover: {log}"))
        }
    }

    /// The floor: kubeadm that does nothing but start.
    pub(crate) fn nothing(&self, runs: u32) -> Result<Cost, String> {
        accepted(cost(MEASURE, runs, &self.kubeadm, &["version", "-o", "short"])?, 0)
    }

    /// Takes it down.
    pub(crate) fn down(self) -> Result<(), String> {
        self.plane.down().map_err(|error| error.to_string())
    }
}

/// A run that ends otherwise measures something else.
fn accepted(cost: Cost, exit: i32) -> Result<Cost, String> {
    if cost.exit == Some(exit) { Ok(cost) } else { Err(format!("exit code {:?}, not {exit}", cost.exit)) }
}
