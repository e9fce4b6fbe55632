//! Files of other programs that are given to machineadm by mistake: what each is, and what to do with it.
use crate::tree::{Node, Value};
use objects::{ForeignFormat, Member};

/// What a file is, and what to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownFormat {
    /// As in `this is a kubeconfig`.
    pub(crate) name: &'static str,
    pub(crate) hint: &'static str,
}

const KUBEADM: KnownFormat = KnownFormat {
    name: "a kubeadm configuration",
    hint: "check it with `machineadm config validate`; use an InitConfig to create a cluster",
};
const CLUSTER_API: KnownFormat = KnownFormat {
    name: "a Cluster API object",
    hint: "apply it to the management cluster with `kubectl apply`; it is not read on the machine",
};
const KUBECONFIG: KnownFormat = KnownFormat {
    name: "a kubeconfig",
    hint: "pass it with `--kubeconfig`, or with `machineadm discover --discovery-file`",
};

/// Groups of documents that belong to another program, whatever their version.
const GROUPS: [(&str, KnownFormat); 5] = [
    ("kubeadm.k8s.io", KUBEADM),
    ("kubelet.config.k8s.io", KUBEADM),
    ("kubeproxy.config.k8s.io", KUBEADM),
    ("bootstrap.cluster.x-k8s.io", CLUSTER_API),
    ("controlplane.cluster.x-k8s.io", CLUSTER_API),
];

impl KnownFormat {
    /// What a document with `apiVersion` and `kind` is, if another program's.
    pub(crate) fn of_header(api_version: &str, kind: &str) -> Option<Self> {
        if (api_version, kind) == ("v1", "Config") {
            return Some(KUBECONFIG);
        }
        let (group, _) = api_version.split_once('/')?;
        GROUPS.iter().find(|(known, _)| *known == group).map(|(_, format)| *format)
    }

    /// What a document without `apiVersion` and `kind` is, by its text and its members.
    pub(crate) fn of_members(text: &str, root: &Node) -> Option<Self> {
        let member = |name: &str| match root.get(name).map(|member| &member.value) {
            None => Member::Absent,
            Some(Value::Mapping(_)) => Member::Mapping,
            Some(_) => Member::Other,
        };
        let format = ForeignFormat::of(text, member)?;
        let hint = match format {
            ForeignFormat::CloudConfig => {
                "let it write the documents to a file with `write_files` and run `machineadm bootstrap` in `runcmd`"
            }
            ForeignFormat::Ignition => {
                "let it write the documents to a file and start a unit that runs `machineadm bootstrap`"
            }
            ForeignFormat::Talos => {
                "Talos Linux reads it by itself; machineadm needs documents of its own, see `machineadm explain`"
            }
        };
        Some(Self { name: format.name(), hint })
    }

    pub(crate) fn message(self) -> String {
        format!("this is {}, not a document of machineadm", self.name)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::read_text;

    #[test]
    fn files_of_other_programs_are_recognised_and_say_what_to_do() {
        for (text, name, hint) in [
            ("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n", "a kubeadm", "config validate"),
            ("apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n", "a kubeadm", "config validate"),
            ("#cloud-config\nruncmd: [ls]\n", "a cloud-init", "write_files"),
            (r#"{"ignition": {"version": "3.4.0"}}"#, "an Ignition", "unit"),
            ("variant: fcos\nversion: 1.5.0\n", "an Ignition", "unit"),
            ("version: v1alpha1\nmachine: {type: worker}\n", "a Talos", "Talos Linux"),
            ("apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\n", "a Cluster API", "management"),
            ("apiVersion: v1\nkind: Config\nclusters: []\n", "a kubeconfig", "--kubeconfig"),
        ] {
            let report = read_text(text).report;
            assert_eq!((report.total, report.has_errors()), (1, true), "{text}: {report}");
            let note = &report.notes[0];
            assert!(note.message.starts_with(&format!("this is {name}")), "{text}: {report}");
            assert!(note.hint.as_ref().is_some_and(|text| text.contains(hint)), "{text}: {report}");
        }
    }

    #[test]
    fn a_document_of_machineadm_behind_the_line_of_cloud_init_is_read() {
        let text = crate::KINDS[0].example;
        assert!(read_text(&format!("#cloud-config\n{text}")).report.is_empty());
    }
}
