//! The units of containerd and of the kubelet, as their projects ship them, with the directory of the programs.
use host::contract::UNIT_DIR;

/// A service that comes with a program.
pub(super) struct Unit {
    /// Its name, which is also that of the program.
    pub(super) service: &'static str,
    /// Whether it is started; kubeadm starts the kubelet.
    pub(super) is_started: bool,
    /// Names below the unit directory, and contents in which `DIRECTORY` stands for that of the programs.
    files: &'static [(&'static str, &'static str)],
}

impl Unit {
    /// Paths and contents of its files.
    pub(super) fn files(&self, directory: &str) -> impl Iterator<Item = (String, String)> {
        let file = |(name, text): &(&str, &str)| (format!("{UNIT_DIR}/{name}"), text.replace("DIRECTORY", directory));
        self.files.iter().map(file)
    }

    /// The link that enables it, and its target.
    pub(super) fn enablement(&self) -> (String, String) {
        let name = format!("{}.service", self.service);
        (format!("{UNIT_DIR}/multi-user.target.wants/{name}"), format!("../{name}"))
    }
}

/// <https://github.com/containerd/containerd/blob/main/containerd.service>; PATH lets it find runc.
pub(super) const CONTAINERD: Unit = Unit {
    service: "containerd",
    is_started: true,
    files: &[(
        "containerd.service",
        "\
# Written by machineadm from ProgramsConfig.
[Unit]
Description=containerd container runtime
Documentation=https://containerd.io
After=network.target dbus.service
Wants=dbus.service

[Service]
Environment=PATH=DIRECTORY:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStartPre=-/sbin/modprobe overlay
ExecStart=DIRECTORY/containerd
Type=notify
Delegate=yes
KillMode=process
Restart=always
RestartSec=5
LimitNPROC=infinity
LimitCORE=infinity
TasksMax=infinity
OOMScoreAdjust=-999

[Install]
WantedBy=multi-user.target
",
    )],
};

/// <https://github.com/kubernetes/release/tree/master/cmd/krel/templates/latest>
pub(super) const KUBELET: Unit = Unit {
    service: "kubelet",
    is_started: false,
    files: &[
        (
            "kubelet.service",
            "\
# Written by machineadm from ProgramsConfig.
[Unit]
Description=kubelet: The Kubernetes Node Agent
Documentation=https://kubernetes.io/docs/
Wants=network-online.target
After=network-online.target containerd.service crio.service

[Service]
ExecStart=DIRECTORY/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
",
        ),
        (
            "kubelet.service.d/10-kubeadm.conf",
            "\
# Written by machineadm from ProgramsConfig.
[Service]
Environment=\"KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf\"
Environment=\"KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml\"
# kubeadm writes it.
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
# For operators; kubeadm's own settings are preferred.
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=DIRECTORY/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
",
        ),
    ],
};
