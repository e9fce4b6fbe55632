//! The owner and the mode of a file or directory, as configurations write them.
use crate::findings::Findings;

/// The owner of a file or directory, by name or by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// User.
    pub user: String,
    /// Group.
    pub group: String,
}

/// Reads `user` or `user:group`; without a group, the group has the user's name.
pub(super) fn owner(text: &str, here: &str, findings: &mut Findings<'_>) -> Option<Owner> {
    let (user, group) = text.split_once(':').unwrap_or((text, text));
    if is_account(user) && is_account(group) {
        return Some(Owner { user: user.to_owned(), group: group.to_owned() });
    }
    findings.error(here, "must be `user` or `user:group`, names or numbers");
    None
}

/// Reads permission bits.
pub(super) fn mode(text: &str, here: &str, findings: &mut Findings<'_>) -> Option<u32> {
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    let mode = if is_octal { u32::from_str_radix(text, 8).ok() } else { None };
    if mode.is_none() {
        findings.error(here, "must be 3 or 4 octal digits, such as \"0644\"");
    }
    mode
}

/// A user's or group's name, or its number; the largest number means "no change" to the kernel.
fn is_account(name: &str) -> bool {
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return name.parse::<u32>().is_ok_and(|number| number < u32::MAX);
    }
    let name = name.strip_suffix('$').unwrap_or(name);
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.@-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-')
}
