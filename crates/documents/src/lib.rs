//! The documents of `machineadm_config.yaml`: split, checked as a tree, decoded, judged.
mod block_yaml;
mod claim;
mod compare;
mod conflicts;
mod constraints;
mod decode;
mod decoded;
mod decrypt;
mod discreet;
mod document;
mod duplicates;
mod expand;
mod explain;
mod findings;
mod foreign;
mod gzip;
mod header;
mod joined;
mod json_schema;
pub mod limits;
mod metadata;
mod nearest;
mod order;
mod parse;
mod path;
mod printable;
mod read;
mod reader;
mod registry;
mod report;
mod rights;
mod scalar;
mod schema;
mod seal;
mod stream;
mod surroundings;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tree;
pub mod v1alpha1;
mod within;
mod write;

pub use claim::{Claim, Claimed};
pub use decoded::{Decoded, Origin};
pub use decrypt::{DecryptError, decrypt};
pub use document::{Body, Document};
pub use expand::Given;
pub use explain::{ExplainError, explain};
pub use foreign::{Foreign, ForeignKinds};
pub use joined::joined;
pub use json_schema::json_schema;
pub use read::{Read, read, read_for_sealing};
pub use registry::{AnyDocument, KINDS, Kind};
pub use report::{Note, Report, Severity};
pub use rights::Rights;
pub use seal::{Fresh, Heading, SealError, scope_document, seal, sealed_document};
pub use secret::{SECRET_MARK, Secret};
pub use stream::Source;
pub use surroundings::{
    Fault, PASSPHRASE_PLUGIN, PassphraseProvider, ProviderError, REMOTE_PLUGIN, RemoteProvider, Request, Surroundings,
};
pub use write::write;
