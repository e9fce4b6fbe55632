//! The files that are named on the command line: together one configuration, or one each of a directory.
use crate::{command_error::CommandError, context::input_file};
use host::linux::input::Care;
use kubeadm::{Read, Rules, Source};
use objects::SMALL_FILE_LIMIT;
use std::path::Path;
use zeroize::Zeroizing;

/// Files that belong together.
pub(super) struct Configuration {
    files: Vec<File>,
}

struct File {
    name: String,
    text: Zeroizing<String>,
}

impl Configuration {
    /// Its files, for people.
    pub(super) fn name(&self) -> String {
        self.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The number of a file, in the order in which they were named.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        self.files.iter().position(|file| file.name == name)
    }

    /// The text of the document that starts on a line of a file, counted from 1.
    pub(super) fn document(&self, name: &str, line: usize) -> Option<&str> {
        let text = self.files.iter().find(|file| file.name == name)?.text.as_str();
        let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let text = &text[start..];
        Some(text.find("\n---").map_or(text, |end| &text[..=end]))
    }

    /// What kubeadm would make of it.
    pub(super) fn read(&self, rules: Rules) -> Read {
        let sources: Vec<_> = self.files.iter().map(|file| Source { name: &file.name, text: &file.text }).collect();
        kubeadm::read(&sources, rules)
    }
}

/// Reads the files and directories that are named.
pub(super) fn configurations(names: &[String]) -> Result<Vec<Configuration>, CommandError> {
    let mut together = Vec::new();
    let mut each = Vec::new();
    for name in names {
        if Path::new(name).is_dir() {
            let single = files_of(name)?.into_iter().map(|name| Ok(Configuration { files: vec![file(&name)?] }));
            each.extend(single.collect::<Result<Vec<_>, CommandError>>()?);
        } else {
            together.push(file(name)?);
        }
    }
    if !together.is_empty() {
        each.insert(0, Configuration { files: together });
    }
    Ok(each)
}

/// The files that are named, and in the place of each directory its YAML and JSON files by name.
pub(crate) fn with_directories(names: &[String]) -> Result<Vec<String>, CommandError> {
    let files = names.iter().map(|name| if Path::new(name).is_dir() { files_of(name) } else { Ok(vec![name.clone()]) });
    Ok(files.collect::<Result<Vec<_>, _>>()?.concat())
}

/// One file's text.
pub(super) fn text(name: &str) -> Result<Zeroizing<String>, CommandError> {
    let bytes = input_file(name, Care::Reading, SMALL_FILE_LIMIT as u64)?;
    if bytes.len() > SMALL_FILE_LIMIT {
        return Err(CommandError::invalid(format!("{name}: larger than {} KiB", SMALL_FILE_LIMIT >> 10)));
    }
    let text = std::str::from_utf8(&bytes).map(|text| Zeroizing::new(text.trim_start_matches('\u{feff}').to_owned()));
    text.map_err(|_| CommandError::invalid(format!("{name}: not UTF-8 text")))
}

fn file(name: &str) -> Result<File, CommandError> {
    Ok(File { name: name.to_owned(), text: text(name)? })
}

/// The YAML and JSON files of a directory, by name.
fn files_of(folder: &str) -> Result<Vec<String>, CommandError> {
    let fail = |error: std::io::Error| CommandError::invalid(format!("{folder}: {error}"));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("yaml" | "yml" | "json")) && !path.is_dir() {
            names.push(path.display().to_string());
        }
    }
    if names.is_empty() {
        return Err(CommandError::invalid(format!(
            "{folder}: the directory has no file that ends in .yaml, .yml or .json"
        )));
    }
    names.sort();
    Ok(names)
}
