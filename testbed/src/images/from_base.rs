//! Programs of Debian's in an image: taken from the base, with the libraries that they load.
use crate::oci::Image;
use crate::{Result, child};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Lists programs and further files, which the first word has as patterns, and all that they load.
const LIST: &str = r#"
further=$([ -z "$1" ] || ls -d $1)
shift
ldd "$@" $further | grep -o '/[^ ]*' | sed 's/:$//' | grep '\.so' | sort -u | xargs realpath
ldd "$@" | grep -o '/[^ ]*' | grep '\.so'
printf '%s\n' "$@" $further"#;

/// Adds programs of the base and further files that match patterns, with all they load, at the paths they have there.
pub(super) fn add_programs(base: &Path, image: &mut Image, programs: &[String], further: &str) -> Result<()> {
    let mut list = Command::new("chroot");
    list.arg(base).args(["sh", "-ec", LIST, "list", further]).args(programs);
    let listed = child::check(&mut list, Duration::from_secs(60))?;
    let mut paths: Vec<String> = listed.lines().map(|path| in_usr(path.trim())).collect();
    paths.sort();
    paths.dedup();
    image.files.extend(paths.into_iter().map(|path| (path.clone(), base.join(path))));
    image.links.extend(["bin", "sbin", "lib", "lib64"].map(|name| (name.to_owned(), format!("usr/{name}"))));
    Ok(())
}

/// Where a path is in a tree whose `/lib` and `/sbin` are links into `/usr`.
fn in_usr(path: &str) -> String {
    let path = path.trim_start_matches('/');
    if path.starts_with("usr/") { path.to_owned() } else { format!("usr/{path}") }
}
