//! The images that kubeadm's manifests name, made of the pinned programs.
mod from_base;
mod further;
mod release;

pub use further::FurtherImages;

use crate::error::file;
use crate::oci::Image;
use crate::programs::{CONTAINERD, COREDNS, ETCD, KUBERNETES, TOOLS};
use crate::{Machine, Result, cache, child};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Where a machine sees the tars.
pub(crate) const SHOWN_AT: &str = "/opt/images";

/// The image with the programs `pause` and `probe`.
pub const TOOLS_IMAGE: &str = "testbed.local/tools:v1";

/// Starts a containerd on a directory of its own, imports everything, and stops it.
const IMPORT: &str = include_str!("images/import.sh");
const IMPORT_LIMIT: Duration = Duration::from_secs(300);

/// The tars, and a containerd store that has them all.
#[derive(Debug)]
pub(crate) struct Images {
    whole: PathBuf,
    directory: PathBuf,
    store: PathBuf,
}

/// All images; made now unless the cache has them. What kube-proxy calls comes from the base.
pub(crate) fn ensure(base: &Path) -> Result<Images> {
    let images = list(base)?;
    let containerd = CONTAINERD.ensure()?;
    let mut key = format!("{} {}", base.display(), containerd.directory().display());
    for image in &images {
        key += &format!(" {}", image.key());
    }
    let place = cache::directory()?.join("images").join(cache::name_of(&key)?);
    cache::make_once(&place, |partial| {
        let began = Instant::now();
        println!("testbed: making {} images (needs 2 GiB of disk)", images.len());
        let tars = partial.join("tars");
        fs::create_dir(&tars).map_err(file("create", &tars))?;
        for image in &images {
            image.write(&tars.join(image.file_name()))?;
        }
        let mut import = Command::new("unshare");
        import.args(["--mount", "--propagation", "private", "sh", "-c", IMPORT, "import"]);
        import.arg(containerd.directory()).arg(partial);
        child::check(&mut import, IMPORT_LIMIT)?;
        println!("testbed: made the images in {:.1?}", began.elapsed());
        Ok(())
    })?;
    Ok(Images { directory: place.join("tars"), store: place.join("store"), whole: place })
}

impl Images {
    /// The part of the cache that holds both.
    pub(crate) fn whole(&self) -> &Path {
        &self.whole
    }

    /// Where the tars are.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Fills a new machine's store.
    pub(crate) fn preload(&self, store: &Path) -> Result<()> {
        copy_store(&self.store, store)
    }
}

/// Copies a containerd store: what is never changed in place is shared by hard links, the rest copied.
pub(crate) fn copy_store(from: &Path, to: &Path) -> Result<()> {
    let script = r#"cp -al "$1/." "$2/" && cd "$1" && find . -name '*.db' -exec cp --remove-destination {} "$2/"{} \;"#;
    let mut copy = Command::new("sh");
    child::check(copy.args(["-euc", script, "copy"]).arg(from).arg(to), IMPORT_LIMIT).map(drop)
}

impl Machine {
    /// Imports all images into the machine's containerd, for one whose store does not have them from the start.
    pub fn import_images(&self) -> Result<()> {
        self.shell(&format!("for tar in {SHOWN_AT}/*.tar; do ctr -n k8s.io images import \"$tar\"; done")).map(drop)
    }
}

fn list(base: &Path) -> Result<Vec<Image>> {
    let tools = TOOLS.ensure()?;
    let files = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), tools.path(name))).collect();
    let mut images = vec![Image::new("registry.k8s.io/pause:3.10.2", "/pause", files(&["pause"]))];
    images
        .extend(release::images(base, &release::Release { kubernetes: &KUBERNETES, etcd: &ETCD, coredns: &COREDNS })?);
    images.push(Image::new(TOOLS_IMAGE, "/pause", files(&["pause", "probe"])));
    Ok(images)
}
