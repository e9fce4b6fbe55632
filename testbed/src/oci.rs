//! Container images as tars of the OCI layout: one layer, one manifest, one name.
use crate::error::file;
use crate::{Result, digest};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// An image to be written.
pub(crate) struct Image {
    /// The full reference under which it is imported.
    pub(crate) reference: String,
    /// What runs unless the pod says otherwise; if empty, its arguments are what runs.
    pub(crate) entrypoint: &'static str,
    /// What it runs with unless the pod says otherwise.
    pub(crate) arguments: &'static [&'static str],
    /// Files by their path in the image, taken from the host.
    pub(crate) files: Vec<(String, PathBuf)>,
    /// Links by their path in the image.
    pub(crate) links: Vec<(String, String)>,
}

/// Directories that every image has.
const DIRECTORIES: &[&str] = &["dev", "etc", "proc", "run", "sys", "tmp"];
const PASSWD: &str = "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\n";

impl Image {
    /// An image of these files.
    pub(crate) fn new(reference: &str, entrypoint: &'static str, files: Vec<(String, PathBuf)>) -> Self {
        Self { reference: reference.to_owned(), entrypoint, arguments: &[], files, links: Vec::new() }
    }

    /// What its tar is called.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.tar", self.reference.rsplit('/').next().unwrap_or_default().replace(':', "_"))
    }

    /// What decides which image it is.
    pub(crate) fn key(&self) -> String {
        let Self { reference, entrypoint, arguments, files, links } = self;
        let words: Vec<&str> = std::iter::once(entrypoint).chain(*arguments).copied().collect();
        format!("{reference} {} {files:?} {links:?}", words.join(" "))
    }

    /// Writes the image as a tar that `ctr images import` takes.
    pub(crate) fn write(&self, to: &Path) -> Result<()> {
        let layer = to.with_extension("layer");
        self.write_layer(&layer).map_err(file("write", &layer))?;
        let layer_digest = digest::of_file(&layer)?;
        let entrypoint: Vec<&str> = Some(self.entrypoint).into_iter().filter(|word| !word.is_empty()).collect();
        let config = json!({
            "architecture": architecture(),
            "os": "linux",
            "config": {
                "Entrypoint": entrypoint,
                "Cmd": self.arguments,
                "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
                "WorkingDir": "/",
            },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer_digest}")] },
        });
        let size = fs::metadata(&layer).map_err(file("read", &layer))?.len();
        let config = config.to_string();
        let config_blob = descriptor("config.v1+json", &digest::hex(&config), config.len() as u64);
        let layer_blob = descriptor("layer.v1.tar", &layer_digest, size);
        let manifest = json!({
            "schemaVersion": 2, "mediaType": media_type("manifest.v1+json"), "config": config_blob, "layers": [layer_blob],
        });
        let manifest = manifest.to_string();
        let mut entry = descriptor("manifest.v1+json", &digest::hex(&manifest), manifest.len() as u64);
        let tag = self.reference.rsplit(':').next().unwrap_or_default();
        entry["annotations"] =
            json!({ "io.containerd.image.name": self.reference, "org.opencontainers.image.ref.name": tag });
        let index = json!({ "schemaVersion": 2, "manifests": [entry] }).to_string();
        let write = || -> std::io::Result<()> {
            let mut tar = tar::Builder::new(BufWriter::new(File::create(to)?));
            append(&mut tar, "oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#)?;
            append(&mut tar, "index.json", index.as_bytes())?;
            append(&mut tar, &blob(&digest::hex(&config)), config.as_bytes())?;
            append(&mut tar, &blob(&digest::hex(&manifest)), manifest.as_bytes())?;
            tar.append_data(&mut header(0o644, size), blob(&layer_digest), File::open(&layer)?)?;
            tar.into_inner()?.flush()
        };
        write().map_err(file("write", to))?;
        fs::remove_file(&layer).map_err(file("remove", layer))
    }

    fn write_layer(&self, to: &Path) -> std::io::Result<()> {
        let mut tar = tar::Builder::new(BufWriter::new(File::create(to)?));
        for directory in DIRECTORIES {
            let mut header = header(if *directory == "tmp" { 0o1777 } else { 0o755 }, 0);
            header.set_entry_type(tar::EntryType::Directory);
            tar.append_data(&mut header, directory, std::io::empty())?;
        }
        append(&mut tar, "etc/passwd", PASSWD.as_bytes())?;
        for (path, target) in &self.links {
            let mut header = header(0o777, 0);
            header.set_entry_type(tar::EntryType::Symlink);
            tar.append_link(&mut header, path, target)?;
        }
        for (path, from) in &self.files {
            let from = File::open(from)?;
            let metadata = from.metadata()?;
            tar.append_data(&mut header(metadata.permissions().mode() & 0o777, metadata.len()), path, from)?;
        }
        tar.into_inner()?.flush()
    }
}

fn append(tar: &mut tar::Builder<BufWriter<File>>, path: &str, content: &[u8]) -> std::io::Result<()> {
    tar.append_data(&mut header(0o644, content.len() as u64), path, content)
}

/// The same bytes whenever it is written: root's, and no time.
fn header(mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn descriptor(kind: &str, digest: &str, size: u64) -> Value {
    json!({ "mediaType": media_type(kind), "digest": format!("sha256:{digest}"), "size": size })
}

fn media_type(kind: &str) -> String {
    format!("application/vnd.oci.image.{kind}")
}

fn blob(digest: &str) -> String {
    format!("blobs/sha256/{digest}")
}

/// This host's architecture by Go's name for it, which is the image format's.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
