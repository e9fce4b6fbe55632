//! The test binaries of the workspace, as cargo builds them, and the tests that each lists.
use super::job::Test;
use super::process::Place;
use super::verdict;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One test binary.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Binary {
    /// The package's folder and its target: `machineadm tests/workers/main.rs`.
    pub(super) name: String,
    /// The words by which cargo starts it: `-p machineadm --test workers`.
    cargo_words: String,
    /// The package's directory, where its tests run.
    package: PathBuf,
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
    let target = message["target"]["name"].as_str()?;
    let kind = match message["target"]["kind"][0].as_str()? {
        "bin" => format!("--bin {target}"),
        "test" => format!("--test {target}"),
        "bench" => format!("--bench {target}"),
        _ => "--lib".to_owned(),
    };
    let cargo_words = format!("-p {} {kind}", package_name(message["package_id"].as_str()?));
    Some(Binary { name, cargo_words, package: package.to_owned(), program: program.into() })
}

/// From `path+file:///r/crates/host#machineadm-host@0.1.0`, where the name is left out if the folder has it.
fn package_name(id: &str) -> &str {
    let (path, named) = id.rsplit_once('#').unwrap_or((id, ""));
    named.split_once('@').map_or_else(|| path.rsplit('/').next().unwrap_or(path), |(name, _)| name)
}

impl Binary {
    /// All its tests, with what those of the long tier add.
    pub(super) fn tests(&self, place: &Place) -> Result<Vec<Test>, String> {
        let all = paths(&self.printed(place, &["--list", "--format", "terse"])?);
        let ignored = paths(&self.printed(place, &["--list", "--format", "terse", "--ignored"])?);
        let adds = if ignored.is_empty() { BTreeMap::new() } else { self.adds(place, &ignored)? };
        let test = |path: String| Test {
            binary: self.name.clone(),
            program: self.program.clone(),
            package: self.package.clone(),
            cargo_words: self.cargo_words.clone(),
            adds: adds.get(&path).cloned(),
            path,
        };
        Ok(all.into_iter().map(test).collect())
    }

    /// The harness names the reason of an ignored test only where it would have run it.
    fn adds(&self, place: &Place, ignored: &[String]) -> Result<BTreeMap<String, String>, String> {
        let mut words = vec!["--exact"];
        words.extend(ignored.iter().map(String::as_str));
        let adds = verdict::ignored(&self.printed(place, &words)?);
        match ignored.iter().find(|path| !adds.contains_key(*path)) {
            None => Ok(adds),
            Some(path) => Err(format!("{} {path} is ignored without `{}..`", self.name, verdict::LONG)),
        }
    }

    fn printed(&self, place: &Place, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        place.tell(&mut command);
        let output = command.current_dir(&self.package).args(words).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot run {}: {error}", self.name))?;
        if !output.status.success() {
            return Err(format!("the tests of {} cannot be listed: {}", self.name, output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// The tests of a list.
fn paths(listed: &str) -> Vec<String> {
    listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_artifacts_of_tests_are_binaries() {
        let artifact = |test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///r/crates/host#machineadm-host@0.1.0","manifest_path":"/r/crates/host/Cargo.toml","target":{{"kind":["test"],"name":"os","src_path":"/r/crates/host/tests/os.rs"}},"profile":{{"test":{test}}},"executable":"/r/target/debug/deps/os-1"}}"#
            )
        };
        let found = Binary {
            name: "host tests/os.rs".to_owned(),
            cargo_words: "-p machineadm-host --test os".to_owned(),
            package: "/r/crates/host".into(),
            program: "/r/target/debug/deps/os-1".into(),
        };
        assert_eq!(binary(&artifact(true)), Some(found));
        assert_eq!(binary(&artifact(false)), None);
        assert_eq!(binary(r#"{"reason":"build-finished","success":true}"#), None);
        assert_eq!(binary("   Compiling"), None);
    }

    #[test]
    fn a_package_is_named_by_its_id() {
        assert_eq!(package_name("path+file:///r/crates/host#machineadm-host@0.1.0"), "machineadm-host");
        assert_eq!(package_name("path+file:///r/crates/machineadm#0.1.0"), "machineadm");
    }

    #[test]
    fn only_tests_of_a_list_are_tests() {
        assert_eq!(paths("a::b: test\nbench: benchmark\n\n2 tests, 1 benchmark\n"), ["a::b"]);
    }
}
