//! Every crate that is built has a licence that `deny.toml` allows: what `cargo deny` would say, for plain `cargo test`.
use super::Finding;
use super::tree::{Tree, line_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use toml::Table;

const LOCK: &str = "Cargo.lock";
const DENY: &str = "deny.toml";
/// What CI and machines are; crates for other systems are listed in the lock file and never built.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let allowed = allowed(tree.text(DENY).unwrap_or_default());
    let packages = match packages() {
        Ok(packages) => packages,
        Err(why) => return vec![Finding::new(LOCK, 0, format!("cargo can't tell the licences: {why}"))],
    };
    let lock = tree.text(LOCK).unwrap_or_default();
    packages.iter().filter_map(|package| objection(package, &allowed, lock)).collect()
}

fn packages() -> Result<Vec<Value>, String> {
    let words = ["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", PLATFORM];
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ran = Command::new(cargo).args(words).current_dir(crate::repository()).output();
    let ran = ran.map_err(|error| error.to_string())?;
    let metadata: Value = serde_json::from_slice(&ran.stdout)
        .map_err(|_| String::from_utf8_lossy(&ran.stderr).lines().next().unwrap_or_default().to_owned())?;
    Ok(metadata["packages"].as_array().cloned().unwrap_or_default())
}

fn allowed(deny: &str) -> BTreeSet<String> {
    let deny: Table = deny.parse().unwrap_or_default();
    let list = deny.get("licenses").and_then(|licences| licences.get("allow")).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn objection(package: &Value, allowed: &BTreeSet<String>, lock: &str) -> Option<Finding> {
    let name = package["name"].as_str()?;
    let message = match package["license"].as_str() {
        Some(licence) if is_allowed(licence, allowed) => return None,
        Some(licence) => format!("`{name}` is under {licence}, which {DENY} does not allow"),
        None => format!("`{name}` names no licence"),
    };
    Some(Finding::new(LOCK, line_of(lock, &format!("name = \"{name}\"")), message))
}

/// Whether an SPDX expression can be met; `/` is how older crates write OR.
fn is_allowed(licence: &str, allowed: &BTreeSet<String>) -> bool {
    let all = |text: &str, separator: &str| parts(text, separator).len() > 1;
    let text = bare(licence.trim());
    if all(text, " AND ") {
        return parts(text, " AND ").into_iter().all(|part| is_allowed(part, allowed));
    }
    for or in [" OR ", "/"] {
        if all(text, or) {
            return parts(text, or).into_iter().any(|part| is_allowed(part, allowed));
        }
    }
    allowed.contains(text)
}

/// Without brackets around the whole.
fn bare(text: &str) -> &str {
    match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) if parts(text, ")").len() == 2 && !inner.contains('(') => inner,
        _ => text,
    }
}

/// Split where no bracket is open.
fn parts<'a>(text: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && at >= begin && text[at..].starts_with(separator) {
            parts.push(&text[begin..at]);
            begin = at + separator.len();
        }
    }
    parts.push(&text[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_met_by_what_is_allowed() {
        let allowed: BTreeSet<String> =
            ["MIT", "ISC", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned).into();
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/GPL-3.0",
            "(GPL-3.0 OR MIT) AND ISC",
            "ISC AND (Apache-2.0 OR GPL-3.0)",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "ISC AND (Apache-2.0 OR GPL-3.0) AND MIT",
        ] {
            assert!(is_allowed(good, &allowed), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND GPL-3.0", "Apache-2.0 WITH Other", ""] {
            assert!(!is_allowed(bad, &allowed), "{bad}");
        }
    }

    #[test]
    fn a_crate_without_an_allowed_licence_is_found() {
        let package = |licence: Value| serde_json::json!({"name": "odd", "license": licence});
        let found = |licence| objection(&package(licence), &BTreeSet::from(["MIT".to_owned()]), "name = \"odd\"\n");
        assert_eq!(found("MIT".into()), None);
        assert!(found("GPL-3.0".into()).unwrap().to_string().contains("is under GPL-3.0"));
        assert!(found(Value::Null).unwrap().to_string().contains("names no licence"));
    }
}
