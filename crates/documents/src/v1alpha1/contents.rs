//! The contents of a file as they stand in a document, and what they are once their encoding is undone.
use crate::{
    Secret,
    findings::Findings,
    gzip::{self, Refused},
    limits::DECODED_BYTES,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// How contents are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Encoding {
    /// As they are.
    #[default]
    #[serde(rename = "plain")]
    Plain,
    /// In base64; white space in it does not matter.
    #[serde(rename = "base64")]
    Base64,
    /// Compressed with gzip, then in base64.
    #[serde(rename = "gzip+base64")]
    GzipBase64,
}

/// Undoes the encoding, within what the whole configuration may hold.
pub(crate) fn contents(
    text: &Secret<String>,
    encoding: Encoding,
    here: &str,
    findings: &mut Findings<'_>,
) -> Option<Secret<Vec<u8>>> {
    match undone(text.expose(), encoding, findings.decoded_left()) {
        Ok(bytes) if findings.spend_decoded(bytes.expose().len()).is_some() => return Some(bytes),
        Ok(_) => findings.error(here, too_large()),
        Err(message) => findings.error(here, message),
    };
    None
}

fn undone(text: &str, encoding: Encoding, limit: usize) -> Result<Secret<Vec<u8>>, String> {
    match encoding {
        Encoding::Plain => Ok(Secret::new(text.as_bytes().to_vec())),
        Encoding::Base64 => from_base64(text).map(owned),
        Encoding::GzipBase64 => match gzip::gunzip(&from_base64(text)?, limit) {
            Ok(bytes) => Ok(owned(bytes)),
            Err(Refused::Damaged) => Err("is not valid gzip in base64".to_owned()),
            Err(Refused::TooLarge) => Err(too_large()),
            Err(Refused::Bomb) => Err("compression ratio too high: refused as a decompression bomb".to_owned()),
        },
    }
}

/// Undoes base64: the standard alphabet with its padding; only white space does not matter.
pub(crate) fn from_base64(text: &str) -> Result<Zeroizing<Vec<u8>>, String> {
    let mut packed = Zeroizing::new(Vec::with_capacity(text.len()));
    packed.extend(text.bytes().filter(|byte| !byte.is_ascii_whitespace()));
    let mut bytes = Zeroizing::new(vec![0; base64::decoded_len_estimate(packed.len())]);
    let length = STANDARD.decode_slice(packed.as_slice(), &mut bytes).map_err(|_| "is not valid base64".to_owned())?;
    bytes.truncate(length);
    Ok(bytes)
}

fn owned(mut bytes: Zeroizing<Vec<u8>>) -> Secret<Vec<u8>> {
    Secret::new(std::mem::take(&mut *bytes))
}

fn too_large() -> String {
    format!("exceeds the limit of {} MiB for all files of a configuration", DECODED_BYTES >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_undone() {
        let gzipped = STANDARD.encode(gzip::compress(b"hello"));
        for (text, encoding) in
            [("hello", Encoding::Plain), ("aGVs\n bG8=\n", Encoding::Base64), (gzipped.as_str(), Encoding::GzipBase64)]
        {
            assert_eq!(undone(text, encoding, 5).unwrap().expose(), b"hello");
        }
    }

    #[test]
    fn damaged_contents_are_refused() {
        for (text, encoding) in [
            ("a", Encoding::Base64),
            ("a-_=", Encoding::Base64),
            ("aGVsbG8=", Encoding::GzipBase64),
            ("!", Encoding::GzipBase64),
        ] {
            assert!(undone(text, encoding, 100).is_err());
        }
    }

    #[test]
    fn a_bomb_inside_a_file_is_refused() {
        let bomb = STANDARD.encode(gzip::compress(&vec![0; 20 << 20]));
        assert!(undone(&bomb, Encoding::GzipBase64, DECODED_BYTES).is_err());
    }
}
