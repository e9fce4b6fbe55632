//! How much one read may cost: every limit on what comes in, in one place.

/// Text of all sources together, after decompression.
pub const TEXT_BYTES: usize = 1 << 20;
/// Contents of all files together, after their encoding has been undone.
pub const DECODED_BYTES: usize = 8 << 20;
/// Documents of all sources together.
pub const DOCUMENTS: usize = 256;
/// Mappings and lists inside each other.
pub const DEPTH: usize = 32;
/// Keys, values, mappings and lists of all documents together.
pub const NODES: usize = 50_000;
/// Commas, colons, quotes and brackets inside of brackets, per document.
pub const SIGNS_IN_BRACKETS: usize = 50_000;
/// How many times larger than its compressed form a text may be.
pub const GZIP_RATIO: usize = 100;
/// Up to this size the ratio does not matter: a short text of few letters compresses very well.
pub const GZIP_RATIO_FROM: usize = 64 << 10;
/// Configurations inside of each other: fetched, sealed, and so on.
pub const NESTING: usize = 8;
/// Contents and passphrases that one read fetches.
pub const FETCHES: usize = 64;
/// Rounds of key derivation of all sealed parts together.
pub const ROUNDS: usize = 2_000_000;
/// The fewest rounds that a sealed part may have; FIPS wants no less.
pub const ROUNDS_FEWEST: u32 = 1000;
/// The rounds of a sealed part that does not say.
pub const ROUNDS_DEFAULT: u32 = 50_000;
/// The most rounds that a sealed part may have.
pub const ROUNDS_MOST: u32 = 1_000_000;
/// The shortest passphrase.
pub const PASSPHRASE_FEWEST: usize = 8;
/// The longest passphrase.
pub const PASSPHRASE_MOST: usize = 4096;
/// The longest URI.
pub const URI_BYTES: usize = 4096;
/// Problems that a report lists; of the rest it has the number.
pub const NOTES: usize = 100;

/// What is left of the limits that span a whole read.
#[derive(Debug)]
pub(crate) struct Budget {
    pub(crate) text_bytes: usize,
    pub(crate) decoded_bytes: usize,
    pub(crate) documents: usize,
    pub(crate) nodes: usize,
    pub(crate) fetches: usize,
    pub(crate) rounds: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            text_bytes: TEXT_BYTES,
            decoded_bytes: DECODED_BYTES,
            documents: DOCUMENTS,
            nodes: NODES,
            fetches: FETCHES,
            rounds: ROUNDS,
        }
    }
}

/// Takes from what is left; `None` when it is too little.
pub(crate) fn spend(left: &mut usize, amount: usize) -> Option<()> {
    *left = left.checked_sub(amount)?;
    Some(())
}
