//! A shell below a root, so that commands can run there.
use std::{fs, path::Path};

/// The shell and what it is linked with.
const FILES: [&str; 3] = ["/bin/sh", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"];

/// Puts it there; links on the way are the host's own and are not copied.
pub(crate) fn install(root: &Path) {
    for file in FILES {
        let place = root.join(file.trim_start_matches('/'));
        fs::create_dir_all(place.parent().expect("it lies in a directory")).expect("a directory can be made");
        testbed::copy_program(Path::new(file), &place)
            .unwrap_or_else(|error| panic!("{file} is needed, as Debian has it: {error}"));
    }
}
