//! containerd's configuration: what is wanted and what a machine has in, files out.
//!
//! ```text
//!  Settings ─┐                       ┌─▶ config.toml: the old text, with the wanted values in it
//!  Seen ─────┴─propose─▶ Proposal ───┼─▶ hosts.toml and certificates, below /etc/containerd/certs.d
//!                   └──▶ Problems    └─▶ Expected ──missing── containerd config dump
//! ```
//!
//! - [`Settings`] are the wanted values in our own words. [`Seen`] is what the machine has: the version of containerd, the
//!   text of config.toml, the files that it imports, the hosts that have a hosts.toml.
//! - [`propose`] edits the text and touches only the keys that the settings name. Comments, order and unknown keys stay.
//!   The configuration version of a file is never changed; a new file gets the oldest that this containerd writes.
//! - `layout.rs` has the key of each setting in each configuration version, and how containerd moves keys from one version
//!   to the next.
//! - `convert.rs` turns `registry.mirrors` and `registry.configs`, which exclude hosts.toml, into hosts.toml.
//! - [`missing`] compares with what containerd itself has understood: it ignores unknown keys with exit code 0.
mod convert;
mod dump;
mod edit;
mod extra;
mod headers;
mod hosts;
mod imports;
mod layout;
mod problem;
mod propose;
mod runtimes;
mod settings;
mod unit;
mod version;

pub use convert::CONVERTED;
pub use dump::{Missing, NotADump, Printed, missing};
pub use hosts::{CERTS_DIR, RegistryFile};
pub use imports::{ImportPattern, import_patterns, with_absolute_imports};
pub use problem::Problem;
pub use propose::{Expected, ImportedFile, Proposal, Seen, data_root, propose};
pub use settings::{
    Capability, CgroupDriver, ClientCertificate, Mirror, OptionValue, Registry, Runtime, Settings, Upstream,
};
pub use unit::unit_config_path;
pub use version::{ConfigVersion, UnsupportedVersion, Version};
