//! A machine whose disk begins as a copy of another's, as machines made from one image do.
use super::Machine;
use crate::bed::Shared;
use crate::error::file;
use crate::{Error, Result, child, images};
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

const COPY_LIMIT: Duration = Duration::from_secs(300);

impl Machine {
    /// A copy of a machine that is off, with a name, an address and, from its first boot on, a machine-id of its own.
    pub(crate) fn from_image(bed: Arc<Shared>, name: &str, image: &Self) -> Result<Self> {
        if image.is_on() {
            return Err(Error::Misused(format!("{} is on: its disk can't be copied", image.name)));
        }
        let mut machine = Self::without_disk(bed, name, image.lower.clone())?;
        machine.shown.clone_from(&image.shown);
        machine.make_disk()?;
        for part in ["upper", "kubelet", "etcd"] {
            let mut copy = Command::new("cp");
            copy.args(["--archive", "--no-target-directory"]);
            child::check(copy.arg(image.directory.join(part)).arg(machine.directory.join(part)), COPY_LIMIT)?;
        }
        images::copy_store(&image.directory.join("containerd"), &machine.directory.join("containerd"))?;
        let hosts = image.directory.join("upper/etc/hosts");
        let hosts = fs::read_to_string(&hosts).map_err(file("read", hosts))?;
        let line = |machine: &Self| format!("{} {}\n", machine.address(), machine.name);
        let mut files = machine.identity();
        files.push(("etc/hosts", hosts.replace(&line(image), &line(&machine))));
        machine.lay(&files)?;
        Ok(machine)
    }
}
