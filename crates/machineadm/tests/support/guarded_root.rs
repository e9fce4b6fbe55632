//! A root with something precious beside it, and a run on it that must not touch that.
use crate::support::{
    binary::run,
    differences::differences,
    file_tree::{Tree, look},
    run_output::RunOutput,
    scratch::Scratch,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// What lies outside, and must neither change nor be read into the root.
const CANARY: &str = "precious and outside\n";

/// A root, and beside it a directory that nobody may touch.
pub(crate) struct GuardedRoot {
    dir: Scratch,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
}

impl GuardedRoot {
    /// An empty root with `/etc`, and a canary outside.
    pub(crate) fn new() -> Self {
        let dir = Scratch::new("guarded-root");
        let (root, outside) = (dir.path().join("root"), dir.path().join("outside"));
        fs::create_dir_all(root.join("etc")).expect("a directory can be made");
        fs::create_dir(&outside).expect("a directory can be made");
        fs::write(outside.join("keep"), CANARY).expect("a file can be written");
        Self { dir, root, outside }
    }

    /// Where a path of the root's lies for us.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Makes a directory in the root.
    pub(crate) fn dir(&self, path: &str) {
        fs::create_dir_all(self.at(path)).expect("a directory can be made");
    }

    /// Makes a link in the root.
    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        let place = self.at(path);
        fs::create_dir_all(place.parent().expect("below the root")).expect("a directory can be made");
        std::os::unix::fs::symlink(target, place).expect("a link can be made");
    }

    /// Lets the program write a file, or a block of it; what is outside must be as it was.
    pub(crate) fn bootstrap(&self, path: &str, block: Option<&str>) -> RunOutput {
        let block = block.map(|name| format!(", block: {name}")).unwrap_or_default();
        let text = format!(
            "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\n\
             spec: {{files: [{{path: {path}, content: \"written\\n\"{block}}}]}}\n"
        );
        let configuration = self.dir.path().join("configuration.yaml");
        fs::write(&configuration, text).expect("a file can be written");
        let before = self.beside();
        let ran = run(["--root".as_ref(), self.root.as_path(), "bootstrap".as_ref(), "-f".as_ref(), &configuration]);
        assert_eq!(differences(&before, &self.beside()), Vec::<String>::new(), "{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Nothing from outside was copied into the root.
    pub(crate) fn has_read_nothing_outside(&self) {
        let inside = look(&self.root);
        let copied = inside.iter().find(|(_, entry)| String::from_utf8_lossy(&entry.body).contains(CANARY.trim()));
        assert_eq!(copied.map(|(name, _)| name), None, "what is outside was read into the root");
    }

    /// Everything beside the root.
    fn beside(&self) -> Tree {
        let names = fs::read_dir(self.dir.path()).expect("a directory can be listed");
        let names = names.map(|entry| entry.expect("a directory can be listed to its end").file_name());
        let others = names.filter(|name| name != "root").map(|name| name.to_string_lossy().into_owned());
        let mut tree = Tree::new();
        for name in others {
            tree.extend(
                look(&self.dir.path().join(&name)).into_iter().map(|(path, entry)| (name.clone() + &path, entry)),
            );
        }
        tree
    }
}
