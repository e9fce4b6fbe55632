//! The copy goes from us to a real kubeadm and from a real kubeadm to us, for stacked and for external etcd.
use super::look::{COPY, done, entries, ttl_tokens};
use crate::support::{
    certs_bed::{CertsBed, KEY},
    run_output::RunOutput,
};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};
use testbed::{
    Result,
    control_plane::Options,
    programs::{KUBEADM_1_21, KUBEADM_1_26, KUBEADM_1_30, KUBEADM_1_31, KUBEADM_1_37, KUBERNETES, Set},
};

/// A real kubeadm, and the API version of its configuration.
type Kubeadm = (&'static Set, &'static str);

#[test]
fn certificates_are_exchanged_with_kubeadms_in_use_in_both_directions() -> Result<()> {
    testbed::needs!(ControlPlane, Pinned(&KUBEADM_1_30), Pinned(&KUBEADM_1_37));
    exchange_with(&[(&KUBEADM_1_30, "v1beta3"), (&KUBERNETES, "v1beta4"), (&KUBEADM_1_37, "v1beta4")])
}

#[test]
#[ignore = "long tier: kubeadm 1.21, 1.26 and 1.31"]
fn certificates_are_exchanged_with_old_kubeadms_in_both_directions() -> Result<()> {
    testbed::needs!(ControlPlane, Pinned(&KUBEADM_1_21), Pinned(&KUBEADM_1_26), Pinned(&KUBEADM_1_31));
    exchange_with(&[(&KUBEADM_1_21, "v1beta2"), (&KUBEADM_1_26, "v1beta3"), (&KUBEADM_1_31, "v1beta4")])
}

fn exchange_with(kubeadms: &[Kubeadm]) -> Result<()> {
    let bed = CertsBed::new(&Options::default())?;
    bed.let_old_kubeadms_join()?;
    let joining = tempfile::tempdir().unwrap();
    for kubeadm in kubeadms {
        for etcd in [Etcd::Stacked, Etcd::External] {
            let exchange = Exchange { bed: &bed, kubeadm: *kubeadm, etcd, joining: joining.path().join("node") };
            exchange.tell_where_certificates_belong()?;
            exchange.kubeadm_downloads_ours()?;
            exchange.we_download_kubeadms()?;
            exchange.ours_replaces_kubeadms()?;
        }
    }
    bed.plane.down()
}

impl CertsBed {
    /// Kubeadm before 1.24 reads the kubelet's configuration from a ConfigMap of its version, and all read it with
    /// rights that a phase gives which needs a node.
    fn let_old_kubeadms_join(&self) -> Result<()> {
        let kubelet = "--from-literal=kubelet=apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
        self.plane.kubectl(&["--namespace=kube-system", "create", "configmap", "kubelet-config-1.21", kubelet])?;
        let group = "--group=system:bootstrappers:kubeadm:default-node-token";
        self.plane.kubectl(&["create", "clusterrole", "maps", "--verb=get", "--resource=configmaps"])?;
        self.plane.kubectl(&["create", "clusterrolebinding", "maps", "--clusterrole=maps", group]).map(drop)
    }
}

/// Where etcd runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Etcd {
    Stacked,
    External,
}

/// Where a node has its files: the certificates directory, and those for external etcd.
struct Places {
    pki: PathBuf,
    etcd: [PathBuf; 3],
}

impl Places {
    /// Those of the control plane of the test bed.
    fn of_plane(bed: &CertsBed) -> Self {
        let pki = bed.plane.pki();
        let etcd = ["etcd/ca.crt", "apiserver-etcd-client.crt", "apiserver-etcd-client.key"];
        Self { etcd: etcd.map(|name| pki.join(name)), pki }
    }

    /// Those of a joining node. The files for external etcd are not below the certificates directory.
    fn below(directory: &Path) -> Self {
        let etcd = ["ca.crt", "client.crt", "client.key"];
        Self { pki: directory.join("pki"), etcd: etcd.map(|name| directory.join("external").join(name)) }
    }

    /// All files that belong on a node.
    fn files(&self, etcd: Etcd) -> Vec<PathBuf> {
        let shared = ["ca.crt", "ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.pub", "sa.key"];
        let shared = shared.map(|name| self.pki.join(name));
        let more = match etcd {
            Etcd::Stacked => ["etcd/ca.crt", "etcd/ca.key"].map(|name| self.pki.join(name)).to_vec(),
            Etcd::External => self.etcd.to_vec(),
        };
        [shared.to_vec(), more].concat()
    }
}

struct Exchange<'a> {
    bed: &'a CertsBed,
    kubeadm: Kubeadm,
    etcd: Etcd,
    /// The node that joins, by its paths in kubeadm-config. A real kubeadm writes there, so they are a test's own.
    joining: PathBuf,
}

impl Exchange<'_> {
    /// What kubeadm writes into kubeadm-config: the paths of joining nodes.
    fn tell_where_certificates_belong(&self) -> Result<()> {
        let config = self.init_configuration(&Places::below(&self.joining));
        // Before 1.22, kubeadm updates only a map with a ClusterStatus, which later ones do not write.
        let words = ["--namespace=kube-system", "delete", "configmap", "kubeadm-config", "--ignore-not-found"];
        self.bed.plane.kubectl(&words)?;
        self.kubeadm(&["init", "phase", "upload-config", "kubeadm", "--config", &config], Rights::Administrator)
    }

    fn kubeadm_downloads_ours(&self) -> Result<()> {
        let config = self.init_configuration(&Places::of_plane(self.bed));
        let uploaded = done(self.bed.admin(&["certs", "upload", "--config", &config]));
        assert_eq!(uploaded.stdout, format!("{KEY}\n"));
        self.has_its_entries()?;
        let config = self.join_configuration()?;
        let words = ["join", "phase", "control-plane-prepare", "download-certs", "--config", &config];
        self.kubeadm(&words, Rights::OfToken)?;
        self.is_copied_to(&self.joining, Writer::Kubeadm);
        done(self.bed.admin(&["certs", "delete"]));
        Ok(())
    }

    fn kubeadm_uploads(&self) -> Result<()> {
        let config = self.init_configuration(&Places::of_plane(self.bed));
        let words = ["init", "phase", "upload-certs", "--upload-certs", "--config", &config];
        self.kubeadm(&words, Rights::Administrator)
    }

    fn we_download_kubeadms(&self) -> Result<()> {
        self.kubeadm_uploads()?;
        self.has_its_entries()?;
        done(self.bed.download(&[]));
        let below_root = self.joining.strip_prefix("/").unwrap().to_owned();
        self.is_copied_to(&self.bed.machine().join(below_root), Writer::Machineadm);
        fs::remove_dir_all(self.bed.machine()).unwrap();
        Ok(())
    }

    /// Kubeadm leaves a TTL token behind for each upload; ours leaves the one that owns the copy.
    fn ours_replaces_kubeadms(&self) -> Result<()> {
        self.kubeadm_uploads()?;
        assert_eq!(ttl_tokens(&self.bed.secrets()?).len(), 2);
        let config = self.init_configuration(&Places::of_plane(self.bed));
        let uploaded = done(self.bed.admin(&["certs", "upload", "--config", &config]));
        assert!(uploaded.stderr.contains("Secret kube-system/kubeadm-certs replaced"), "{}", uploaded.stderr);
        let secrets = self.bed.secrets()?;
        let [owner] = ttl_tokens(&secrets)[..] else { panic!("{:?}", secrets.keys()) };
        assert_eq!(secrets[COPY]["metadata"]["ownerReferences"][0]["uid"], owner["metadata"]["uid"]);
        done(self.bed.admin(&["certs", "delete"]));
        Ok(())
    }

    /// Exactly those of the specification, and no client or server certificate of a node.
    fn has_its_entries(&self) -> Result<()> {
        let shared = ["ca.crt", "ca.key"];
        let further = ["front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub"];
        let expected = match self.etcd {
            Etcd::Stacked => [&shared[..], &["etcd-ca.crt", "etcd-ca.key"], &further].concat(),
            Etcd::External => {
                let etcd = ["external-etcd-ca.crt", "external-etcd.crt", "external-etcd.key"];
                [&shared[..], &etcd, &further].concat()
            }
        };
        assert_eq!(entries(&self.bed.secrets()?[COPY]), expected, "{self:?}");
        Ok(())
    }

    /// Byte by byte, for their owner alone if they are keys; and nothing besides. Then they are deleted.
    fn is_copied_to(&self, directory: &Path, writer: Writer) {
        let places = Places::below(directory);
        let (sources, copies) = (Places::of_plane(self.bed).files(self.etcd), places.files(self.etcd));
        for (source, copy) in sources.iter().zip(&copies) {
            assert_eq!(fs::read(source).unwrap(), fs::read(copy).unwrap(), "{self:?}: {}", copy.display());
            let mode = if copy.extension().unwrap() == "key" { 0o600 } else { 0o644 };
            let found = copy.metadata().unwrap().permissions().mode() & 0o7777;
            // Old kubeadms give certificates the mode of keys.
            let is_right = found == mode || writer == Writer::Kubeadm && found == 0o600;
            assert!(is_right, "{self:?}: {} has mode {found:o}", copy.display());
        }
        let mut found = [files_below(&places.pki), files_below(&directory.join("external"))].concat();
        let mut expected = copies;
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{self:?}");
        fs::remove_dir_all(directory).unwrap();
    }

    /// The configuration file of a control plane node with these paths and the key.
    fn init_configuration(&self, Places { pki, etcd: [ca, certificate, key] }: &Places) -> String {
        let (api, version) = (self.kubeadm.1, self.version());
        let endpoint = self.endpoint();
        let port = endpoint.rsplit(':').next().unwrap();
        let etcd = match self.etcd {
            Etcd::Stacked => "local: {dataDir: /var/lib/etcd}".to_owned(),
            Etcd::External => format!(
                "external: {{endpoints: ['https://127.0.0.1:2379'], caFile: '{}', certFile: '{}', keyFile: '{}'}}",
                ca.display(),
                certificate.display(),
                key.display()
            ),
        };
        let text = format!(
            "apiVersion: kubeadm.k8s.io/{api}\nkind: InitConfiguration\ncertificateKey: {KEY}\n\
             localAPIEndpoint: {{advertiseAddress: 10.255.255.1, bindPort: {port}}}\n\
             nodeRegistration: {{name: loopback, criSocket: 'unix:///run/none.sock'}}\n---\n\
             apiVersion: kubeadm.k8s.io/{api}\nkind: ClusterConfiguration\nkubernetesVersion: v{version}\n\
             controlPlaneEndpoint: '{endpoint}'\ncertificatesDir: '{}'\netcd: {{{etcd}}}\n",
            pki.display()
        );
        self.bed.file("init.yaml", &text)
    }

    fn join_configuration(&self) -> Result<String> {
        let (api, endpoint) = (self.kubeadm.1, self.endpoint());
        let CertsBed { token, pin, .. } = self.bed;
        let text = format!(
            "apiVersion: kubeadm.k8s.io/{api}\nkind: JoinConfiguration\n\
             controlPlane: {{certificateKey: {KEY}, localAPIEndpoint: {{advertiseAddress: 10.255.255.2}}}}\n\
             discovery: {{bootstrapToken: {{apiServerEndpoint: '{endpoint}', token: {token}, caCertHashes: ['{pin}']}}}}\n\
             nodeRegistration: {{name: joining, criSocket: 'unix:///run/none.sock'}}\n"
        );
        Ok(self.bed.file("join.yaml", &text))
    }

    fn endpoint(&self) -> String {
        self.bed.plane.url(0).unwrap().replace("https://", "")
    }

    fn version(&self) -> &'static str {
        self.kubeadm.0.name.rsplit_once('-').unwrap().1
    }

    fn kubeadm(&self, words: &[&str], rights: Rights) -> Result<()> {
        let mut command = Command::new(self.kubeadm.0.ensure()?.judge("kubeadm")?);
        command.args(words);
        if rights == Rights::Administrator {
            command.arg("--kubeconfig").arg(self.bed.plane.kubeconfig());
        }
        let ended = RunOutput::of(command.output().unwrap());
        assert_eq!(ended.code, Some(0), "{self:?} {words:?}: {}{}", ended.stdout, ended.stderr);
        Ok(())
    }
}

/// Who has written files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    Kubeadm,
    Machineadm,
}

/// What a kubeadm works with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rights {
    Administrator,
    OfToken,
}

impl std::fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with etcd {:?}", self.kubeadm.0.name, self.etcd)
    }
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
