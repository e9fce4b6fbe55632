//! What YAML's core schema makes of a word without quotes.

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Null,
    Bool,
    Integer,
    Number,
    Text,
}

/// The type of a plain scalar; quoted ones are always text.
pub(crate) fn type_of(word: &str) -> Type {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Type::Null,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Type::Bool,
        _ if is_integer(word) => Type::Integer,
        _ if is_number(word) => Type::Number,
        _ => Type::Text,
    }
}

fn is_integer(word: &str) -> bool {
    let all = |digits: &str, radix| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    match word.strip_prefix("0x") {
        Some(digits) => all(digits, 16),
        None => match word.strip_prefix("0o") {
            Some(digits) => all(digits, 8),
            None => all(unsigned(word), 10),
        },
    }
}

fn is_number(word: &str) -> bool {
    let word = unsigned(word);
    if matches!(word, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let (mantissa, exponent) = match word.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(unsigned(exponent))),
        None => (word, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    has_digits && digits(whole) && digits(fraction) && exponent.is_none_or(|text| !text.is_empty() && digits(text))
}

fn unsigned(word: &str) -> &str {
    word.strip_prefix(['-', '+']).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_types_of_the_core_schema() {
        for (word, expected) in [
            ("", Type::Null),
            ("~", Type::Null),
            ("true", Type::Bool),
            ("yes", Type::Text),
            ("0644", Type::Integer),
            ("0o644", Type::Integer),
            ("-1", Type::Integer),
            ("0x1F", Type::Integer),
            ("1.5", Type::Number),
            (".5", Type::Number),
            ("1e3", Type::Number),
            ("-.inf", Type::Number),
            (".", Type::Text),
            ("e3", Type::Text),
            ("1e", Type::Text),
            ("1.2.3", Type::Text),
            ("10.0.0.0/8", Type::Text),
            ("-", Type::Text),
        ] {
            assert_eq!(type_of(word), expected, "{word}");
        }
    }
}
