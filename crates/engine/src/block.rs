//! A managed block inside a file of somebody else's: found by its marker lines, the rest left as it is.

/// The file's contents with our block in them.
pub(crate) fn with_block(file: &[u8], name: &str, block: &[u8]) -> Vec<u8> {
    let [begin, end] = markers(name);
    let ours = [joined(&[begin.as_bytes()]), joined(&lines(block).collect::<Vec<_>>()), joined(&[end.as_bytes()])];
    let old: Vec<&[u8]> = lines(file).collect();
    let (before, after) = match range(&old, name) {
        Some((first, last)) => (&old[..first], &old[last + 1..]),
        None => (&old[..], &[][..]),
    };
    [joined(before), ours.concat(), joined(after)].concat()
}

/// The lines of our block, without its markers.
pub(crate) fn block_of(file: &[u8], name: &str) -> Option<Vec<u8>> {
    let old: Vec<&[u8]> = lines(file).collect();
    range(&old, name).map(|(first, last)| joined(&old[first + 1..last]))
}

/// The file's contents without our block.
pub(crate) fn without_block(file: &[u8], name: &str) -> Vec<u8> {
    let old: Vec<&[u8]> = lines(file).collect();
    match range(&old, name) {
        Some((first, last)) => [joined(&old[..first]), joined(&old[last + 1..])].concat(),
        None => file.to_vec(),
    }
}

fn markers(name: &str) -> [String; 2] {
    ["BEGIN", "END"].map(|which| format!("# {which} machineadm {name}"))
}

/// The lines of the markers. Without an end of its own after it, a begin is a line like any other: nothing of somebody
/// else's may vanish.
fn range(lines: &[&[u8]], name: &str) -> Option<(usize, usize)> {
    let [begin, end] = markers(name);
    let end_of = |first: usize| {
        let after = &lines[first + 1..];
        let last = after.iter().position(|line| *line == end.as_bytes() || *line == begin.as_bytes())?;
        (after[last] == end.as_bytes()).then_some((first, first + 1 + last))
    };
    (0..lines.len()).filter(|&at| lines[at] == begin.as_bytes()).find_map(end_of)
}

fn joined(lines: &[&[u8]]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect()
}

/// Lines without their ends; a last line without an end counts, an empty rest does not.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = if text.is_empty() { None } else { Some(text.strip_suffix(b"\n").unwrap_or(text)) };
    std::iter::from_fn(move || {
        let now = rest?;
        match now.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                rest = Some(&now[end + 1..]);
                Some(&now[..end])
            }
            None => rest.take(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn put(file: &str, block: &str) -> String {
        String::from_utf8(with_block(file.as_bytes(), "x", block.as_bytes())).unwrap()
    }

    #[test]
    fn a_new_block_goes_to_the_end() {
        assert_eq!(put("a\nb", "1\n2"), "a\nb\n# BEGIN machineadm x\n1\n2\n# END machineadm x\n");
        assert_eq!(put("", "1"), "# BEGIN machineadm x\n1\n# END machineadm x\n");
    }

    #[test]
    fn an_old_block_is_replaced_where_it_is() {
        let old = put("a\n", "1") + "b\n";
        assert_eq!(put(&old, "2"), "a\n# BEGIN machineadm x\n2\n# END machineadm x\nb\n");
    }

    #[test]
    fn a_begin_without_an_end_takes_nothing_with_it() {
        let torn = "# BEGIN machineadm x\nsomebody's\n";
        let once = put(torn, "2");
        assert!(once.starts_with(torn));
        assert_eq!(put(&once, "2"), once);
    }

    #[test]
    fn a_block_is_found_and_removed_with_its_markers() {
        let file = put("a\n", "1\n2") + "b\n";
        assert_eq!(block_of(file.as_bytes(), "x"), Some(b"1\n2\n".to_vec()));
        assert_eq!(without_block(file.as_bytes(), "x"), b"a\nb\n");
        assert_eq!((block_of(b"a\n", "x"), without_block(b"a", "x")), (None, b"a".to_vec()));
    }

    proptest! {
        #[test]
        fn twice_is_once_and_the_rest_stays(before in "([a-z]{0,3}\n){0,4}", block in "([a-z]{0,3}\n){0,4}", other in "([a-z]{0,3}\n){0,4}") {
            let once = put(&before, &block);
            prop_assert_eq!(put(&once, &block), once.clone());
            prop_assert!(once.starts_with(&before));
            prop_assert_eq!(put(&put(&before, &other), &block), once);
        }
    }
}
