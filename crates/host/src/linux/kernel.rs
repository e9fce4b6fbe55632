//! Kernel parameters and modules of the running system.
use super::program;
use crate::{Error, Result};
use std::{fs, io, path::Path};

/// A parameter's value, white space folded; `None` when the kernel has none of that name.
pub(super) fn sysctl(path: &str) -> Result<Option<String>> {
    match fs::read_to_string(Path::new("/proc/sys").join(path)) {
        Ok(text) => Ok(Some(folded(&text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::System { doing: format!("read the kernel parameter {path}"), source }),
    }
}

/// Sets a parameter and reads it back: the kernel may take a write and keep what it had.
pub(super) fn set_sysctl(key: &str, path: &str, value: &str) -> Result<()> {
    let unfit = |why: String, advice: &str| Error::Unfit { what: key.to_owned(), why, advice: advice.to_owned() };
    if sysctl(path)?.is_none() {
        return Err(unfit(
            "this kernel has no such parameter".into(),
            "check the name, or load the module that provides it with a KernelModulesConfig",
        ));
    }
    fs::write(Path::new("/proc/sys").join(path), value).map_err(|source| match source.kind() {
        io::ErrorKind::InvalidInput => unfit("the kernel refuses this value".into(), "correct the value"),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => unfit(
            "cannot be changed here: in a container /proc/sys is read-only".into(),
            "set it on the host, or remove it from the SysctlConfig",
        ),
        _ => Error::System { doing: format!("set {key}"), source },
    })?;
    match sysctl(path)? {
        Some(now) if now == folded(value) => Ok(()),
        // Without the values: the document may have come encrypted.
        Some(_) => Err(unfit(
            "did not take effect: the kernel reports another value after the write".into(),
            "use a value that the kernel accepts",
        )),
        None => Err(unfit("was removed from the kernel while it was set".into(), "run again")),
    }
}

/// Whether a module is loaded or built into this kernel, as far as anything tells: a container sees only part of `/sys`,
/// and what is built in is listed by nobody unless it has parameters, is a file system, or the kernel's files are there.
pub(super) fn has_module(name: &str) -> Result<bool> {
    let name = name.replace('-', "_");
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").map_err(Error::io("read the kernel's release"))?;
    let builtin = Path::new("/lib/modules").join(release.trim()).join("modules.builtin");
    let listed = |file: &Path, named: fn(&str) -> Option<&str>| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().filter_map(named).any(|found| found.replace('-', "_") == name)
    };
    Ok(Path::new("/sys/module").join(&name).exists()
        || listed(Path::new("/proc/modules"), |line| line.split_whitespace().next())
        || listed(Path::new("/proc/filesystems"), |line| line.split_whitespace().last())
        || listed(&builtin, |line| Path::new(line).file_stem()?.to_str()))
}

/// Loads a module and sees that it is there.
pub(super) fn load_module(name: &str) -> Result<()> {
    program::quiet("modprobe", &["--", name])?;
    if has_module(name)? {
        return Ok(());
    }
    Err(Error::Unfit {
        what: format!("kernel module {name}"),
        why: "modprobe succeeded, but the module is not loaded".into(),
        advice: "check that this kernel provides the module".into(),
    })
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
