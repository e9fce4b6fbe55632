//! Between the hub and v1beta1: what `init` and `join` need.
use super::{Discovery, InitConfiguration, JoinConfiguration, JoinControlPlane, NodeRegistration, later};
use crate::{aside::Aside, hub, scalar::Duration, spoke::Spoke};

impl Spoke<hub::InitConfiguration> for InitConfiguration {
    fn from_hub(hub: &hub::InitConfiguration, aside: &mut Aside) -> Self {
        let hub::InitConfiguration {
            bootstrap_tokens,
            dry_run,
            node_registration,
            local_api_endpoint,
            certificate_key,
            skip_phases,
            patches,
            timeouts,
        } = hub;
        later::dry_run(*dry_run, aside);
        later::certificate_key(certificate_key.as_ref(), aside);
        later::skip_phases(skip_phases, aside);
        later::patches(patches.as_ref(), aside);
        later::init_timeouts(timeouts.as_ref(), aside);
        Self {
            bootstrap_tokens: Spoke::from_hub(bootstrap_tokens, aside),
            node_registration: aside.within("node_registration", |aside| Spoke::from_hub(node_registration, aside)),
            local_api_endpoint: Spoke::from_hub(local_api_endpoint, aside),
        }
    }

    fn to_hub(&self) -> hub::InitConfiguration {
        let Self { bootstrap_tokens, node_registration, local_api_endpoint } = self;
        hub::InitConfiguration {
            bootstrap_tokens: bootstrap_tokens.to_hub(),
            dry_run: None,
            node_registration: node_registration.to_hub(),
            local_api_endpoint: local_api_endpoint.to_hub(),
            certificate_key: None,
            skip_phases: Vec::new(),
            patches: None,
            timeouts: None,
        }
    }
}

impl Spoke<hub::JoinConfiguration> for JoinConfiguration {
    fn from_hub(hub: &hub::JoinConfiguration, aside: &mut Aside) -> Self {
        let hub::JoinConfiguration {
            dry_run,
            node_registration,
            ca_cert_path,
            discovery,
            control_plane,
            skip_phases,
            patches,
            timeouts,
        } = hub;
        later::dry_run(*dry_run, aside);
        later::skip_phases(skip_phases, aside);
        later::patches(patches.as_ref(), aside);
        let timeout = later::join_timeouts(timeouts.as_ref(), aside);
        Self {
            node_registration: aside.within("node_registration", |aside| Spoke::from_hub(node_registration, aside)),
            ca_cert_path: ca_cert_path.clone(),
            discovery: Discovery::from_hub(discovery, timeout, aside),
            control_plane: aside.within("control_plane", |aside| Spoke::from_hub(control_plane, aside)),
        }
    }

    fn to_hub(&self) -> hub::JoinConfiguration {
        let Self { node_registration, ca_cert_path, discovery, control_plane } = self;
        let (discovery, timeouts) = discovery.to_hub();
        hub::JoinConfiguration {
            dry_run: None,
            node_registration: node_registration.to_hub(),
            ca_cert_path: ca_cert_path.clone(),
            discovery,
            control_plane: control_plane.to_hub(),
            skip_phases: Vec::new(),
            patches: None,
            timeouts,
        }
    }
}

/// Its waiting time stands elsewhere since v1beta4, so it converts together with that.
impl Discovery {
    pub(crate) fn from_hub(hub: &hub::Discovery, timeout: Option<Duration>, aside: &mut Aside) -> Self {
        let hub::Discovery { bootstrap_token, file, tls_bootstrap_token } = hub;
        Self {
            bootstrap_token: Spoke::from_hub(bootstrap_token, aside),
            file: Spoke::from_hub(file, aside),
            tls_bootstrap_token: tls_bootstrap_token.clone(),
            timeout,
        }
    }

    pub(crate) fn to_hub(&self) -> (hub::Discovery, Option<hub::Timeouts>) {
        let Self { bootstrap_token, file, tls_bootstrap_token, timeout } = self;
        let (bootstrap_token, file) = (bootstrap_token.to_hub(), file.to_hub());
        let discovery = hub::Discovery { bootstrap_token, file, tls_bootstrap_token: tls_bootstrap_token.clone() };
        (discovery, timeout.map(|timeout| hub::Timeouts { discovery: Some(timeout), ..hub::Timeouts::default() }))
    }
}

impl Spoke<hub::JoinControlPlane> for JoinControlPlane {
    fn from_hub(hub: &hub::JoinControlPlane, aside: &mut Aside) -> Self {
        let hub::JoinControlPlane { local_api_endpoint, certificate_key } = hub;
        later::certificate_key(certificate_key.as_ref(), aside);
        Self { local_api_endpoint: Spoke::from_hub(local_api_endpoint, aside) }
    }

    fn to_hub(&self) -> hub::JoinControlPlane {
        let Self { local_api_endpoint } = self;
        hub::JoinControlPlane { local_api_endpoint: local_api_endpoint.to_hub(), certificate_key: None }
    }
}

impl Spoke<hub::NodeRegistration> for NodeRegistration {
    fn from_hub(hub: &hub::NodeRegistration, aside: &mut Aside) -> Self {
        let hub::NodeRegistration {
            name,
            cri_socket,
            taints,
            kubelet_extra_args,
            ignore_preflight_errors,
            image_pull_policy,
            image_pull_serial,
        } = hub;
        later::ignore_preflight_errors(ignore_preflight_errors, aside);
        later::image_pull_policy(image_pull_policy.as_deref(), aside);
        later::image_pull_serial(image_pull_serial.as_ref(), aside);
        Self {
            name: name.clone(),
            cri_socket: cri_socket.clone(),
            taints: Spoke::from_hub(taints, aside),
            kubelet_extra_args: aside.within("kubelet_extra_args", |aside| Spoke::from_hub(kubelet_extra_args, aside)),
        }
    }

    fn to_hub(&self) -> hub::NodeRegistration {
        let Self { name, cri_socket, taints, kubelet_extra_args } = self;
        hub::NodeRegistration {
            name: name.clone(),
            cri_socket: cri_socket.clone(),
            taints: taints.to_hub(),
            kubelet_extra_args: kubelet_extra_args.to_hub(),
            ignore_preflight_errors: Vec::new(),
            image_pull_policy: None,
            image_pull_serial: None,
        }
    }
}
