//! All sources as one stream, as they are kept for the next boot.
use crate::{Source, gzip, limits::TEXT_BYTES};
use zeroize::Zeroizing;

/// The text of all sources in order, one marker between them; what can't be decompressed is left out, since reading
/// has reported it.
pub fn joined(sources: &[Source]) -> Zeroizing<Vec<u8>> {
    let mut text = Zeroizing::new(Vec::new());
    for source in sources {
        if !text.is_empty() {
            text.extend_from_slice(b"\n---\n");
        }
        match gzip::is_gzip(&source.bytes) {
            false => text.extend_from_slice(&source.bytes),
            true => text.extend_from_slice(&gzip::gunzip(&source.bytes, TEXT_BYTES).unwrap_or_default()),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KINDS, read};

    #[test]
    fn what_is_kept_reads_like_what_came() {
        let source = |name: &str, text: &str| Source { name: name.into(), bytes: Zeroizing::new(text.into()) };
        let sources = || KINDS.iter().map(|kind| source(kind.kind, kind.example.trim_end())).collect::<Vec<_>>();
        let kept = Source { name: "kept".into(), bytes: joined(&sources()) };
        let bodies = |sources| read(sources).documents.into_iter().map(|document| document.body).collect::<Vec<_>>();
        assert_eq!(bodies(vec![kept]), bodies(sources()));
        assert_eq!(bodies(sources()).len(), KINDS.len());
    }
}
