//! Images besides those that every node has: made when a test first asks for them, and imported into a running machine.
use super::from_base;
use super::release::{self, Release};
use crate::child::Input;
use crate::error::file;
use crate::oci::Image;
use crate::programs::{
    CONFORMANCE, COREDNS, COREDNS_1_14_6, ETCD_3_5, ETCD_3_7, KUBERNETES_1_30, KUBERNETES_1_37, TOOLS,
};
use crate::{Machine, Result, base, cache};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Images besides those that every node has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FurtherImages {
    /// What kubeadm 1.30.14 runs, but for CoreDNS, which a cluster of it has to do without.
    Kubernetes1_30,
    /// What kubeadm 1.37.1 runs: Kubernetes, etcd and CoreDNS of exactly the versions that it wants.
    Kubernetes1_37,
    /// What most pods of Kubernetes' conformance tests run: `agnhost`, and shell and usual commands as `busybox` has them.
    /// Both have Debian's shell and commands, where those of the registry have busybox's.
    Conformance,
}

/// The names that the conformance tests of 1.36 have for them.
const AGNHOST: &str = "registry.k8s.io/e2e-test-images/agnhost:2.63.0";
const BUSYBOX: &str = "registry.k8s.io/e2e-test-images/busybox:1.37.0-1";

/// Commands of Debian's that pods of the tests call.
const COMMANDS: &str = "bash basename cat chmod chown cp curl cut date dash df dirname du echo env expr false find grep groups \
    head hostname id ip kill ln ls mawk mkdir mknod mktemp mount mv nproc od printenv printf ps pwd readlink realpath rm \
    rmdir sed seq sha256sum sleep sort ss stat stty sync tail tar tee test timeout touch tr true umount uname uniq wc \
    whoami xargs yes";

impl FurtherImages {
    fn list(self, base: &Path) -> Result<Vec<Image>> {
        match self {
            Self::Kubernetes1_30 => {
                let pause = vec![("pause".to_owned(), TOOLS.ensure()?.path("pause"))];
                let mut images = release::images(
                    base,
                    &Release { kubernetes: &KUBERNETES_1_30, etcd: &ETCD_3_5, coredns: &COREDNS },
                )?;
                images.push(Image::new("registry.k8s.io/pause:3.9", "/pause", pause));
                Ok(images)
            }
            Self::Kubernetes1_37 => release::images(
                base,
                &Release { kubernetes: &KUBERNETES_1_37, etcd: &ETCD_3_7, coredns: &COREDNS_1_14_6 },
            ),
            Self::Conformance => conformance(base),
        }
    }

    /// Their tars, in the order of their list; made now unless the cache has them.
    fn tars(self) -> Result<Vec<PathBuf>> {
        let base = base::ensure(&[])?;
        let images = self.list(&base)?;
        let keys: Vec<String> = images.iter().map(Image::key).collect();
        let key = format!("{} {}", base.display(), keys.join(" "));
        let place = cache::directory()?.join("images").join(cache::name_of(&key)?);
        cache::make_once(&place, |partial| {
            println!("testbed: making {} further images (needs 1 GiB of disk)", images.len());
            let tars = partial.join("tars");
            fs::create_dir(&tars).map_err(file("create", &tars))?;
            images.iter().try_for_each(|image| image.write(&tars.join(image.file_name())))
        })?;
        Ok(images.iter().map(|image| place.join("tars").join(image.file_name())).collect())
    }
}

impl Machine {
    /// Imports further images into the containerd of a machine that is on.
    pub fn import_further_images(&self, images: FurtherImages) -> Result<()> {
        for tar in images.tars()? {
            let tar = File::open(&tar).map_err(file("read", tar))?;
            self.feed(&["ctr", "-n", "k8s.io", "images", "import", "-"], Input::From(tar.into()))?;
        }
        Ok(())
    }
}

/// `agnhost`, whose pods call a shell and `curl` as well, and the commands alone.
fn conformance(base: &Path) -> Result<Vec<Image>> {
    let agnhost = CONFORMANCE.ensure()?.path("agnhost");
    let mut images = [
        Image { arguments: &["pause"], ..Image::new(AGNHOST, "/agnhost", vec![("agnhost".to_owned(), agnhost)]) },
        Image { arguments: &["sh"], ..Image::new(BUSYBOX, "", Vec::new()) },
    ];
    let commands: Vec<String> = COMMANDS.split_whitespace().map(|name| format!("/usr/bin/{name}")).collect();
    for image in &mut images {
        from_base::add_programs(base, image, &commands, "")?;
        let links = [("usr/bin/sh", "dash"), ("usr/bin/awk", "mawk"), ("usr/bin/[", "test"), ("agnhost-2", "agnhost")];
        image.links.extend(links.map(|(path, target)| (path.to_owned(), target.to_owned())));
    }
    Ok(images.into())
}
