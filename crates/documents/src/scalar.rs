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

/// A whole number that programs can count with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integer {
    Signed(i64),
    Unsigned(u64),
}

/// The value of a word that is a whole number; `None` if it is larger than programs can count.
pub(crate) fn integer(word: &str) -> Option<Integer> {
    let (digits, radix) = match (word.strip_prefix("0x"), word.strip_prefix("0o")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 8),
        _ => (word, 10),
    };
    let signed = i64::from_str_radix(digits, radix).ok().map(Integer::Signed);
    signed.or_else(|| u64::from_str_radix(digits, radix).ok().map(Integer::Unsigned))
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
    fn whole_numbers_have_their_value_in_every_notation() {
        for (word, expected) in [
            ("0x1F", Some(Integer::Signed(31))),
            ("0o17", Some(Integer::Signed(15))),
            ("-7", Some(Integer::Signed(-7))),
            ("+7", Some(Integer::Signed(7))),
            ("18446744073709551615", Some(Integer::Unsigned(u64::MAX))),
            ("18446744073709551616", None),
            ("-9223372036854775809", None),
        ] {
            assert_eq!((type_of(word), integer(word)), (Type::Integer, expected), "{word}");
        }
    }

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
