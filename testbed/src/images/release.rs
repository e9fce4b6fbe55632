//! The images of one Kubernetes release: the control plane, kube-proxy, etcd and CoreDNS.
use super::from_base;
use crate::Result;
use crate::oci::Image;
use crate::programs::Set;
use std::path::Path;

/// Programs that kubeadm of one version runs together.
pub(super) struct Release {
    pub(super) kubernetes: &'static Set,
    pub(super) etcd: &'static Set,
    pub(super) coredns: &'static Set,
}

/// The images that kubeadm's manifests of this release name. What kube-proxy calls comes from the base.
pub(super) fn images(base: &Path, release: &Release) -> Result<Vec<Image>> {
    let (kubernetes, etcd, coredns) = (release.kubernetes.ensure()?, release.etcd.ensure()?, release.coredns.ensure()?);
    let image = |name: &str, entrypoint, path: &str, from| {
        Image::new(&format!("registry.k8s.io/{name}"), entrypoint, vec![(path.to_owned(), from)])
    };
    let etcd_name = format!("etcd:{}-0", release.etcd.version());
    let coredns_name = format!("coredns/coredns:v{}", release.coredns.version());
    let mut images = vec![
        image(&etcd_name, "etcd", "usr/local/bin/etcd", etcd.path("etcd")),
        image(&coredns_name, "/coredns", "coredns", coredns.path("coredns")),
    ];
    for name in ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"] {
        let reference = format!("{name}:v{}", release.kubernetes.version());
        let mut made = image(&reference, name, &format!("usr/local/bin/{name}"), kubernetes.path(name));
        if name == "kube-proxy" {
            add_packet_filter(base, &mut made)?;
        }
        images.push(made);
    }
    Ok(images)
}

/// iptables, nft and conntrack of the base with all they load, at the paths they have there.
fn add_packet_filter(base: &Path, image: &mut Image) -> Result<()> {
    let programs = ["xtables-nft-multi", "nft", "conntrack"].map(|name| format!("/usr/sbin/{name}"));
    from_base::add_programs(base, image, &programs, "/usr/lib/*/xtables/*.so /lib/*/libm.so.6")?;
    let names =
        ["iptables", "ip6tables"].map(|name| ["", "-save", "-restore"].map(|verb| format!("usr/sbin/{name}{verb}")));
    image.links.extend(names.into_iter().flatten().map(|name| (name, "xtables-nft-multi".to_owned())));
    Ok(())
}
