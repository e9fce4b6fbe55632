//! `machineadm.cluster.x-k8s.io/v1alpha1`: one file per kind.
mod absolute_path;
mod address_right;
mod api_server_texts;
mod authority;
mod cluster_settings;
mod commands;
mod component_members;
mod containerd;
mod containerd_registry;
mod containerd_runtime;
mod contents;
mod control_plane;
mod control_plane_address;
mod control_plane_config;
mod control_plane_files;
mod control_plane_member;
mod drop_in;
mod duration;
mod encrypted;
mod encryption_configuration;
mod files;
mod image_pull;
mod init;
mod init_token;
mod installed_programs;
mod instance_value;
mod join;
mod join_control_plane;
mod join_discovery;
mod kernel_modules;
mod kubernetes_version;
mod labels;
mod network;
mod node_addresses;
mod node_timeouts;
mod owner;
mod path_entry;
mod pem;
mod preflight_check;
mod program_source;
mod programs;
mod proxy;
mod proxy_url;
mod remote;
mod report;
mod reserved;
mod scope;
mod services;
mod ssh_key;
mod static_pods;
mod subnets;
mod sysctl;
mod time;
mod trust_bundle;
mod uri;
mod users;

pub(crate) use absolute_path::{is_below, without_aliases};
pub use address_right::AddressRight;
pub use cluster_settings::ClusterSettings;
pub use commands::{Command, CommandEntry, CommandsConfig, Program, Repeat};
pub use containerd::{CgroupDriver, Containerd, ContainerdConfig, ContainerdProxySpec};
pub use containerd_registry::{Mirror, MirrorCapability, MirrorSpec, Registry, RegistrySpec, Upstream};
pub use containerd_runtime::{Runtime, RuntimeOption, RuntimeSpec};
pub use contents::Encoding;
pub use control_plane::{ApiServer, Arguments, ControlPlaneProgram, EtcdMember, Volume, VolumeType};
pub use control_plane_config::{
    AdmissionSpec, AuditLogSpec, AuditSpec, AuditWebhookSpec, AuthenticationSpec, AuthenticationWebhookSpec,
    AuthorizationSpec, ControlPlaneConfig, ControlPlaneFileSpec, EncryptionSpec, TokenReviewVersion,
};
pub use control_plane_files::{
    ApiServerArgument, CONTROL_PLANE_ARGUMENTS, CONTROL_PLANE_FILES_DIRECTORY, CONTROL_PLANE_VOLUME_PREFIX,
    ControlPlane, ControlPlaneFile,
};
pub use duration::{NoDuration, parse as parse_duration};
pub(crate) use encrypted::TAG;
pub use encrypted::{Encrypted, EncryptedConfig, Rounds, Sealed};
pub use files::{EntryType, FileEntry, FilesConfig};
pub use image_pull::ImagePull;
pub use init::{ClusterPart, Init, InitConfig, Members, node_name_problem};
pub use init_token::{InitToken, InitTokenSpec};
pub use installed_programs::{
    CNI_PLUGINS_DIRECTORY, PROGRAM_DIRECTORIES, Program as InstalledProgram, ProgramFile, Programs,
};
pub use instance_value::{InstanceValue, TextPart, has_instance_values, text_parts};
pub use join::{Join, JoinConfig, NodeTaint, TaintEffect};
pub use join_control_plane::{CertificateKeySource, ControlPlaneSpec, JoinControlPlane};
pub use join_discovery::{DiscoverySpec, FileSpec, JoinDiscovery, TokenSource, TokenSpec};
pub use kernel_modules::{KernelModulesConfig, modules_file};
pub use labels::label_problem;
pub use node_addresses::node_address_problem;
pub use node_timeouts::{InitTimeouts, JoinTimeouts, NodeTimeouts};
pub use owner::Owner;
pub use path_entry::{Directory, File, Link, PathEntry};
pub use preflight_check::PreflightCheck;
pub use program_source::{ProgramLocation, ProgramSource, SourceSpec};
pub use programs::{ImagesSpec, OtherProgram, ProgramsConfig, ProgramsSpec};
pub use proxy::{Proxy, ProxyConfig, environment_file, proxy_drop_in};
pub use remote::{Remote, RemoteConfig, Require, Right};
pub use report::{AuthorizationSource, ReportConfig, Reporting, authorization_problem};
pub(crate) use scope::check_place;
pub use scope::{Identity, Machines, Scope, ScopeConfig};
pub use services::{ServiceEntry, ServiceState, ServicesConfig, Unit, UnitSettings};
pub use static_pods::{STATIC_PODS_DIRECTORY, StaticPod, StaticPodSpec, StaticPodsConfig};
pub use sysctl::{Parameter, Parameters, SysctlConfig, sysctl_file};
pub use time::{NoTime, parse as parse_time};
pub use trust_bundle::{Certificate, TrustBundle, TrustBundleConfig, trust_anchor};
pub use uri::{descriptor, file_path, without_secrets};
pub use users::{Accounts, GroupEntry, KEYS_BLOCK, UserEntry, UsersConfig, authorized_keys};

/// Group and version of all kinds here.
pub use objects::MACHINEADM_API_VERSION as API_VERSION;

/// The name of what a document makes when the document has none.
pub const DEFAULT_NAME: &str = "machineadm";
