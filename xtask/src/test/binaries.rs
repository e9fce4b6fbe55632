//! The test binaries of the workspace, as cargo builds and lists them.
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One test binary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binary {
    /// The package and its target: `machineadm tests/documents/main.rs`.
    pub(super) name: String,
    /// The package's directory, where its tests run.
    pub(super) package: PathBuf,
    pub(super) program: PathBuf,
}

/// Builds all of them. Compiler messages go to standard error as ever.
pub(super) fn build(root: &Path) -> Result<Vec<Binary>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args(["test", "--workspace", "--locked", "--no-run"]);
    cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let built = cargo.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    if !built.status.success() {
        return Err("the tests do not build".to_owned());
    }
    Ok(String::from_utf8_lossy(&built.stdout).lines().filter_map(binary).collect())
}

/// The test binary that a line of cargo's messages is about.
fn binary(line: &str) -> Option<Binary> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let program = message["executable"].as_str()?;
    let package = Path::new(message["manifest_path"].as_str()?).parent()?;
    let source = Path::new(message["target"]["src_path"].as_str()?);
    let source = source.strip_prefix(package).unwrap_or(source);
    let name = format!("{} {}", package.file_name()?.to_string_lossy(), source.display());
    Some(Binary { name, package: package.to_owned(), program: program.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_artifacts_of_tests_are_binaries() {
        let artifact = |test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/r/crates/host/Cargo.toml","target":{{"src_path":"/r/crates/host/tests/os.rs"}},"profile":{{"test":{test}}},"executable":"/r/target/debug/deps/os-1"}}"#
            )
        };
        let found = Binary {
            name: "host tests/os.rs".to_owned(),
            package: "/r/crates/host".into(),
            program: "/r/target/debug/deps/os-1".into(),
        };
        assert_eq!(binary(&artifact(true)), Some(found));
        assert_eq!(binary(&artifact(false)), None);
        assert_eq!(binary(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(binary("   Compiling"), None);
    }
}
