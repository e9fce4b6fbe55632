//! Between the hub and v1beta3: what `init` and `join` need.
use super::{Discovery, InitConfiguration, JoinConfiguration, NodeRegistration, Patches, later};
use crate::{aside::Aside, hub, shape::mirror, spoke::Spoke};

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
        later::init_timeouts(timeouts.as_ref(), aside);
        Self {
            bootstrap_tokens: Spoke::from_hub(bootstrap_tokens, aside),
            node_registration: aside.within("node_registration", |aside| Spoke::from_hub(node_registration, aside)),
            local_api_endpoint: Spoke::from_hub(local_api_endpoint, aside),
            certificate_key: certificate_key.clone(),
            skip_phases: skip_phases.clone(),
            patches: Spoke::from_hub(patches, aside),
        }
    }

    fn to_hub(&self) -> hub::InitConfiguration {
        let Self { bootstrap_tokens, node_registration, local_api_endpoint, certificate_key, skip_phases, patches } =
            self;
        hub::InitConfiguration {
            bootstrap_tokens: bootstrap_tokens.to_hub(),
            dry_run: None,
            node_registration: node_registration.to_hub(),
            local_api_endpoint: local_api_endpoint.to_hub(),
            certificate_key: certificate_key.clone(),
            skip_phases: skip_phases.clone(),
            patches: patches.to_hub(),
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
        let timeout = later::join_timeouts(timeouts.as_ref(), aside);
        Self {
            node_registration: aside.within("node_registration", |aside| Spoke::from_hub(node_registration, aside)),
            ca_cert_path: ca_cert_path.clone(),
            discovery: Discovery::from_hub(discovery, timeout, aside),
            control_plane: aside.within("control_plane", |aside| Spoke::from_hub(control_plane, aside)),
            skip_phases: skip_phases.clone(),
            patches: Spoke::from_hub(patches, aside),
        }
    }

    fn to_hub(&self) -> hub::JoinConfiguration {
        let Self { node_registration, ca_cert_path, discovery, control_plane, skip_phases, patches } = self;
        let (discovery, timeouts) = discovery.to_hub();
        hub::JoinConfiguration {
            dry_run: None,
            node_registration: node_registration.to_hub(),
            ca_cert_path: ca_cert_path.clone(),
            discovery,
            control_plane: control_plane.to_hub(),
            skip_phases: skip_phases.clone(),
            patches: patches.to_hub(),
            timeouts,
        }
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
        later::image_pull_serial(image_pull_serial.as_ref(), aside);
        Self {
            name: name.clone(),
            cri_socket: cri_socket.clone(),
            taints: Spoke::from_hub(taints, aside),
            kubelet_extra_args: aside.within("kubelet_extra_args", |aside| Spoke::from_hub(kubelet_extra_args, aside)),
            ignore_preflight_errors: ignore_preflight_errors.clone(),
            image_pull_policy: image_pull_policy.clone(),
        }
    }

    fn to_hub(&self) -> hub::NodeRegistration {
        let Self { name, cri_socket, taints, kubelet_extra_args, ignore_preflight_errors, image_pull_policy } = self;
        hub::NodeRegistration {
            name: name.clone(),
            cri_socket: cri_socket.clone(),
            taints: taints.to_hub(),
            kubelet_extra_args: kubelet_extra_args.to_hub(),
            ignore_preflight_errors: ignore_preflight_errors.clone(),
            image_pull_policy: image_pull_policy.clone(),
            image_pull_serial: None,
        }
    }
}

mirror! {
    Patches { directory }
}
