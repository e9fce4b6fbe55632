//! A scratch machine: its root, a passphrase that only its owner reads, and files beside them.
use crate::support::{binary, run_output::RunOutput, scratch::Scratch};
use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

pub(crate) const PASSPHRASE: &str = "correct horse battery staple";

pub(crate) struct ScratchMachine {
    dir: Scratch,
}

impl ScratchMachine {
    pub(crate) fn new() -> Self {
        let scratch = Self { dir: Scratch::new("sealed") };
        fs::create_dir_all(scratch.root().join("etc")).expect("a directory can be made");
        fs::write(scratch.root().join("etc/hostname"), "node-7\n").expect("a file can be written");
        scratch.write("passphrase", &format!("{PASSPHRASE}\n"));
        scratch.chmod("passphrase", 0o600);
        scratch
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    /// Where a file of this name is.
    pub(crate) fn path(&self, name: &str) -> String {
        self.dir.path().join(name).to_str().expect("a plain name").to_owned()
    }

    pub(crate) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name))
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file can be written");
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect("a mode can be set");
    }

    /// Runs machineadm, on the root unless the command has none; words that begin with `@` are names of files here.
    pub(crate) fn run(&self, words: &[&str]) -> RunOutput {
        let has_root = !["encrypt", "decrypt"].contains(&words.first().copied().unwrap_or_default());
        let root = has_root.then(|| ["--root".to_owned(), self.path("root")]).into_iter().flatten();
        let words = words.iter().map(|word| match word.strip_prefix('@') {
            Some(name) => self.path(name),
            None => (*word).to_owned(),
        });
        binary::run(root.chain(words))
    }

    /// Seals documents with more options; the sealed text.
    pub(crate) fn seal(&self, documents: &str, options: &[&str]) -> String {
        self.write("plain.yaml", documents);
        let uri = self.uri("passphrase");
        let words = ["encrypt", "--passphrase-uri", &uri, "-f", "@plain.yaml", "--iterations", "1000"];
        let ran = self.run(&[&words, options].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        fs::remove_file(self.path("plain.yaml")).expect("a file can be removed");
        ran.stdout
    }

    /// Writes a configuration and bootstraps with it.
    pub(crate) fn bootstrap(&self, configuration: &str) -> RunOutput {
        self.write("node.yaml", configuration);
        self.run(&["bootstrap", "-f", "@node.yaml"])
    }
}
