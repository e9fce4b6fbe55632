//! `machineadm.cluster.x-k8s.io/v1alpha1`: one file per kind.
mod absolute_path;
mod authority;
mod commands;
mod contents;
mod drop_in;
mod duration;
mod encrypted;
mod files;
mod init;
mod kernel_modules;
mod pem;
mod proxy;
mod proxy_url;
mod remote;
mod scope;
mod sysctl;
mod time;
mod trust_bundle;
mod uri;

pub(crate) use commands::CommandsConfig;
pub use commands::{Command, Program, Repeat};
pub use duration::{NoDuration, parse as parse_duration};
pub(crate) use encrypted::{CIPHER, DERIVATION, DIGEST, EncryptedConfig, TAG};
pub use encrypted::{Encrypted, Sealed};
pub(crate) use files::FilesConfig;
pub use files::{File, Owner};
pub(crate) use init::InitConfig;
pub use init::{Init, Members};
pub(crate) use kernel_modules::KernelModulesConfig;
pub use kernel_modules::modules_file;
pub use proxy::Proxy;
pub(crate) use proxy::ProxyConfig;
pub use remote::Remote;
pub(crate) use remote::RemoteConfig;
pub(crate) use scope::ScopeConfig;
pub use scope::{Identity, Machines, Scope};
pub(crate) use sysctl::SysctlConfig;
pub use sysctl::{Parameter, sysctl_file};
pub use time::{NoTime, parse as parse_time};
pub(crate) use trust_bundle::TrustBundleConfig;
pub use trust_bundle::{Certificate, TrustBundle};
pub use uri::{descriptor, file_path, without_secrets};

/// Group and version of all kinds here.
pub const API_VERSION: &str = "machineadm.cluster.x-k8s.io/v1alpha1";

/// The name of what a document makes when the document has none.
pub const DEFAULT_NAME: &str = "machineadm";
