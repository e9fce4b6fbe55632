//! All sources as one stream, as they are kept for the next boot.
use crate::{Source, gzip, limits::TEXT_BYTES};
use zeroize::Zeroizing;

const MARKER: &[u8] = b"\n---\n";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of all sources in order, one marker between them; what can't be decompressed is left out, since reading
/// has reported it.
pub fn joined(sources: &[Source]) -> Zeroizing<Vec<u8>> {
    let plain: Vec<Zeroizing<Vec<u8>>> = sources.iter().map(plain).collect();
    // All at once, since a vector that grows leaves copies behind.
    let size = plain.iter().map(|text| text.len() + MARKER.len()).sum();
    let mut joined = Zeroizing::new(Vec::with_capacity(size));
    for text in &plain {
        if !joined.is_empty() {
            joined.extend_from_slice(MARKER);
        }
        joined.extend_from_slice(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    }
    joined
}

fn plain(source: &Source) -> Zeroizing<Vec<u8>> {
    match gzip::is_gzip(&source.bytes) {
        false => source.bytes.clone(),
        true => gzip::gunzip(&source.bytes, TEXT_BYTES).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{read, testing::kinds_of_one_file};

    #[test]
    fn what_is_kept_reads_like_what_came() {
        let source = |name: &str, text: &str| Source { name: name.into(), bytes: Zeroizing::new(text.into()) };
        let sources = || {
            kinds_of_one_file()
                .map(|kind| source(kind.kind, &format!("\u{feff}{}", kind.example.trim_end())))
                .collect::<Vec<_>>()
        };
        let kept = Source { name: "kept".into(), bytes: joined(&sources()) };
        let bodies = |sources| read(sources).documents.into_iter().map(|document| document.body).collect::<Vec<_>>();
        assert_eq!(bodies(vec![kept]), bodies(sources()));
        assert_eq!(bodies(sources()).len(), kinds_of_one_file().count());
    }
}
