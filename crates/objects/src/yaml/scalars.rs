//! What YAML 1.1 makes of a word without quotes, as the readers of Kubernetes' programs do it.
use serde_json::{Number, Value};

/// The value of a plain scalar; `None` for numbers that JSON lacks.
pub(super) fn plain(word: &str) -> Option<Value> {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Some(Value::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Some(Value::Bool(false))
        }
        ".nan" | ".NaN" | ".NAN" => None,
        _ if is_infinite(word) => None,
        _ => number(word).unwrap_or_else(|| Some(Value::from(word))),
    }
}

fn is_infinite(word: &str) -> bool {
    matches!(word.strip_prefix(['-', '+']).unwrap_or(word), ".inf" | ".Inf" | ".INF")
}

/// The number that a word is; the inner `None` is one that is too large for JSON.
fn number(word: &str) -> Option<Option<Value>> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+')) {
        return None;
    }
    // Go's reader does not take underscores out of what begins with a dot.
    let digits = if word.starts_with('.') { word.to_owned() } else { word.replace('_', "") };
    if let Some(integer) = integer(&digits) {
        return Some(Some(integer));
    }
    if !looks_like_float(&digits) {
        return None;
    }
    let float: f64 = digits.parse().ok()?;
    Some(Number::from_f64(float).map(Value::Number))
}

/// Go's integers: decimal, 0x, 0o, 0b, and a leading zero for octal.
fn integer(text: &str) -> Option<Value> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some(_) if lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if negative { Some(Value::from(0_i64.checked_sub_unsigned(size)?)) } else { Some(Value::from(size)) }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn looks_like_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    has_digits && digits(whole) && digits(fraction) && exponent.is_none_or(|text| !text.is_empty() && digits(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_mean_what_they_mean_to_kubeadm() {
        for (word, expected) in [
            ("", json!(null)),
            ("yes", json!(true)),
            ("Off", json!(false)),
            ("tRue", json!("tRue")),
            ("014", json!(12)),
            ("08", json!(8.0)),
            ("0x1F", json!(31)),
            ("0b11", json!(3)),
            ("-0b11", json!(-3)),
            ("1_000", json!(1000)),
            ("_1", json!("_1")),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("1.30", json!(1.3)),
            ("0", json!(0)),
            ("-1", json!(-1)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1,000", json!("1,000")),
            ("10.96.0.0/12", json!("10.96.0.0/12")),
            ("2001-01-01", json!("2001-01-01")),
            ("0x", json!("0x")),
            ("-", json!("-")),
            (".", json!(".")),
            ("4m", json!("4m")),
            ("v1.36.0", json!("v1.36.0")),
        ] {
            assert_eq!(plain(word), Some(expected), "{word}");
        }
        assert_eq!([plain(".nan"), plain("-.Inf")], [None, None]);
    }
}
