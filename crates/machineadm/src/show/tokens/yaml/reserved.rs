//! Text that Go's YAML reader would take for something else: it is written in quotes.
use jiff::civil::Date;

const WORDS: &[&str] = &[
    "", "~", "null", "Null", "NULL", "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N",
    "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF",
    "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
];

pub(super) fn is_word(text: &str) -> bool {
    WORDS.contains(&text)
}

pub(super) fn is_number(text: &str) -> bool {
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        return false;
    }
    let plain = text.replace('_', "");
    is_based(&plain) || is_float(&plain) || is_sexagesimal(text)
}

/// `0x1f`, `0o17`, `0b101`, with a sign or without.
fn is_based(text: &str) -> bool {
    let magnitude = text.strip_prefix(['+', '-']).unwrap_or(text);
    let bases = [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)];
    bases.iter().any(|(prefix, base)| {
        let digits = magnitude.strip_prefix(prefix).unwrap_or_default();
        digits.chars().all(|c| c.is_digit(*base)) && u64::from_str_radix(digits, *base).is_ok()
    })
}

fn is_float(text: &str) -> bool {
    let is_of_float = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    text.chars().all(is_of_float) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `12:30:45`, which YAML 1.1 counted in sixties.
fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let of_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or_default();
    let is_sixtieth = |part: &str| short(part).is_some_and(|(number, rest)| rest.is_empty() && number < 60);
    whole.contains(':')
        && first.starts_with(|c: char| c.is_ascii_digit())
        && of_digits(first)
        && of_digits(fraction)
        && parts.all(is_sixtieth)
}

/// A date, or a date and a time, in one of the four forms that the reader knows.
pub(super) fn is_time(text: &str) -> bool {
    date(text).is_some_and(|rest| match rest.split_at_checked(1) {
        None => true,
        Some(("T" | "t", rest)) => clock(rest).is_some_and(is_zone),
        Some((" ", rest)) => clock(rest) == Some(""),
        Some(_) => false,
    })
}

/// What stands behind a date.
fn date(text: &str) -> Option<&str> {
    let (year, rest) = text.split_at_checked(4)?;
    let year = Some(year).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()?;
    let (month, rest) = short(rest.strip_prefix('-')?)?;
    let (day, rest) = short(rest.strip_prefix('-')?)?;
    Date::new(year, month, day).ok().map(|_| rest)
}

/// What stands behind hours, minutes and seconds.
fn clock(text: &str) -> Option<&str> {
    let (hour, rest) = short(text)?;
    let (minute, rest) = short(rest.strip_prefix(':')?)?;
    let (second, rest) = short(rest.strip_prefix(':')?)?;
    let fraction = rest.strip_prefix(['.', ',']).filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let rest = fraction.map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    (hour < 24 && minute < 60 && second < 60).then_some(rest)
}

fn is_zone(text: &str) -> bool {
    let of_two =
        |part: &str, most: i8| part.len() == 2 && short(part).is_some_and(|(n, rest)| rest.is_empty() && n <= most);
    let offset = text.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
    text == "Z" || offset.is_some_and(|(hours, minutes)| of_two(hours, 24) && of_two(minutes, 60))
}

/// A number of one or two digits, and what stands behind it.
fn short(text: &str) -> Option<(i8, &str)> {
    let length = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    Some((digits.parse().ok()?, rest))
}
