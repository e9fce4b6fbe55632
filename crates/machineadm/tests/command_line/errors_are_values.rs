//! Rules over our own source: errors are values that one place prints, and one function writes results.
use std::{
    fs,
    path::{Path, PathBuf},
};

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("our source can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The lines that hold any of these texts, unit tests left out, but for one file that may.
fn lines_with(texts: &[&str], allowed: &str) -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    files.retain(|file| *file != source.join(allowed));
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("our source can be read");
        let program = text.split("#[cfg(test)]").next().unwrap_or_default();
        let hits = program.lines().filter(|line| texts.iter().any(|text| line.contains(text)));
        found.extend(hits.map(|line| format!("{}: {}", file.display(), line.trim())));
    }
    found
}

#[test]
fn no_function_returns_an_exit_code_as_its_error() {
    assert_eq!(lines_with(&[", Exit>"], "lib.rs"), [""; 0], "return a CommandError");
}

#[test]
fn only_an_error_value_prints_as_an_error() {
    assert_eq!(lines_with(&["\"error: "], "command_error.rs"), [""; 0], "return a CommandError");
}

#[test]
fn only_one_function_writes_to_standard_output() {
    let mut found = lines_with(&["stdout()", "Stdout"], "show/mod.rs");
    found.retain(|line| !line.contains("stdout().is_terminal()"));
    assert_eq!(found, [""; 0], "print results with show::print");
}
