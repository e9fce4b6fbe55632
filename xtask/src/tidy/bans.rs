//! Crates that no binary of ours may contain: the list, Cargo.lock against it, and deny.toml against it.
use super::Finding;
use super::tree::{Tree, line_of};
use std::collections::BTreeSet;
use toml::{Table, Value};

/// The one list. `deny.toml` repeats it, with the same reasons, for `cargo deny`.
const BANNED: &[(&str, &str)] = &[
    ("chrono", "jiff is our clock, as it is k8s-openapi's"),
    ("native-tls", "TLS is rustls with aws-lc-rs"),
    ("openssl", "TLS is rustls with aws-lc-rs; OpenSSL breaks the static build"),
    ("openssl-sys", "TLS is rustls with aws-lc-rs; OpenSSL breaks the static build"),
    ("ring", "cryptography is aws-lc-rs; ring has no P-521"),
    ("rustls-pemfile", "retired; rustls-pki-types reads PEM"),
    ("serde_yaml", "archived; documents reads YAML with positions and limits"),
];

/// Crates that name a banned one for a feature that none of ours enables: Cargo then lists it, but never builds it
/// (`cargo tree --invert ring` finds nobody). Named by anybody else, it is found.
const ONLY_LISTED_BY: &[(&str, &str)] = &[("ring", "rustls-webpki")];

/// Where every crate that is not ours comes from.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

const LOCK: &str = "Cargo.lock";
const DENY: &str = "deny.toml";

pub(super) fn check_lock(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(LOCK) else { return vec![Finding::new(LOCK, 0, "the file is missing")] };
    let packages = packages(text);
    let counts = |package: &&Table| !is_only_listed(package, &packages);
    packages.iter().filter(counts).filter_map(|package| objection(text, package)).collect()
}

fn is_only_listed(package: &Table, packages: &[Table]) -> bool {
    let name = |package: &Table| package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let names = |other: &&Table| {
        let used = other.get("dependencies").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        used.into_iter().any(|used| used.split(' ').next() == Some(&name(package)))
    };
    let mut users = packages.iter().filter(names).map(name).peekable();
    users.peek().is_some() && users.all(|user| ONLY_LISTED_BY.contains(&(&name(package), &user)))
}

/// The packages of a lock file.
pub(super) fn packages(lock: &str) -> Vec<Table> {
    let lock: Table = lock.parse().unwrap_or_default();
    let packages = lock.get("package").and_then(Value::as_array);
    packages.into_iter().flatten().filter_map(Value::as_table).cloned().collect()
}

fn objection(text: &str, package: &Table) -> Option<Finding> {
    let name = package.get("name")?.as_str()?;
    let banned = BANNED.iter().find(|(banned, _)| *banned == name).map(|(_, reason)| format!("is banned: {reason}"));
    let source = package.get("source").and_then(Value::as_str).filter(|source| *source != SOURCE);
    let foreign = source.map(|source| format!("comes from elsewhere than crates.io: {source}"));
    let message = format!("`{name}` {}", banned.or(foreign)?);
    Some(Finding::new(LOCK, line_of(text, &format!("name = \"{name}\"")), message))
}

pub(super) fn check_deny(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(DENY) else { return vec![Finding::new(DENY, 0, "the file is missing")] };
    let ours: BTreeSet<(String, String)> =
        BANNED.iter().map(|(name, reason)| ((*name).to_owned(), (*reason).to_owned())).collect();
    let theirs = denied(text);
    let missing = ours.difference(&theirs).map(|(name, reason)| {
        Finding::new(DENY, 0, format!("must ban `{name}` with the reason of xtask/src/tidy/bans.rs: {reason}"))
    });
    let surplus = theirs.difference(&ours).map(|(name, _)| {
        let message = format!("bans `{name}` otherwise than xtask/src/tidy/bans.rs does");
        Finding::new(DENY, line_of(text, &format!("\"{name}\"")), message)
    });
    missing.chain(surplus).collect()
}

/// The crates that `deny.toml` bans, with their reasons.
fn denied(text: &str) -> BTreeSet<(String, String)> {
    let deny: Table = text.parse().unwrap_or_default();
    let entries = deny.get("bans").and_then(|bans| bans.get("deny")?.as_array());
    let member = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    entries.into_iter().flatten().map(|entry| (member(entry, "crate"), member(entry, "reason"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(name: &str, source: &str) -> Vec<String> {
        let text =
            format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nsource = \"{source}\"\n");
        check_lock(&Tree::made_up(&[(LOCK, &text)])).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn a_banned_crate_is_found_with_its_line_and_reason() {
        assert_eq!(
            lock("ring", SOURCE),
            ["Cargo.lock:4: `ring` is banned: cryptography is aws-lc-rs; ring has no P-521"]
        );
        assert_eq!(lock("string", SOURCE), [""; 0]);
    }

    #[test]
    fn a_banned_crate_passes_only_where_nobody_builds_it() {
        let text = |user: &str| {
            format!(
                "[[package]]\nname = \"ring\"\nversion = \"1\"\n\n\
                 [[package]]\nname = \"{user}\"\nversion = \"1\"\ndependencies = [\"ring\"]\n"
            )
        };
        assert_eq!(check_lock(&Tree::made_up(&[(LOCK, &text("rustls-webpki"))])), []);
        assert_eq!(check_lock(&Tree::made_up(&[(LOCK, &text("somebody"))])).len(), 1);
    }

    #[test]
    fn a_crate_from_elsewhere_is_found() {
        assert!(lock("serde", "git+https://example.com/serde")[0].contains("comes from elsewhere"));
    }

    #[test]
    fn deny_toml_must_say_the_same() {
        let entries = BANNED.iter().map(|(name, reason)| format!("{{ crate = \"{name}\", reason = \"{reason}\" }},\n"));
        let with = |more: &str| format!("[bans]\ndeny = [\n{}{more}]\n", entries.clone().collect::<String>());
        let found = |text: &str| check_deny(&Tree::made_up(&[(DENY, text)])).len();
        assert_eq!(found(&with("")), 0);
        assert_eq!(found(&with("{ crate = \"serde\", reason = \"x\" },\n")), 1);
        assert_eq!(found("[bans]\ndeny = []\n"), BANNED.len());
        assert_eq!(found(&with("").replace("ring has no P-521", "no reason")), 2);
    }
}
