//! `machineadm.cluster.x-k8s.io/v1alpha1`: one file per kind.
mod absolute_path;
mod authority;
mod commands;
mod component_members;
mod contents;
mod drop_in;
mod duration;
mod encrypted;
mod files;
mod init;
mod join;
mod join_discovery;
mod kernel_modules;
mod kubernetes_version;
mod labels;
mod network;
mod node_timeouts;
mod owner;
mod path_entry;
mod pem;
mod proxy;
mod proxy_url;
mod remote;
mod report;
mod reserved;
mod scope;
mod services;
mod ssh_key;
mod sysctl;
mod time;
mod trust_bundle;
mod uri;
mod users;

pub(crate) use absolute_path::{is_below, without_aliases};
pub use commands::{Command, CommandEntry, CommandsConfig, Program, Repeat};
pub use contents::Encoding;
pub use duration::{NoDuration, parse as parse_duration};
pub(crate) use encrypted::TAG;
pub use encrypted::{Encrypted, EncryptedConfig, Rounds, Sealed};
pub use files::{EntryType, FileEntry, FilesConfig};
pub use init::{ClusterPart, Init, InitConfig, Members};
pub use join::{Join, JoinConfig, NodeTaint, TaintEffect};
pub use join_discovery::{DiscoverySpec, FileSpec, JoinDiscovery, TokenSource, TokenSpec};
pub use kernel_modules::{KernelModulesConfig, modules_file};
pub use node_timeouts::{InitTimeouts, JoinTimeouts, NodeTimeouts};
pub use owner::Owner;
pub use path_entry::{Directory, File, Link, PathEntry};
pub use proxy::{Proxy, ProxyConfig, environment_file, proxy_drop_in};
pub use remote::{Remote, RemoteConfig, Require, Right};
pub use report::{AuthorizationSource, ReportConfig, ReportRight, Reporting, authorization_problem};
pub(crate) use scope::check_place;
pub use scope::{Identity, Machines, Scope, ScopeConfig};
pub use services::{ServiceEntry, ServiceState, ServicesConfig, Unit, UnitSettings};
pub use sysctl::{Parameter, Parameters, SysctlConfig, sysctl_file};
pub use time::{NoTime, parse as parse_time};
pub use trust_bundle::{Certificate, TrustBundle, TrustBundleConfig, trust_anchor};
pub use uri::{descriptor, file_path, without_secrets};
pub use users::{Accounts, GroupEntry, KEYS_BLOCK, UserEntry, UsersConfig, authorized_keys};

/// Group and version of all kinds here.
pub const API_VERSION: &str = "machineadm.cluster.x-k8s.io/v1alpha1";

/// The name of what a document makes when the document has none.
pub const DEFAULT_NAME: &str = "machineadm";
