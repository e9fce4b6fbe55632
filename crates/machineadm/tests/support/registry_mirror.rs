//! A registry mirror on a machine, Debian's docker-registry, which only its own CA and a client certificate open; and a
//! pod of a kubelet without a cluster that wants its image.
use std::{fs, path::Path, process::Command, time::Duration};
use tempfile::TempDir;
use testbed::{Machine, Result, TOOLS_IMAGE, judges, packages::REGISTRY};

/// The image as the pod names it: this registry does not exist.
pub(crate) const MIRRORED: &str = "registry.example.com/team/tools:v1";
/// How long a pod may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(180);

/// Makes a CA, a server's certificate and a client's.
const CERTIFICATES: &str = "
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=mirror-ca -days 30 -keyout ca.key -out ca.pem
for who in server client; do
  openssl req -newkey rsa:2048 -nodes -subj /CN=mirror.example.com -keyout $who.key -out $who.csr
  printf 'subjectAltName=DNS:mirror.example.com\\nextendedKeyUsage=serverAuth,clientAuth\\n' >ext
  openssl x509 -req -in $who.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile ext -out $who.pem
done";
const REGISTRY_CONFIG: &str = "
version: 0.1
log: {accesslog: {disabled: false}}
storage: {filesystem: {rootdirectory: /srv/registry}}
http:
  addr: 127.0.0.1:5000
  tls: {certificate: /srv/tls/server.pem, key: /srv/tls/server.key, clientcas: [/srv/tls/ca.pem]}
";

/// The mirror's certificates.
pub(crate) struct Mirror {
    folder: TempDir,
}

impl Mirror {
    /// Makes certificates, and puts the registry on a machine that is off.
    pub(crate) fn new(machine: &Machine) -> Result<Self> {
        let folder = tempfile::tempdir().expect("a directory");
        judges::command("openssl")?;
        let made = Command::new("sh").args(["-ec", CERTIFICATES]).current_dir(folder.path()).output().expect("a shell");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        machine.copy_in(&REGISTRY.ensure()?.judge("docker-registry")?, "/usr/local/bin/docker-registry")?;
        let mirror = Self { folder };
        for name in ["ca.pem", "server.pem", "server.key", "client.pem", "client.key"] {
            machine.write(&format!("/srv/tls/{name}"), mirror.read(name), 0o600)?;
        }
        Ok(mirror)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(Path::new(self.folder.path()).join(name)).expect("a file")
    }

    /// Starts the registry, fills it, and removes the image from the machine's own store.
    pub(crate) fn serve(&self, machine: &Machine) -> Result<()> {
        machine.write("/srv/registry.yaml", REGISTRY_CONFIG, 0o644)?;
        machine.shell("echo 127.0.0.1 mirror.example.com >>/etc/hosts")?;
        machine.shell("systemd-run --unit=registry docker-registry serve /srv/registry.yaml")?;
        let curl = "curl --silent --fail --cacert /srv/tls/ca.pem --cert /srv/tls/client.pem --key /srv/tls/client.key";
        testbed::until("the registry", LIMIT, || {
            machine.shell(&format!("{curl} https://mirror.example.com:5000/v2/")).map_err(|error| error.to_string())
        })?;
        // Without the client certificate it is closed.
        let closed = machine.run(&["curl", "--cacert", "/srv/tls/ca.pem", "https://mirror.example.com:5000/v2/"])?;
        assert_ne!(closed.code, 0, "{closed:?}");
        let pushed = "mirror.example.com:5000/team/tools:v1";
        // Since 2.0, certificates of the command line need another way to push.
        machine.shell(&format!(
            "ctr images push --help | grep -q -e --local && local=--local || local=\n\
             ctr -n k8s.io images tag {TOOLS_IMAGE} {pushed}\n\
             ctr -n k8s.io images push $local --tlscacert /srv/tls/ca.pem --tlscert /srv/tls/client.pem \
             --tlskey /srv/tls/client.key {pushed}\n\
             ctr -n k8s.io images remove --sync {pushed} {TOOLS_IMAGE}"
        ))?;
        Ok(())
    }

    /// The document that names the mirror, and nobody after it.
    pub(crate) fn spec(&self) -> String {
        let [ca, certificate, key] =
            ["ca.pem", "client.pem", "client.key"].map(|name| self.read(name).trim_end().replace('\n', "\n        "));
        format!(
            "  registries:\n  - host: registry.example.com\n    mirrors:\n    - url: https://mirror.example.com:5000\n      \
             ca: |\n        {ca}\n      clientCertificate: |\n        {certificate}\n      clientKey: |\n        {key}\n    \
             upstream: never\n"
        )
    }

    /// Starts a kubelet without a cluster, and gives it the pod.
    pub(crate) fn start_pod(&self, machine: &Machine) -> Result<()> {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: tools, namespace: default}}\nspec:\n  hostNetwork: true\n  \
             containers: [{{name: tools, image: '{MIRRORED}'}}]\n"
        );
        machine.run_static_pod("tools", &pod)
    }
}
