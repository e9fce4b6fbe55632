//! Randomness of the system, for tokens, salts and keys.
use crate::{Error, Result};
use rustix::{
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};

/// Fills a buffer; waits, early in a boot, until the system has gathered enough.
pub fn entropy(buffer: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match getrandom(&mut buffer[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(Error::system("get random bytes from the system")(error)),
        }
    }
    Ok(())
}

/// So many random bytes.
pub fn fresh_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    entropy(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::entropy;

    #[test]
    fn two_buffers_differ() {
        let (mut one, mut other) = ([0; 512], [0; 512]);
        entropy(&mut one).unwrap();
        entropy(&mut other).unwrap();
        assert!(one != other && one != [0; 512]);
    }
}
