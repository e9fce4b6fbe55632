//! The container image of machineadm-kms-plugin, made without Docker: the static program and CA certificates.
use crate::error::file;
use crate::oci::Image;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The name under which the image is imported; who publishes it gives it another.
pub const REFERENCE: &str = "localhost/machineadm-kms-plugin:latest";
/// Where the program lies in the image.
const PROGRAM: &str = "machineadm-kms-plugin";
/// Those of the host that makes the image, as Debian's package ca-certificates has them.
const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// Writes the image as a tar of the OCI layout, which `ctr images import` takes.
pub fn write(program: &Path, to: &Path) -> Result<()> {
    let certificates = Path::new("/").join(CERTIFICATES);
    if !certificates.is_file() {
        let what = certificates.display().to_string();
        return Err(Error::Missing { what, remedy: "apt-get install ca-certificates".to_owned() });
    }
    let folder = to.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(file("create", folder))?;
    let files: Vec<(String, PathBuf)> =
        vec![(PROGRAM.to_owned(), program.to_owned()), (CERTIFICATES.to_owned(), certificates)];
    Image::new(REFERENCE, "/machineadm-kms-plugin", files).write(to)
}
