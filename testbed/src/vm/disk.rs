//! The disk of a virtual machine: Debian with a kernel, what machines need of the cache, and the test programs.
use super::{Manager, Workload};
use crate::error::file;
use crate::profile::{Runtime, Software};
use crate::programs::{CONTAINERD, COREDNS, ETCD, KUBERNETES, TOOLS};
use crate::wait::TIME_FACTOR;
use crate::{Error, Result, base, cache, child, doctor, images, layer};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What a host of the test bed has besides a base: a kernel, and what [`doctor`] looks for.
const PACKAGES: &[&str] = &["linux-image-cloud-amd64", "mmdebstrap", "openssl", "systemd-container"];

/// What the kernel does not load by itself when a machine asks for it, and the doctor looks for.
const MODULES: &str = "br_netfilter\noverlay\n";

/// The home of root, whose cache the test programs find.
const CACHE: &str = "root/.cache/machineadm";

/// Where the test programs are.
const TESTS: &str = "opt/tests";

/// The size of the disk; the image takes only what is used of it.
const SIZE: &str = "10G";
/// What a disk takes while it is made and used, in GiB.
const NEEDS: u64 = 8;
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Emulation is about ten times slower than the processor that it runs on, and more on busy cores.
const SLOWER: u32 = 15;

/// What qemu starts.
pub(super) struct Disk {
    pub(super) image: PathBuf,
    pub(super) kernel: PathBuf,
    pub(super) initial_ram_disk: PathBuf,
}

/// Makes the disk in a directory on the file system of the cache, whose files it shares while it is made.
pub(super) fn make(directory: &Path, workload: &Workload) -> Result<Disk> {
    doctor::require_disk(directory, NEEDS)?;
    let packages: Vec<String> = PACKAGES.iter().map(|name| (*name).to_owned()).collect();
    let system = base::ensure(&packages)?;
    let root = directory.join("root");
    link_tree(&system, &root)?;
    for part in parts_of_the_cache()? {
        let below = part.strip_prefix(cache::directory()?).map_err(|_| outside(&part))?.to_owned();
        link_tree(&part, &root.join(CACHE).join(below))?;
    }
    add_tests(&root, workload)?;
    let image = directory.join("disk.img");
    let mut format = Command::new("mke2fs");
    format.args(["-q", "-t", "ext4", "-d"]).arg(&root).arg(&image).arg(SIZE);
    child::check(&mut format, LIMIT)?;
    cache::remove_tree(&root)?;
    let (kernel, initial_ram_disk) = kernel(&system)?;
    Ok(Disk { image, kernel, initial_ram_disk })
}

/// Everything that machines are made of, made now unless the cache has it.
fn parts_of_the_cache() -> Result<Vec<PathBuf>> {
    let base = base::ensure(&[])?;
    let images = images::ensure(&base)?;
    let mut parts = vec![images.whole().to_owned(), base];
    for software in [Software::Debian, Software::Node(Runtime::Debian), Software::Node(Runtime::Containerd2)] {
        parts.push(layer::ensure(&software)?);
    }
    for set in [&CONTAINERD, &COREDNS, &ETCD, &KUBERNETES, &TOOLS] {
        parts.push(set.ensure()?.directory().to_owned());
    }
    Ok(parts)
}

/// The test programs, the files that they need, and the service that runs them. No file of the base is written: it is
/// shared with the cache.
fn add_tests(root: &Path, workload: &Workload) -> Result<()> {
    let mut list = String::new();
    for program in &workload.programs {
        let inside = format!("{TESTS}/{}", program.name);
        copy(&program.executable, root, Path::new(&inside))?;
        let manager = match program.manager {
            Manager::Systemd => "systemd",
            Manager::Nobody => "nobody",
        };
        list += &format!("{} {manager} /{inside} {}\n", program.name, program.arguments.join(" "));
    }
    for needed in &workload.files {
        copy(needed, root, needed.strip_prefix("/").unwrap_or(needed))?;
    }
    let environment: String = workload.environment.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    let environment = format!("{environment}{TIME_FACTOR}={SLOWER}\n");
    layer::put(root, &format!("{TESTS}/programs"), 0o644, list.as_bytes())?;
    layer::put(root, &format!("{TESTS}/environment"), 0o644, environment.as_bytes())?;
    layer::put(root, &format!("{TESTS}/run"), 0o755, include_bytes!("inside.sh"))?;
    layer::put(root, "etc/modules-load.d/tests.conf", 0o644, MODULES.as_bytes())?;
    layer::put(root, "etc/systemd/system/tests.service", 0o644, include_bytes!("inside.service"))
}

/// The same tree at another place, its files shared by hard links.
fn link_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).map_err(file("create", to))?;
    let mut copy = Command::new("cp");
    child::check(copy.arg("--archive").arg("--link").arg(from.join(".")).arg(to), LIMIT).map(drop)
}

fn copy(from: &Path, root: &Path, inside: &Path) -> Result<()> {
    let to = root.join(inside);
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent).map_err(file("create", parent))?;
    }
    fs::copy(from, &to).map(drop).map_err(file("copy", from))
}

/// The kernel of a root file system, and the initial RAM disk of the same version.
fn kernel(system: &Path) -> Result<(PathBuf, PathBuf)> {
    let boot = system.join("boot");
    let names = fs::read_dir(&boot).map_err(file("read", &boot))?.flatten().map(|entry| entry.file_name());
    let version = names.filter_map(|name| name.to_str()?.strip_prefix("vmlinuz-").map(str::to_owned)).max();
    let missing = || Error::Unreadable { what: boot.display().to_string(), found: "no kernel".to_owned() };
    let version = version.ok_or_else(missing)?;
    Ok((boot.join(format!("vmlinuz-{version}")), boot.join(format!("initrd.img-{version}"))))
}

fn outside(path: &Path) -> Error {
    Error::Unreadable { what: path.display().to_string(), found: "a path outside the cache".to_owned() }
}
