//! The documents of `machineadm_config.yaml`: split, checked as a tree, decoded, judged.
//!
//! ```text
//! bytes ─stream─▶ pieces ─parse─▶ trees ─schema─▶ ─decode, check─▶ Decoded ─compare─▶ Read
//!                                   └── of another group: Foreign ──┘  ▲
//!                                                  RemoteConfig, EncryptedConfig: expand
//! ```
//!
//! A [`Source`] is split into documents. Each becomes a tree whose parts know their positions, is walked against the JSON
//! schema of its kind, and decoded; where its form is invalid, stand-ins let the rest be judged all the same. Every problem
//! goes into one [`Report`]. A kind is one file in [`v1alpha1`] and one row in [`KINDS`]: the type that is written ([`Document`]), what it comes to ([`AnyDocument`]), and
//! what that says of itself ([`Body`]): secrets, and [`Claim`]s on the machine.
//!
//! Rules over all documents compare claims (conflicts) and positions (order); they know no kind, and nothing is sorted. A
//! document of another group is [`Foreign`]. [`Given::expand`] replaces RemoteConfig and EncryptedConfig by what they stand
//! for, through providers that a program connects, under one budget ([`limits`]). [`write()`] gives a document's text.
//!
//! Nothing here does I/O. What came encrypted is never quoted.
mod claim;
mod compare;
mod conflicts;
mod constraints;
mod control_plane_conflicts;
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
mod known_format;
pub mod limits;
mod mend;
mod metadata;
mod order;
mod parse;
mod path;
mod path_claim;
mod positions;
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

use objects::nearest;

pub use claim::{Claim, Claimed, EntrySort};
pub use decoded::{Decoded, Origin};
pub use decrypt::{DecryptError, decrypt};
pub use document::{Body, Document};
pub use expand::Given;
pub use explain::{ExplainError, explain, type_in_words};
pub use foreign::{Foreign, ForeignKinds};
pub use joined::joined;
pub use json_schema::json_schema;
pub use positions::Positions;
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
