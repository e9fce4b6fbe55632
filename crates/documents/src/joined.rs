//! All sources as one stream, as they are kept for the next boot.
use crate::{Source, gzip, limits::TEXT_BYTES};
use zeroize::Zeroizing;

/// What stands between two sources; reading them counts it, so that what is kept never exceeds what may be read.
pub(crate) const MARKER: &[u8] = b"\n---\n";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of all sources in order, one marker between them; what can't be decompressed is left out, since reading
/// has reported it.
pub fn joined(sources: &[Source]) -> Zeroizing<Vec<u8>> {
    let plain: Vec<Zeroizing<Vec<u8>>> = sources.iter().map(plain).collect();
    // All at once, since a vector that grows leaves copies behind.
    let size = plain.iter().map(|text| text.len() + MARKER.len()).sum();
    let mut joined = Zeroizing::new(Vec::with_capacity(size));
    let texts = plain.iter().map(|text| text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text));
    for text in texts.filter(|text| !text.is_empty()) {
        if !joined.is_empty() {
            joined.extend_from_slice(MARKER);
        }
        joined.extend_from_slice(text);
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

    fn source(name: &str, text: &str) -> Source {
        Source { name: name.into(), bytes: Zeroizing::new(text.into()) }
    }

    #[test]
    fn what_may_be_read_may_be_kept() {
        let document = kinds_of_one_file().next().expect("there are kinds").example;
        let filled = |size: usize| format!("{document}#{}", "x".repeat(size - document.len() - 1));
        let (half, marker) = (TEXT_BYTES / 2, MARKER.len());
        for (sizes, fits) in [
            (vec![TEXT_BYTES], true),
            (vec![half, half - marker], true),
            (vec![half, half - marker + 1], false),
            (vec![half, half], false),
            (vec![half, half - marker, 0, 0], true),
        ] {
            let sources = || {
                let texts = sizes.iter().map(|size| if *size == 0 { String::new() } else { filled(*size) });
                texts.map(|text| source("a", &text)).collect::<Vec<_>>()
            };
            let too_large = |sources| read(sources).report.to_string().contains("more than 1024 KiB");
            assert_eq!(too_large(sources()), !fits, "{sizes:?}");
            assert_eq!(too_large(vec![Source { name: "kept".into(), bytes: joined(&sources()) }]), !fits, "{sizes:?}");
        }
    }

    #[test]
    fn what_is_kept_reads_like_what_came() {
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
