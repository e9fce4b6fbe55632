//! What is wanted of containerd, in our own words.
use secret::Secret;

/// All of it; what is `None` or empty stays as it is on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Where images of a registry come from.
    pub registries: Vec<Registry>,
    /// The image that holds a pod open.
    pub sandbox_image: Option<String>,
    /// Who manages control groups, for each runtime of runc's type.
    pub cgroup_driver: Option<CgroupDriver>,
    /// How layers of images are stored.
    pub snapshotter: Option<String>,
    /// OCI runtimes.
    pub runtimes: Vec<Runtime>,
    /// The runtime of pods that name none.
    pub default_runtime: Option<String>,
    /// The directory with images and containers.
    pub data_root: Option<String>,
    /// Further TOML, in the configuration version of the file.
    pub extra: Option<String>,
}

/// Who manages control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CgroupDriver {
    /// systemd.
    Systemd,
    /// The runtime itself.
    Cgroupfs,
}

/// Where the images of a registry come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// The registry as image names have it, with its port; `_default` is every other one.
    pub host: String,
    /// Tried in this order, before upstream.
    pub mirrors: Vec<Mirror>,
    /// What is tried after the mirrors.
    pub upstream: Upstream,
}

/// What is tried after the mirrors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Upstream {
    /// The registry itself.
    #[default]
    Registry,
    /// Nothing: only the mirrors.
    Never,
    /// This.
    Url(String),
}

/// A server that has the images of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// `http://` or `https://`, host, port and path.
    pub url: String,
    /// What it is used for.
    pub capabilities: Vec<Capability>,
    /// PEM of the CA certificates that verify it.
    pub ca: Option<String>,
    /// What containerd identifies itself with.
    pub client: Option<ClientCertificate>,
    /// Sent with every request, by name.
    pub headers: Vec<(String, Secret<String>)>,
    /// Whether its certificate is not verified.
    pub skip_verify: bool,
    /// Whether the URL's path is the whole path of the API, to which no `/v2` is added.
    pub override_path: bool,
}

/// What a mirror is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Fetching content by its digest.
    Pull,
    /// Finding the digest of a tag.
    Resolve,
    /// Uploading.
    Push,
}

impl Capability {
    /// containerd's word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Resolve => "resolve",
            Self::Push => "push",
        }
    }
}

/// A client certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    /// PEM.
    pub certificate: String,
    /// PEM.
    pub key: Secret<String>,
}

/// An OCI runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Its name, the handler of a RuntimeClass.
    pub name: String,
    /// The shim, such as `io.containerd.runc.v2`.
    pub runtime_type: String,
    /// The program that the shim runs.
    pub binary: Option<String>,
    /// Further options of the shim, by name.
    pub options: Vec<(String, OptionValue)>,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
}
