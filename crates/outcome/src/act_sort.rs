//! The sorts of acts: what is run for its effect, by the words that the journal has.

/// A sort of act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActSort {
    /// A command of a CommandsConfig.
    Command,
    /// A program of a ProgramsConfig is installed.
    Program,
    /// Container images of a ProgramsConfig are imported.
    Images,
    /// `kubeadm init`.
    KubeadmInit,
    /// The token that kubeadm had to create is deleted.
    DeleteToken,
    /// `kubeadm join`, of a worker or of a control plane node.
    KubeadmJoin,
    /// The certificates copy is uploaded.
    UploadCertificates,
    /// The certificates copy is downloaded.
    DownloadCertificates,
    /// The API server of this node is changed.
    ControlPlaneChange,
}

impl ActSort {
    /// The one that creates a cluster.
    pub const CREATES_CLUSTER: Self = Self::KubeadmInit;

    /// Every one.
    const ALL: [Self; 9] = [
        Self::Command,
        Self::Program,
        Self::Images,
        Self::KubeadmInit,
        Self::DeleteToken,
        Self::KubeadmJoin,
        Self::UploadCertificates,
        Self::DownloadCertificates,
        Self::ControlPlaneChange,
    ];

    /// The sort of an id in the journal, and the words that follow; `None` for an act of a newer version.
    pub fn of(id: &str) -> Option<(Self, &str)> {
        let rest = |sort: Self| id.strip_prefix(sort.id()).filter(|rest| rest.is_empty() || rest.starts_with(' '));
        Self::ALL.into_iter().find_map(|sort| Some((sort, rest(sort)?.trim_start())))
    }

    /// The first words of its ids in the journal; more may follow, which tell acts of a sort apart.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Program => "program",
            Self::Images => "images",
            Self::KubeadmInit => "kubeadm init",
            Self::DeleteToken => "delete token",
            Self::KubeadmJoin => "kubeadm join",
            Self::UploadCertificates => "upload-certs",
            Self::DownloadCertificates => "download-certs",
            Self::ControlPlaneChange => "change kube-apiserver",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ActSort::{self, *};

    #[test]
    fn journals_of_earlier_versions_have_these_ids() {
        let ids = [
            (Command, "command"),
            (Program, "program"),
            (Images, "images"),
            (KubeadmInit, "kubeadm init"),
            (DeleteToken, "delete token"),
            (KubeadmJoin, "kubeadm join"),
            (UploadCertificates, "upload-certs"),
            (DownloadCertificates, "download-certs"),
            (ControlPlaneChange, "change kube-apiserver"),
        ];
        assert_eq!(ids.map(|(sort, _)| sort), ActSort::ALL);
        assert_eq!(ids.map(|(sort, _): (ActSort, _)| sort.id()), ids.map(|(_, id)| id));
    }

    #[test]
    fn an_id_tells_its_sort_and_what_follows() {
        for (id, found) in [
            ("command install-agent 0123", Some((Command, "install-agent 0123"))),
            ("kubeadm init", Some((KubeadmInit, ""))),
            ("kubeadm initial", None),
            ("commands", None),
            ("", None),
        ] {
            assert_eq!(ActSort::of(id), found, "{id}");
        }
    }
}
