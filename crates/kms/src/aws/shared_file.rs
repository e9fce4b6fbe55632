//! A file of credentials as AWS's own tools have it: sections of `name = value`.
use super::credentials::{Keys, denied, read_text};
use crate::Failure;
use secret::Secret;
use std::path::Path;
use zeroize::Zeroizing;

/// The credentials of a profile.
pub(super) fn read(path: &Path, profile: &str) -> Result<Keys, Failure> {
    let text = Zeroizing::new(read_text(path)?);
    let value = |name: &str| find(&text, profile, name);
    let shown = path.display();
    let required =
        |name: &str| value(name).ok_or_else(|| denied(format!("{shown} has no {name} in the profile {profile}")));
    Ok(Keys {
        access_key_id: required("aws_access_key_id")?.to_owned(),
        secret_access_key: Secret::new(required("aws_secret_access_key")?.to_owned()),
        session_token: value("aws_session_token").map(|token| Secret::new(token.to_owned())),
    })
}

/// The last value of a name in a section, as AWS's tools take it.
fn find<'a>(text: &'a str, profile: &str, wanted: &str) -> Option<&'a str> {
    let (mut is_ours, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            is_ours = section.trim() == profile;
        } else if let Some((name, value)) = line.split_once('=')
            && is_ours
            && name.trim() == wanted
        {
            found = Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_in_its_profile_alone() {
        let text = "# aws_access_key_id = no\n[default]\naws_access_key_id=A\n [ other ] \naws_access_key_id = B \naws_secret_access_key = x=y\n[empty]\naws_access_key_id =\n";
        let cases = [("default", Some("A")), ("other", Some("B")), ("empty", None), ("absent", None)];
        for (profile, wanted) in cases {
            assert_eq!(find(text, profile, "aws_access_key_id"), wanted, "{profile}");
        }
        assert_eq!(find(text, "other", "aws_secret_access_key"), Some("x=y"));
    }
}
