//! Files of a machine, on or off: its disk when new, copies in and out, its journal.
use super::{Machine, OWN_DISK};
use crate::child::Input;
use crate::error::file;
use crate::network::Switch;
use crate::profile::Profile;
use crate::{Error, Result, child, layer, neighbours};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

const COPY_LIMIT: Duration = Duration::from_secs(300);

/// Packs one path under its own name.
const PACK: &str = r#"tar --create --directory="$(dirname "$1")" "$(basename "$1")""#;

/// Unpacks what is called `content` to one path, in place of what is there.
const UNPACK: &str = r#"
mkdir -p "$(dirname "$1")"
new=$(mktemp -d "$1.XXXXXX")
tar --extract --directory="$new"
rm -rf "$1"
mv "$new/content" "$1"
rmdir "$new"
"#;

impl Machine {
    /// Writes a file of root's with this mode, and the directories above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>, mode: u32) -> Result<()> {
        let script = r#"mkdir -p "${1%/*}/" && umask 077 && cat > "$1.new" && chmod "$2" "$1.new" && mv "$1.new" "$1""#;
        self.feed(&["sh", "-euc", script, "write", path, &format!("{mode:o}")], Input::Bytes(content.as_ref()))
            .map(drop)
    }

    /// Reads a file as text.
    pub fn read(&self, path: &str) -> Result<String> {
        self.check(&["cat", path])
    }

    /// Copies a file or directory of the host into the machine, to exactly this path, modes kept, owned by root.
    pub fn copy_in(&self, from: &Path, to: &str) -> Result<()> {
        let from = fs::canonicalize(from).map_err(file("read", from))?;
        // The one name inside the archive; links below it keep pointing where they do.
        let (directory, name, rename) = if from.is_dir() {
            (&*from, ".".as_ref(), "flags=r;s,^\\.,content,")
        } else {
            (from.parent().unwrap_or(Path::new("/")), from.file_name().unwrap_or_default(), "flags=r;s,.*,content,")
        };
        let mut pack = Command::new("tar");
        pack.args(["--create", "--owner=0", "--group=0", "--numeric-owner", "--transform", rename]);
        pack.arg("--directory").arg(directory).arg(name);
        let mut packing = child::start(pack.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let archive = packing.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let unpacked = self.feed(&["sh", "-euc", UNPACK, "copy", to], Input::From(archive));
        let packed = packing.wait().map_err(file("read", from))?;
        unpacked.and_then(|_| whole(&pack, packed))
    }

    /// Copies a file or directory of the machine to exactly this path of the host.
    pub fn copy_out(&self, from: &str, to: &Path) -> Result<()> {
        let partial = to.with_extension("partial");
        crate::cache::remove_tree(&partial)?;
        fs::create_dir_all(&partial).map_err(file("create", &partial))?;
        let mut pack = self.command(&["sh", "-euc", PACK, "copy", from])?;
        let mut packing = child::start(pack.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let archive = packing.stdout.take().map_or_else(Stdio::null, Stdio::from);
        let mut unpack = Command::new("tar");
        unpack.arg("--extract").arg("--directory").arg(&partial);
        let unpacked = child::output(&mut unpack, Input::From(archive), COPY_LIMIT);
        let line = child::line(&unpack);
        // Its end of the pipe must go, or a writer whose reader failed would wait for ever.
        drop(unpack);
        let packed = packing.wait().map_err(file("read", from))?;
        child::succeeded(&line, unpacked?)?;
        whole(&pack, packed)?;
        let name = Path::new(from).file_name().unwrap_or_default();
        fs::rename(partial.join(name), to).map_err(file("write", to))?;
        crate::cache::remove_tree(&partial)
    }

    /// What the journal holds of all boots, or of one unit.
    pub fn journal(&self, unit: Option<&str>) -> Result<String> {
        let mut words = vec!["journalctl", "--no-pager", "--quiet", "--output=short-iso"];
        words.extend(unit.iter().flat_map(|unit| ["--unit", unit]));
        self.check(&words)
    }

    /// Gives a new machine what is its own on an otherwise shared disk.
    pub(super) fn format_disk(&self, profile: &Profile) -> Result<()> {
        self.make_disk()?;
        let mut files = self.identity();
        let (name, address) = (&self.name, self.address());
        files.push((
            "etc/hosts",
            format!("127.0.0.1 localhost\n{address} {name}\n{} {}\n", Switch::ADDRESS, neighbours::NAME),
        ));
        match &profile.cloud_init {
            Some(seed) => {
                files.push(("var/lib/cloud/seed/nocloud/user-data", seed.user_data.clone()));
                files.push((
                    "var/lib/cloud/seed/nocloud/meta-data",
                    format!("instance-id: {name}\nlocal-hostname: {name}\n"),
                ));
            }
            None => files.push(("etc/cloud/cloud-init.disabled", String::new())),
        }
        self.lay(&files)
    }

    /// The directories of a disk, empty.
    pub(super) fn make_disk(&self) -> Result<()> {
        for name in ["upper", "work", "root"].into_iter().chain(OWN_DISK.iter().map(|(own, _)| *own)) {
            let path = self.directory.join(name);
            fs::create_dir_all(&path).map_err(file("create", path))?;
        }
        let etcd = self.directory.join("etcd");
        fs::set_permissions(&etcd, fs::Permissions::from_mode(0o700)).map_err(file("change", etcd))
    }

    /// The files in which a machine differs from every other.
    pub(super) fn identity(&self) -> Vec<(&'static str, String)> {
        vec![
            ("etc/hostname", format!("{}\n", self.name)),
            ("etc/resolv.conf", format!("nameserver {}\n", Switch::ADDRESS)),
            ("etc/cni/net.d/10-bridge.conflist", layer::pod_network(&Switch::pods(self.number))),
            // Empty, not absent: systemd then makes one of its own at the first boot, and keeps it.
            ("etc/machine-id", String::new()),
        ]
    }

    /// Writes files that everybody may read onto the disk of a machine that has not been booted yet.
    pub(super) fn lay(&self, files: &[(&str, String)]) -> Result<()> {
        let upper = self.directory.join("upper");
        files.iter().try_for_each(|(path, content)| layer::put(&upper, path, 0o644, content.as_bytes()))
    }
}

/// Whether the side that writes an archive wrote all of it.
fn whole(pack: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed { command: child::line(pack), status: status.to_string(), output: "see above".to_owned() })
}
