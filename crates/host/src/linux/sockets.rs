//! Which ports of this machine are in use, by the kernel's own tables.
use crate::{Error, Result};
use std::{fs, io};

/// Whether something listens on a port: state 0A.
pub(super) fn listens(port: u16) -> Result<bool> {
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = match fs::read_to_string(table) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(Error::System { doing: format!("read {table}"), source }),
        };
        if lists(&text, port) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn lists(table: &str, port: u16) -> bool {
    let wanted = format!(":{port:04X}");
    let mut rows = table.lines().skip(1).map(|row| row.split_whitespace());
    rows.any(|mut row| row.nth(1).is_some_and(|local| local.ends_with(&wanted)) && row.nth(1) == Some("0A"))
}

#[cfg(test)]
mod tests {
    use super::lists;

    #[test]
    fn only_a_listening_socket_counts() {
        let table = "  sl  local_address rem_address   st\n\
            0: 0100007F:192B 00000000:0000 0A 0\n   1: 0100007F:01BB 0100007F:192C 01 0\n";
        assert_eq!([6443, 443, 6444].map(|port| lists(table, port)), [true, false, false]);
    }
}
