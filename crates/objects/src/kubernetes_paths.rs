//! The paths of a Kubernetes node that kubeadm and the kubelet have fixed. Each is spelled here and nowhere else.

/// What kubeadm writes for the node and its control plane.
pub const KUBERNETES: &str = "/etc/kubernetes";

/// The kubeconfig of the cluster's administrator.
pub const ADMIN_KUBECONFIG: &str = "/etc/kubernetes/admin.conf";
/// The kubeconfig that may do everything, even where RBAC forbids it; since Kubernetes 1.29.
pub const SUPER_ADMIN_KUBECONFIG: &str = "/etc/kubernetes/super-admin.conf";
/// The kubeconfig of the controller manager.
pub const CONTROLLER_MANAGER_KUBECONFIG: &str = "/etc/kubernetes/controller-manager.conf";
/// The kubeconfig of the scheduler.
pub const SCHEDULER_KUBECONFIG: &str = "/etc/kubernetes/scheduler.conf";
/// The kubeconfig of the kubelet.
pub const KUBELET_KUBECONFIG: &str = "/etc/kubernetes/kubelet.conf";
/// The kubeconfig with which a kubelet requests its first certificate.
pub const BOOTSTRAP_KUBECONFIG: &str = "/etc/kubernetes/bootstrap-kubelet.conf";

/// Certificates and keys, unless a configuration names another directory.
pub const PKI: &str = "/etc/kubernetes/pki";
/// Those of etcd.
pub const ETCD_PKI: &str = "/etc/kubernetes/pki/etcd";
/// The certificate of the cluster's CA.
pub const CA_CERTIFICATE: &str = "/etc/kubernetes/pki/ca.crt";

/// The manifests of static pods.
pub const MANIFESTS: &str = "/etc/kubernetes/manifests";
/// The static pod of the API server.
pub const API_SERVER_MANIFEST: &str = "/etc/kubernetes/manifests/kube-apiserver.yaml";
/// The static pod of the controller manager.
pub const CONTROLLER_MANAGER_MANIFEST: &str = "/etc/kubernetes/manifests/kube-controller-manager.yaml";
/// The static pod of the scheduler.
pub const SCHEDULER_MANIFEST: &str = "/etc/kubernetes/manifests/kube-scheduler.yaml";
/// The static pod of etcd.
pub const ETCD_MANIFEST: &str = "/etc/kubernetes/manifests/etcd.yaml";

/// Backups that kubeadm makes before it changes something.
pub const KUBEADM_BACKUPS: &str = "/etc/kubernetes/tmp";
/// Files of a ControlPlaneConfig, which the programs of the control plane read.
pub const CONTROL_PLANE_FILES: &str = "/etc/kubernetes/machineadm";

/// What the kubelet stores.
pub const KUBELET: &str = "/var/lib/kubelet";
/// The flags that kubeadm starts the kubelet with.
pub const KUBELET_FLAGS: &str = "/var/lib/kubelet/kubeadm-flags.env";
/// The kubelet's certificate and key, as a link to the newest.
pub const KUBELET_CLIENT_CERTIFICATE: &str = "/var/lib/kubelet/pki/kubelet-client-current.pem";
