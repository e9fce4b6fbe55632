//! Documents to begin with: what must be said, with values that ask to be replaced, as `kubeadm config print` has them.
use crate::{
    hub::{
        BootstrapToken, BootstrapTokenDiscovery, ClusterConfiguration, Documents, InitConfiguration, JoinConfiguration,
        JoinControlPlane, ResetConfiguration, UpgradeConfiguration,
    },
    target::Target,
};
use secret::Secret;

/// A token that nobody should use.
const TOKEN: &str = "abcdef.0123456789abcdef";

/// What an example is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleOf {
    /// The first node: InitConfiguration and ClusterConfiguration.
    Init,
    /// A worker: JoinConfiguration.
    Join,
    /// A further node of the control plane: JoinConfiguration.
    JoinControlPlane,
    /// ResetConfiguration, since v1beta4.
    Reset,
    /// UpgradeConfiguration, since v1beta4.
    Upgrade,
}

/// Documents to begin with, for one Kubernetes version; with [`super::fill`] they show every default.
pub fn example(of: ExampleOf, target: &Target) -> Documents {
    let mut documents = Documents::default();
    match of {
        ExampleOf::Init => {
            documents.init = Some(init(target));
            let kubernetes_version = Some(target.release().to_owned());
            documents.cluster = Some(ClusterConfiguration { kubernetes_version, ..ClusterConfiguration::default() });
        }
        ExampleOf::Join => documents.join = Some(join(target)),
        ExampleOf::JoinControlPlane => {
            let mut control_plane = JoinControlPlane::default();
            control_plane.local_api_endpoint.advertise_address = Some("1.2.3.4".to_owned());
            documents.join = Some(JoinConfiguration { control_plane: Some(control_plane), ..join(target) });
        }
        ExampleOf::Reset => {
            let cri_socket = Some(cri_socket(target).to_owned());
            documents.reset = Some(ResetConfiguration { cri_socket, ..ResetConfiguration::default() });
        }
        ExampleOf::Upgrade => documents.upgrade = Some(UpgradeConfiguration::default()),
    }
    documents
}

fn init(target: &Target) -> InitConfiguration {
    let token = BootstrapToken { token: Some(Secret::new(TOKEN.to_owned())), ..BootstrapToken::default() };
    let mut init = InitConfiguration { bootstrap_tokens: vec![token], ..InitConfiguration::default() };
    init.local_api_endpoint.advertise_address = Some("1.2.3.4".to_owned());
    init.node_registration.name = Some("node".to_owned());
    init.node_registration.cri_socket = Some(cri_socket(target).to_owned());
    init
}

fn join(target: &Target) -> JoinConfiguration {
    let mut join = JoinConfiguration::default();
    join.discovery.bootstrap_token = Some(BootstrapTokenDiscovery {
        token: Some(Secret::new(TOKEN.to_owned())),
        api_server_endpoint: Some("kube-apiserver:6443".to_owned()),
        unsafe_skip_ca_verification: Some(true),
        ..BootstrapTokenDiscovery::default()
    });
    join.node_registration.name = Some("node".to_owned());
    join.node_registration.cri_socket = Some(cri_socket(target).to_owned());
    join
}

/// The socket that this version takes if it finds no other.
fn cri_socket(target: &Target) -> &'static str {
    if target.minor() < 24 { "/var/run/dockershim.sock" } else { "unix:///var/run/containerd/containerd.sock" }
}
