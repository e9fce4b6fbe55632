//! What a ContainerdConfig asks for, in the words of the crate `containerd`.
use containerd::{
    Capability, CgroupDriver, ClientCertificate, Mirror, OptionValue, Registry, Runtime, Settings, Upstream,
};
use documents::v1alpha1::{self, Containerd, MirrorCapability, RuntimeOption};

/// What a ContainerdConfig asks for; the proxy and the path of the file are not containerd's own settings.
pub fn settings(wanted: &Containerd) -> Settings {
    let Containerd {
        config_path: _,
        registries,
        proxy: _,
        sandbox_image,
        cgroup_driver,
        snapshotter,
        runtimes,
        default_runtime,
        data_root,
        extra_config,
    } = wanted;
    Settings {
        registries: registries.iter().map(registry).collect(),
        sandbox_image: sandbox_image.clone(),
        cgroup_driver: cgroup_driver.map(|driver| match driver {
            v1alpha1::CgroupDriver::Systemd => CgroupDriver::Systemd,
            v1alpha1::CgroupDriver::Cgroupfs => CgroupDriver::Cgroupfs,
        }),
        snapshotter: snapshotter.clone(),
        runtimes: runtimes.iter().map(runtime).collect(),
        default_runtime: default_runtime.clone(),
        data_root: data_root.clone(),
        extra: extra_config.clone(),
    }
}

fn registry(registry: &v1alpha1::Registry) -> Registry {
    let v1alpha1::Registry { host, mirrors, upstream, hosts_file: _ } = registry;
    let upstream = match upstream {
        v1alpha1::Upstream::Registry => Upstream::Registry,
        v1alpha1::Upstream::Never => Upstream::Never,
        v1alpha1::Upstream::Url(url) => Upstream::Url(url.clone()),
    };
    Registry { host: host.clone(), mirrors: mirrors.iter().map(mirror).collect(), upstream }
}

fn mirror(mirror: &v1alpha1::Mirror) -> Mirror {
    let v1alpha1::Mirror { url, capabilities, ca, client, headers, skip_verify, override_path } = mirror;
    let capability = |capability: &MirrorCapability| match capability {
        MirrorCapability::Pull => Capability::Pull,
        MirrorCapability::Resolve => Capability::Resolve,
        MirrorCapability::Push => Capability::Push,
    };
    let client = client.as_ref();
    Mirror {
        url: url.clone(),
        capabilities: capabilities.iter().map(capability).collect(),
        ca: ca.clone(),
        client: client
            .map(|(certificate, key)| ClientCertificate { certificate: certificate.clone(), key: key.clone() }),
        headers: headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        skip_verify: *skip_verify,
        override_path: *override_path,
    }
}

fn runtime(runtime: &v1alpha1::Runtime) -> Runtime {
    let v1alpha1::Runtime { name, runtime_type, binary, options } = runtime;
    let value = |value: &RuntimeOption| match value {
        RuntimeOption::Bool(value) => OptionValue::Bool(*value),
        RuntimeOption::Integer(value) => OptionValue::Integer(*value),
        RuntimeOption::Text(value) => OptionValue::Text(value.clone()),
    };
    Runtime {
        name: name.clone(),
        runtime_type: runtime_type.clone(),
        binary: binary.clone(),
        options: options.iter().map(|(name, option)| (name.clone(), value(option))).collect(),
    }
}
