//! Extended attributes of a file or directory that is replaced: its ACL, its SELinux label and what users have attached to it.
use crate::{Error, Result};
use rustix::{
    fd::AsFd,
    fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr},
    io::Errno,
};
use std::ffi::CString;

/// The kernel's own limit of a list of names, and of a value; see xattr(7).
const LARGEST: usize = 64 << 10;

/// What belongs to the content and not to the name: signatures and hashes would not fit the new content, and nobody has
/// decided that the new content gets the capabilities of the old.
const OF_CONTENT: [&str; 3] = ["security.ima", "security.evm", "security.capability"];

/// What a new file or directory may have inherited from the directory that it was created in.
const INHERITED: [&str; 2] = ["system.posix_acl_access", "system.posix_acl_default"];

/// Gives a new file the attributes of the one that it replaces. An attribute that cannot be copied is an error: without
/// its ACL or label the file would be accessible to others than before.
pub(super) fn copy(old: impl AsFd, new: impl AsFd, path: &str) -> Result<()> {
    let names = names(&old).map_err(Error::system(format!("list the extended attributes of {path}")))?;
    for name in &names {
        let shown = name.to_string_lossy();
        if OF_CONTENT.contains(&&*shown) {
            continue;
        }
        let copied = value(&old, name).and_then(|wanted| match (&wanted, value(&new, name)) {
            (None, _) => Ok(()),
            (_, Ok(now)) if now == wanted => Ok(()),
            (Some(wanted), _) => fsetxattr(&new, name.as_c_str(), wanted, XattrFlags::empty()),
        });
        copied.map_err(Error::system(format!("copy the extended attribute {shown} of {path}")))?;
    }
    for acl in INHERITED.iter().filter(|acl| !names.iter().any(|name| name.as_bytes() == acl.as_bytes())) {
        match fremovexattr(&new, *acl) {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
            Err(errno) => return Err(Error::system(format!("remove the inherited ACL of {path}"))(errno)),
        }
    }
    Ok(())
}

/// All names; none where the file system has no such attributes.
fn names(file: impl AsFd) -> rustix::io::Result<Vec<CString>> {
    let mut list = vec![0; LARGEST];
    let length = match flistxattr(file, &mut list[..]) {
        Err(Errno::NOTSUP) => 0,
        listed => listed?,
    };
    let names = list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.filter_map(|name| CString::new(name).ok()).collect())
}

/// A value; `None` when there is none, or none any more.
fn value(file: impl AsFd, name: &CString) -> rustix::io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; LARGEST];
    match fgetxattr(file, name.as_c_str(), &mut value[..]) {
        Ok(length) => {
            value.truncate(length);
            Ok(Some(value))
        }
        Err(Errno::NODATA) => Ok(None),
        Err(errno) => Err(errno),
    }
}
