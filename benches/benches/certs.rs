//! Upload and download of a whole certificate set, beside the phases of a real kubeadm on a real cluster.
use machineadm_benches::{Cost, cost, static_machineadm};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use testbed::{
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
};

const MEASURE: &str = env!("CARGO_BIN_EXE_measure");
const RUNS: u32 = 20;
const KEY: &str = "e6a2eb8581237ab72a4f494f30285ec12a9694d750b9785706a83bfcbbbd2204";

fn main() -> Result<(), String> {
    let bench = Bench::start()?;
    let uploads = [bench.our_upload()?, bench.their_upload()?];
    let downloads = [bench.our_download()?, bench.their_download()?];
    bench.plane.down().map_err(|error| error.to_string())?;
    println!("| {RUNS} runs each | CPU per run | slowest run | peak memory | CPU, times ours |");
    println!("|---|---|---|---|---|");
    let [ours, theirs] = uploads;
    row("machineadm certs upload, which also sees a canary deleted", &ours, &ours);
    row("kubeadm init phase upload-certs", &theirs, &ours);
    let [ours, theirs] = downloads;
    row("machineadm certs download, with discovery by token and pin", &ours, &ours);
    row("kubeadm join phase control-plane-prepare download-certs", &theirs, &ours);
    println!("\ntarget: at least 3 times less CPU than kubeadm, each");
    Ok(())
}

fn row(name: &str, cost: &Cost, ours: &Cost) {
    let Cost { cpu_ms, slowest_ms, peak_mb, .. } = cost;
    println!("| {name} | {cpu_ms:.1} ms | {slowest_ms:.0} ms | {peak_mb:.1} MB | {:.1} |", cpu_ms / ours.cpu_ms);
}

/// A cluster whose kubeadm-config names a directory of ours for certificates.
struct Bench {
    plane: ControlPlane,
    machineadm: PathBuf,
    kubeadm: PathBuf,
    scratch: tempfile::TempDir,
    endpoint: String,
    token: String,
    pin: String,
}

impl Bench {
    fn start() -> Result<Self, String> {
        let text = |error: testbed::Error| error.to_string();
        let machineadm = static_machineadm()?;
        let plane = ControlPlane::start(&Options::default()).map_err(text)?;
        let kubeadm = KUBERNETES.ensure().map_err(text)?.path("kubeadm");
        let endpoint = plane.url(0).map_err(text)?.replace("https://", "");
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut bench =
            Self { plane, machineadm, kubeadm, scratch, endpoint, token: String::new(), pin: String::new() };
        let config = fs::read_to_string(bench.config()).map_err(|error| error.to_string())?;
        let own = bench.plane.pki().display().to_string();
        let joining = bench.file("joining.yaml", &config.replace(&own, &bench.target().display().to_string()))?;
        let (theirs, ours) = (bench.kubeadm.clone(), bench.machineadm.clone());
        bench.done(&theirs, &["init", "phase", "upload-config", "all", "--config", &joining])?;
        bench.done(&ours, &["discovery-objects"])?;
        let joined = bench.done(&ours, &["token", "create", "--print-join-command"])?;
        let after = |flag| joined.split_whitespace().skip_while(|word| *word != flag).nth(1).map(str::to_owned);
        bench.token = after("--token").ok_or("no token")?;
        bench.pin = after("--discovery-token-ca-cert-hash").ok_or("no pin")?;
        Ok(bench)
    }

    /// What a program with all rights prints.
    fn done(&self, program: &Path, words: &[&str]) -> Result<String, String> {
        let output = Command::new(program).args(words).arg("--kubeconfig").arg(self.plane.kubeconfig()).output();
        let output = output.map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// kubeadm's file that the control plane was made by.
    fn config(&self) -> PathBuf {
        self.plane.pki().with_file_name("kubeadm.yaml")
    }

    /// Where the joining machine has its certificates.
    fn target(&self) -> PathBuf {
        self.scratch.path().join("pki")
    }

    fn file(&self, name: &str, text: &str) -> Result<String, String> {
        use std::os::unix::fs::PermissionsExt;
        let file = self.scratch.path().join(name);
        fs::write(&file, text).map_err(|error| error.to_string())?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).map_err(|error| error.to_string())?;
        Ok(file.display().to_string())
    }

    fn our_upload(&self) -> Result<Cost, String> {
        let (pki, kubeconfig) = (self.plane.pki().display().to_string(), self.plane.kubeconfig().display().to_string());
        let key = self.file("key", KEY)?;
        let words =
            ["certs", "upload", "--cert-dir", &pki, "--certificate-key-file", &key, "--kubeconfig", &kubeconfig];
        accepted(cost(MEASURE, RUNS, &self.machineadm, &words)?)
    }

    fn their_upload(&self) -> Result<Cost, String> {
        let (config, kubeconfig) = (self.config().display().to_string(), self.plane.kubeconfig().display().to_string());
        let text = fs::read_to_string(&config).map_err(|error| error.to_string())?;
        let head = "kind: InitConfiguration\n";
        if !text.contains(head) {
            return Err("the control plane's file has no InitConfiguration".to_owned());
        }
        let config = self.file("upload.yaml", &text.replace(head, &format!("{head}certificateKey: {KEY}\n")))?;
        let words =
            ["init", "phase", "upload-certs", "--upload-certs", "--config", &config, "--kubeconfig", &kubeconfig];
        accepted(cost(MEASURE, RUNS, &self.kubeadm, &words)?)
    }

    /// Each run writes all files: those of the run before are removed.
    fn our_download(&self) -> Result<Cost, String> {
        let (token, key) = (self.file("token", &self.token)?, self.file("key", KEY)?);
        let words = ["certs", "download", &self.endpoint, "--token-file", &token, "--certificate-key-file", &key];
        let words = [&words[..], &["--discovery-token-ca-cert-hash", &self.pin]].concat();
        self.mean(&self.machineadm, &words)
    }

    fn their_download(&self) -> Result<Cost, String> {
        let Self { endpoint, token, pin, .. } = self;
        let join = format!(
            "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  bootstrapToken:\n    \
             {{apiServerEndpoint: '{endpoint}', token: {token}, caCertHashes: ['{pin}']}}\n\
             controlPlane: {{certificateKey: {KEY}, localAPIEndpoint: {{advertiseAddress: 192.0.2.1}}}}\n\
             nodeRegistration: {{name: cp-2, criSocket: 'unix:///run/none.sock'}}\n"
        );
        let join = self.file("join.yaml", &join)?;
        self.mean(&self.kubeadm, &["join", "phase", "control-plane-prepare", "download-certs", "--config", &join])
    }

    fn mean(&self, program: &Path, words: &[&str]) -> Result<Cost, String> {
        let mut total: Option<Cost> = None;
        for _ in 0..RUNS {
            if self.target().exists() {
                fs::remove_dir_all(self.target()).map_err(|error| error.to_string())?;
            }
            let run = accepted(cost(MEASURE, 1, program, words)?)?;
            if !self.target().join("etcd/ca.key").exists() {
                return Err(format!("{} wrote no certificates", program.display()));
            }
            total = Some(total.map_or(run, |so_far| Cost {
                cpu_ms: so_far.cpu_ms + run.cpu_ms,
                peak_mb: so_far.peak_mb.max(run.peak_mb),
                slowest_ms: so_far.slowest_ms.max(run.slowest_ms),
                exit: run.exit,
            }));
        }
        let total = total.ok_or("no runs")?;
        Ok(Cost { cpu_ms: total.cpu_ms / f64::from(RUNS), ..total })
    }
}

/// A run that fails measures something else.
fn accepted(cost: Cost) -> Result<Cost, String> {
    if cost.exit == Some(0) { Ok(cost) } else { Err(format!("exit code {:?}", cost.exit)) }
}
