//! kubeadm's feature gates: which minor knows which. kubeadm refuses a file that names one it does not know.

/// A feature gate and the minors that know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) name: &'static str,
    pub(crate) first: u32,
    pub(crate) last: Option<u32>,
    /// What a kubeadm that no longer knows it always does.
    pub(crate) ever_since: bool,
}

/// Certificates and keys by ECDSA; `encryptionAlgorithm` says it since v1beta4.
pub(crate) const PUBLIC_KEYS_ECDSA: &str = "PublicKeysECDSA";

/// Every gate that a supported kubeadm has ever known, read off the sources of each minor.
const GATES: &[Gate] = &[
    now_always("CoreDNS", 13, 17),
    now_always("IPv6DualStack", 16, 23),
    now_never(PUBLIC_KEYS_ECDSA, 18, 36),
    Gate { name: "RootlessControlPlane", first: 22, last: None, ever_since: false },
    now_always("UnversionedKubeletConfigMap", 23, 25),
    now_always("EtcdLearnerMode", 27, 32),
    now_never("UpgradeAddonsBeforeControlPlane", 28, 30),
    now_always("WaitForAllControlPlaneComponents", 30, 34),
    now_always("ControlPlaneKubeletLocalMode", 31, 35),
    now_always("NodeLocalCRISocket", 32, 36),
];

const fn now_always(name: &'static str, first: u32, last: u32) -> Gate {
    Gate { name, first, last: Some(last), ever_since: true }
}

const fn now_never(name: &'static str, first: u32, last: u32) -> Gate {
    Gate { name, first, last: Some(last), ever_since: false }
}

/// The gate of this name, if any kubeadm has ever known it.
pub(crate) fn named(name: &str) -> Option<Gate> {
    GATES.iter().find(|gate| gate.name == name).copied()
}

/// Whether a kubeadm of this minor knows the gate.
pub(crate) fn is_known(name: &str, minor: u32) -> bool {
    named(name).is_some_and(|gate| minor >= gate.first && gate.last.is_none_or(|last| minor <= last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(minor: u32) -> Vec<&'static str> {
        GATES.iter().map(|gate| gate.name).filter(|name| is_known(name, minor)).collect()
    }

    #[test]
    fn each_minor_knows_its_gates() {
        assert_eq!(known(21), ["IPv6DualStack", "PublicKeysECDSA"]);
        assert_eq!(known(26), ["PublicKeysECDSA", "RootlessControlPlane"]);
        let of_1_30 = [
            "PublicKeysECDSA",
            "RootlessControlPlane",
            "EtcdLearnerMode",
            "UpgradeAddonsBeforeControlPlane",
            "WaitForAllControlPlaneComponents",
        ];
        assert_eq!(known(30), of_1_30);
        let of_1_31 = [
            "PublicKeysECDSA",
            "RootlessControlPlane",
            "EtcdLearnerMode",
            "WaitForAllControlPlaneComponents",
            "ControlPlaneKubeletLocalMode",
        ];
        assert_eq!(known(31), of_1_31);
        assert_eq!(known(36), ["PublicKeysECDSA", "RootlessControlPlane", "NodeLocalCRISocket"]);
        assert_eq!(known(37), ["RootlessControlPlane"]);
        assert_eq!(known(u32::MAX), known(37));
    }
}
