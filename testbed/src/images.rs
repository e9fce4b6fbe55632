//! The images that kubeadm's manifests name, made of the pinned programs.
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
        key += &format!(" {} {} {:?} {:?}", image.reference, image.entrypoint, image.files, image.links);
    }
    let place = cache::directory()?.join("images").join(cache::name_of(&key)?);
    cache::make_once(&place, |partial| {
        let began = Instant::now();
        println!("testbed: making {} images (needs 2 GiB of disk)", images.len());
        let tars = partial.join("tars");
        fs::create_dir(&tars).map_err(file("create", &tars))?;
        for image in &images {
            let name = image.reference.rsplit('/').next().unwrap_or_default().replace(':', "_");
            image.write(&tars.join(format!("{name}.tar")))?;
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
    let (kubernetes, etcd, coredns) = (KUBERNETES.ensure()?, ETCD.ensure()?, COREDNS.ensure()?);
    let tools = TOOLS.ensure()?;
    let image = |name: &str, entrypoint, files: Vec<(&str, PathBuf)>| Image {
        reference: format!("registry.k8s.io/{name}"),
        entrypoint,
        files: files.into_iter().map(|(path, from)| (path.to_owned(), from)).collect(),
        links: Vec::new(),
    };
    let mut images = vec![
        image("pause:3.10.2", "/pause", vec![("pause", tools.path("pause"))]),
        image("etcd:3.6.8-0", "etcd", vec![("usr/local/bin/etcd", etcd.path("etcd"))]),
        image("coredns/coredns:v1.14.2", "/coredns", vec![("coredns", coredns.path("coredns"))]),
    ];
    for name in ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] {
        let at = format!("usr/local/bin/{name}");
        images.push(image(&format!("{name}:v1.36.4"), name, vec![(&at, kubernetes.path(name))]));
    }
    let mut proxy =
        image("kube-proxy:v1.36.4", "kube-proxy", vec![("usr/local/bin/kube-proxy", kubernetes.path("kube-proxy"))]);
    add_packet_filter(base, &mut proxy)?;
    images.push(proxy);
    let files = ["pause", "probe"].map(|name| (name.to_owned(), tools.path(name)));
    images.push(Image {
        reference: TOOLS_IMAGE.to_owned(),
        entrypoint: "/pause",
        files: files.into(),
        links: Vec::new(),
    });
    Ok(images)
}

/// iptables, nft and conntrack of the base with all they load, at the paths they have there.
fn add_packet_filter(base: &Path, image: &mut Image) -> Result<()> {
    let script = r#"
        cd /usr/sbin
        ldd xtables-nft-multi nft conntrack /lib/*/libm.so.6 | grep -o '/[^ ]*' | sed 's/:$//' | grep '\.so' | sort -u | xargs realpath
        ldd xtables-nft-multi nft conntrack | grep -o '/[^ ]*' | grep '\.so'
        ls -d /usr/lib/*/xtables/*.so /lib/*/libm.so.6
        echo /usr/sbin/xtables-nft-multi; echo /usr/sbin/nft; echo /usr/sbin/conntrack"#;
    let listed = child::check(Command::new("chroot").arg(base).args(["sh", "-ec", script]), Duration::from_secs(60))?;
    let mut paths: Vec<String> = listed.lines().map(|path| in_usr(path.trim())).collect();
    paths.sort();
    paths.dedup();
    image.files.extend(paths.into_iter().map(|path| (path.clone(), base.join(path))));
    image.links.extend(["bin", "sbin", "lib", "lib64"].map(|name| (name.to_owned(), format!("usr/{name}"))));
    let names =
        ["iptables", "ip6tables"].map(|name| ["", "-save", "-restore"].map(|verb| format!("usr/sbin/{name}{verb}")));
    image.links.extend(names.into_iter().flatten().map(|name| (name, "xtables-nft-multi".to_owned())));
    Ok(())
}

/// Where a path is in a tree whose `/lib` and `/sbin` are links into `/usr`.
fn in_usr(path: &str) -> String {
    let path = path.trim_start_matches('/');
    if path.starts_with("usr/") { path.to_owned() } else { format!("usr/{path}") }
}
