//! The expiration of a token, as it stands in its Secret.
use crate::{Seen, Target};
use discovery::{Expiry, Moment, Remaining, expiry::rfc3339};
use jiff::Timestamp;

pub(super) const TARGET: Target = Target {
    name: "expiration",
    inputs: 500_000,
    seeds,
    words: &[
        "2026-11-15",
        "T",
        "t",
        "Z",
        "z",
        "12:34:56",
        ".123456789",
        ",5",
        "+24:60",
        "-00:00",
        "+14:00",
        "60",
        "29",
        "02",
    ],
    read: target,
};

fn seeds() -> Vec<Vec<u8>> {
    [
        "2026-11-15T12:34:56Z",
        "2024-02-29T1:34:56,123456789012+24:60",
        "0000-01-01T00:00:00+24:00",
        "9999-12-31T23:59:59.999999999-24:00",
        "2026-11-15 12:34:56",
        "2100-02-29T12:00:00Z",
        "",
    ]
    .map(|seed| seed.as_bytes().to_vec())
    .to_vec()
}

/// What is read is a time whatever the clock says: it has passed or lies ahead, never both; what is written back is the
/// same second; and where a common reader takes the text for a time, it is the same one.
fn target(input: &[u8]) -> Seen {
    let expiry = Expiry::read(Some(input));
    assert_eq!(expiry == Expiry::Never, input.is_empty());
    for now in [Timestamp::MIN, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
        let (passed, ahead) = (expiry.has_passed(now), expiry.ahead(now));
        assert_eq!(passed, expiry.remaining(now) == Remaining::Expired);
        assert_eq!(ahead.is_some(), !passed && expiry != Expiry::Never, "neither passed nor ahead");
    }
    let Expiry::At(moment) = expiry else { return Seen::new((expiry == Expiry::Never, shape(input))) };
    let Ok(text) = std::str::from_utf8(input) else { panic!("a time that is no text") };
    assert!(text.is_ascii() && (19..).contains(&text.len()), "no time is so short, or not in ASCII");
    for longer in [format!("{text}0"), format!(" {text}"), format!("{text}Z")] {
        assert_eq!(rfc3339(&longer), None, "{longer:?} is read as well");
    }
    written_back(moment);
    beside_a_common_reader(text, moment);
    Seen::new((moment.date().len(), shape(input)))
}

/// Years before 0 can be meant but not written.
fn written_back(moment: Moment) {
    let written = moment.to_string();
    match rfc3339(&written) {
        Some(again) => assert_eq!(again.to_string(), written),
        None => assert!(written.starts_with('-'), "{written} can't be read back"),
    }
}

/// jiff reads nearly the same form; where both read a text, they must mean the same time.
fn beside_a_common_reader(text: &str, moment: Moment) {
    if let Ok(time) = text.parse::<Timestamp>() {
        assert_eq!(Moment::from(time), moment, "{text:?} means another time elsewhere");
    }
}

/// How far the text looks like a time, what comes then, and how it ends.
fn shape(input: &[u8]) -> (usize, Option<u8>, Option<u8>) {
    let fits = |(wanted, given): &(&u8, &u8)| if **wanted == b'0' { given.is_ascii_digit() } else { wanted == given };
    let right = b"0000-00-00T00:00:00".iter().zip(input).take_while(fits).count();
    (right, input.get(right).copied(), input.len().checked_sub(6).and_then(|at| input.get(at)).copied())
}
