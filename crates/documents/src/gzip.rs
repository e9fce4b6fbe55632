//! Gzip, undone within limits: a few kilobytes must not become a gigabyte.
use crate::limits::{GZIP_RATIO, GZIP_RATIO_FROM};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use zeroize::Zeroizing;

/// Why compressed bytes were not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Not gzip, or damaged.
    Damaged,
    /// Larger than the limit.
    TooLarge,
    /// Compressed better than anything honest.
    Bomb,
}

/// Whether these bytes begin as gzip does.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Decompresses at most `limit` bytes.
pub(crate) fn gunzip(bytes: &[u8], limit: usize) -> Result<Zeroizing<Vec<u8>>, Refused> {
    let allowed = bytes.len().saturating_mul(GZIP_RATIO).max(GZIP_RATIO_FROM);
    let mut decoder = MultiGzDecoder::new(bytes);
    let mut chunk = Zeroizing::new([0u8; 16 << 10]);
    let mut text = Zeroizing::new(Vec::with_capacity(bytes.len().saturating_mul(4).min(limit)));
    loop {
        let read = decoder.read(chunk.as_mut_slice()).map_err(|_| Refused::Damaged)?;
        if read == 0 {
            return Ok(text);
        }
        match text.len() + read {
            length if length > allowed => return Err(Refused::Bomb),
            length if length > limit => return Err(Refused::TooLarge),
            length if length > text.capacity() => text = grown(&text, length),
            _ => {}
        }
        text.extend_from_slice(&chunk[..read]);
    }
}

/// The same bytes in a larger buffer. `Vec` would grow by itself, but leave the old bytes behind in memory.
fn grown(text: &Zeroizing<Vec<u8>>, at_least: usize) -> Zeroizing<Vec<u8>> {
    let mut larger = Zeroizing::new(Vec::with_capacity(at_least.max(text.capacity() * 2)));
    larger.extend_from_slice(text);
    larger
}

#[cfg(test)]
pub(crate) fn compress(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_compressed_comes_back() {
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(*gunzip(&compress(&text), 1 << 20).unwrap(), text);
    }

    #[test]
    fn a_bomb_is_refused_by_its_ratio() {
        assert_eq!(gunzip(&compress(&vec![0; 8 << 20]), usize::MAX), Err(Refused::Bomb));
    }

    #[test]
    fn a_large_text_is_refused_by_its_size() {
        assert_eq!(gunzip(&compress(b"0123456789"), 9), Err(Refused::TooLarge));
    }

    #[test]
    fn a_cut_stream_is_damaged() {
        let whole = compress(b"0123456789");
        assert_eq!(gunzip(&whole[..whole.len() - 4], 100), Err(Refused::Damaged));
    }
}
