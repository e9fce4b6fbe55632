//! Renderings on the running machine: a directory of root's alone below `/run/machineadm`, deleted at the end.
use super::command::Runner;
use crate::{Call, Error, Program, Rendering, Result, contract::RUN_DIR};
use secret::Secret;
use std::{
    fs::{DirBuilder, OpenOptions},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// The largest file that a program may render.
const LARGEST: u64 = 1 << 20;

/// Runs the program and gives what it has written.
pub(super) fn rendered(rendering: &Rendering, runner: &Runner<'_>) -> Result<Secret<Vec<u8>>> {
    let Rendering { argv, environment, input, output, within } = rendering;
    let name = argv.first().cloned().unwrap_or_default();
    let doing = || format!("render {output} with {name}");
    let directory = Directory::create().map_err(Error::io(doing()))?;
    directory.write(Rendering::INPUT, input.expose()).map_err(Error::io(doing()))?;
    let path = directory.0.to_string_lossy().into_owned();
    let at_directory = |word: &str| word.replace(Rendering::DIRECTORY, &path);
    let environment = environment.iter().map(|(key, value)| (key.clone(), Secret::new(at_directory(value.expose()))));
    let program = Program {
        name: name.clone(),
        call: Call::Argv(argv.iter().map(|word| at_directory(word)).collect()),
        environment: environment.collect(),
        within: *within,
    };
    runner.run_silently(&program)?;
    directory.read(output).map(Secret::new).map_err(Error::io(doing()))
}

struct Directory(PathBuf);

impl Directory {
    fn create() -> std::io::Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        DirBuilder::new().recursive(true).mode(0o755).create(RUN_DIR)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = Path::new(RUN_DIR).join(format!("rendering-{}-{number}", std::process::id()));
        // One of a process that was killed and had the same number.
        let _ = std::fs::remove_dir_all(&path);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    fn write(&self, name: &str, text: &str) -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.0.join(name))?;
        file.write_all(text.as_bytes())
    }

    fn read(&self, name: &str) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.0.join(name))?.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
