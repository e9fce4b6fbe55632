//! The documents of `machineadm_config.yaml`: split, checked as a tree, decoded, judged.
mod conflicts;
mod decode;
mod decoded;
mod duplicates;
mod explain;
mod findings;
mod flow;
mod gzip;
mod joined;
mod json_schema;
pub mod limits;
mod metadata;
mod nearest;
mod parse;
mod path;
mod printable;
mod read;
mod registry;
mod report;
mod scalar;
mod schema;
mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tree;
pub mod v1alpha1;

pub use decoded::{AnyDocument, Decoded, Origin};
pub use explain::{ExplainError, explain};
pub use joined::joined;
pub use json_schema::json_schema;
pub use read::{Read, read};
pub use registry::{KINDS, Kind};
pub use report::{Note, Report, Severity};
pub use secret::{SECRET_MARK, Secret};
pub use stream::Source;
