//! Just enough understanding of Rust's text for checks: code without comments, strings and test modules; test names.

/// The same text, byte for byte in its places, with blanks for what comments, strings and characters contain.
/// Line breaks stay, so that lines keep their numbers.
pub(super) fn code(text: &str) -> String {
    let mut code = text.as_bytes().to_vec();
    let mut at = 0;
    while at < code.len() {
        let (from, to) = opaque(text.as_bytes(), at);
        code[from..to].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = to.max(at + 1);
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The bytes to blank if a comment, string or character begins at `at`; otherwise an empty range.
/// Quotation marks themselves stay.
fn opaque(text: &[u8], at: usize) -> (usize, usize) {
    let rest = &text[at..];
    let in_word = at > 0 && is_word(text[at - 1]);
    match rest {
        [b'/', b'/', ..] => (at, at + line_comment(rest)),
        [b'/', b'*', ..] => (at, at + block_comment(rest)),
        [b'"', ..] => (at + 1, at + string(rest)),
        [b'r', b'"' | b'#', ..] if !in_word => raw_string(rest, 1).map_or((at, at), |end| (at + 1, at + end)),
        [b'b' | b'c', b'r', b'"' | b'#', ..] if !in_word => {
            raw_string(rest, 2).map_or((at, at), |end| (at + 2, at + end))
        }
        [b'\'', ..] => character(rest).map_or((at, at), |end| (at + 1, at + end)),
        _ => (at, at),
    }
}

fn line_comment(rest: &[u8]) -> usize {
    rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let step = match &rest[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if depth == 0 {
            break;
        }
    }
    at
}

/// Where the string that `rest` opens with ends, its closing mark included.
fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != b'"' {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// Where the raw string ends whose hashes begin after `prefix` bytes; none if it is not one (`r#name`).
fn raw_string(rest: &[u8], prefix: usize) -> Option<usize> {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let body = &rest[open + 1..];
    let length = body.windows(close.len()).position(|window| window == close).map_or(body.len(), |at| at + close.len());
    Some(open + 1 + length)
}

/// Where the character literal ends; none if the mark begins a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(&rest[1..rest.len().min(12)])
        .or_else(|error| std::str::from_utf8(&rest[1..=error.valid_up_to()]));
    let text = text.ok()?;
    match text.chars().next()? {
        '\\' => text.get(2..)?.find('\'').map(|end| end + 4),
        first => text[first.len_utf8()..].starts_with('\'').then_some(first.len_utf8() + 2),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A file that only tests use: `tests.rs`, or below `tests/`.
pub(super) fn is_test_file(file: &str) -> bool {
    file.split('/').any(|part| part == "tests" || part == "tests.rs")
}

/// Code (see [`code`]) with blanks for every item under `#[cfg(test)]`.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        let end = at + item_end(&rest[at..]);
        kept.push_str(&rest[..at]);
        kept.extend(rest[at..end].chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        rest = &rest[end..];
    }
    kept + rest
}

/// Where the item that `code` begins with ends: behind its braces, or at a semicolon if it has none.
fn item_end(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '{' if depth == 0 => return at + block_end(&code[at..]),
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Where the block that `code` opens with ends, its closing brace included.
pub(super) fn block_end(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, letter) in code.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// Where `word` stands in the code as a word of its own; a path such as `std::fs` counts as one.
pub(super) fn places_of<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let edge = |byte: Option<u8>| !byte.is_some_and(is_word);
    code.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let before = at.checked_sub(1).and_then(|before| code.as_bytes().get(before).copied());
        edge(before) && edge(code.as_bytes().get(at + word.len()).copied())
    })
}

/// The names of the test functions in this code: under an attribute that ends in `test` or `rstest`, or in `proptest!`.
pub(super) fn tests(code: &str) -> Vec<String> {
    let properties: Vec<_> = places_of(code, "proptest").filter_map(|at| macro_block(code, at)).collect();
    let is_test = |at: usize| properties.iter().any(|block| block.contains(&at)) || has_test_attribute(&code[..at]);
    places_of(code, "fn").filter(|at| is_test(*at)).filter_map(|at| function_name(&code[at..])).collect()
}

/// The block of `name! { .. }`, if that is what begins at `at`.
fn macro_block(code: &str, at: usize) -> Option<std::ops::Range<usize>> {
    let bang = at + code[at..].find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    let open = bang + code[bang..].find('{')?;
    (code[bang..open].trim() == "!").then(|| open..open + block_end(&code[open..]))
}

/// Whether the attributes that end here, just before a function, make it a test.
fn has_test_attribute(before: &str) -> bool {
    let start = before.rfind(['{', '}', ';']).map_or(0, |at| at + 1);
    before[start..].split("#[").skip(1).any(|attribute| {
        let name = attribute.split([']', '(']).next().unwrap_or_default().trim();
        let last = name.rsplit("::").next().unwrap_or_default();
        matches!(last, "test" | "rstest" | "test_case")
    })
}

fn function_name(code: &str) -> Option<String> {
    let name = code.strip_prefix("fn")?.trim_start();
    let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    name[end..].trim_start().starts_with(['(', '<']).then(|| name[..end].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_strings_and_characters_become_blanks() {
        let same_length = |text: &str, want: &str| {
            assert_eq!(code(text), want, "{text}");
            assert_eq!(text.len(), want.len(), "{text}");
        };
        same_length("a // b\nc", "a     \nc");
        same_length("a /* b /* c */ d */ e", "a                   e");
        same_length(r#"f("a\"b") + 1"#, r#"f("     ) + 1"#);
        same_length(r##"f(r#"a"b"#, x)"##, r##"f(r       , x)"##);
        same_length("let c = '{';", "let c = '  ;");
        same_length(r"let c = '\'';", "let c = '   ;");
        same_length("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)");
        same_length("r#type", "r#type");
    }

    #[test]
    fn a_string_that_never_ends_does_not_run_over() {
        assert_eq!(code("\"a\\"), "\"  ");
        assert_eq!(code("/* a"), "    ");
        assert_eq!(code("'\\"), "'\\");
        assert_eq!(code("'\\é"), "'\\é");
    }

    #[test]
    fn test_items_become_blanks() {
        let code = "a\n#[cfg(test)]\nmod tests { fn x() { y } }\nb\n#[cfg(test)]\nuse z;\n#[cfg(test)]\nfn w(v: [u8; 4]) {}\nc";
        assert_eq!(without_tests(code).split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(without_tests(code).lines().count(), code.lines().count());
    }

    #[test]
    fn a_word_is_found_only_where_it_stands_alone() {
        let code = "std::fs::read(std::fsx, xstd::fs, std::fs)";
        assert_eq!(places_of(code, "std::fs").collect::<Vec<_>>(), [0, 34]);
    }

    #[test]
    fn tests_are_found_under_attributes_and_in_proptest() {
        let code = "#[test]\nfn one() {}\n#[tokio::test(flavor = x)]\nasync fn two() {}\n fn helper() {}\n\
                    #[cfg(test)]\nfn not_one() {}\nproptest! { #![x]\n fn three(a in b) { let c = d; } }\n\
                    #[test]\n#[expect(dead_code, reason = 1)]\nfn four() {}";
        assert_eq!(tests(code), ["one", "two", "three", "four"]);
    }
}
