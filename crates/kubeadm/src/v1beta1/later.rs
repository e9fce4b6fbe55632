//! What only later versions can say, and what becomes of it in this one and those between.
use crate::{
    aside::{Aside, NoteKind, Since},
    hub,
    scalar::Duration,
};
use secret::Secret;

/// How long a certificate is valid unless told otherwise.
pub(crate) const CERTIFICATE_VALIDITY: Duration = Duration::hours(8760);
/// How long a certificate authority is valid unless told otherwise.
pub(crate) const CA_VALIDITY: Duration = Duration::hours(87600);
/// The algorithm of keys unless told otherwise.
pub(crate) const ALGORITHM: &str = "RSA-2048";
/// When images are pulled unless told otherwise.
pub(crate) const PULL_POLICY: &str = "IfNotPresent";

/// How long kubeadm waits unless told otherwise.
pub(crate) const TIMEOUTS: hub::Timeouts = hub::Timeouts {
    control_plane_component_health_check: Some(Duration::minutes(4)),
    kubelet_health_check: Some(Duration::minutes(4)),
    kubernetes_api_call: Some(Duration::minutes(1)),
    etcd_api_call: Some(Duration::minutes(2)),
    tls_bootstrap: Some(Duration::minutes(5)),
    discovery: Some(Duration::minutes(5)),
    upgrade_manifests: Some(Duration::minutes(5)),
};

/// What a ClusterConfiguration says since v1beta4.
pub(crate) struct Cluster<'h> {
    pub(crate) proxy: &'h hub::Proxy,
    pub(crate) encryption_algorithm: Option<&'h str>,
    pub(crate) certificate_validity_period: Option<&'h Duration>,
    pub(crate) ca_certificate_validity_period: Option<&'h Duration>,
}

pub(crate) fn cluster(later: &Cluster<'_>, aside: &mut Aside) {
    let Cluster { proxy, encryption_algorithm, certificate_validity_period, ca_certificate_validity_period } = later;
    let hub::Proxy { disabled } = proxy;
    aside.within("proxy", |aside| disabled_addon(disabled.as_ref(), aside));
    aside.drop_field("encryption_algorithm", *encryption_algorithm, ALGORITHM, Since::V1BETA4);
    let (leaf, ca) = (*certificate_validity_period, *ca_certificate_validity_period);
    aside.drop_field("certificate_validity_period", leaf, &CERTIFICATE_VALIDITY, Since::V1BETA4);
    aside.drop_field("ca_certificate_validity_period", ca, &CA_VALIDITY, Since::V1BETA4);
}

/// A disabled addon has become a skipped phase already; what is left says that it is not disabled.
pub(crate) fn disabled_addon(disabled: Option<&bool>, aside: &mut Aside) {
    aside.drop_field("disabled", disabled, &false, Since::V1BETA4);
}

/// Environment variables: no version before v1beta4 can say them, and no flag does. Their values may be secret.
pub(crate) fn environment(variables: &[hub::EnvVar], aside: &mut Aside) {
    aside.within("extra_envs", |aside| {
        for variable in variables {
            let name = variable.name.as_deref().unwrap_or_default();
            aside.item(name, |aside| aside.lose("(an environment variable)", Since::V1BETA4));
        }
    });
}

/// The addresses of etcd for HTTP: nothing is lost if they are the same.
pub(crate) fn http_endpoints(endpoints: &[String], http: &[String], aside: &mut Aside) {
    if !http.is_empty() {
        let lost = |aside: &mut Aside| aside.lose(http.join(","), Since::minor(35));
        aside.within(
            "http_endpoints",
            |aside| {
                if http == endpoints { aside.note(NoteKind::Default) } else { lost(aside) }
            },
        );
    }
}

pub(crate) fn image_pull_serial(serial: Option<&bool>, aside: &mut Aside) {
    aside.drop_field("image_pull_serial", serial, &true, Since::V1BETA4);
}

pub(crate) fn image_pull_policy(policy: Option<&str>, aside: &mut Aside) {
    aside.drop_field("image_pull_policy", policy, PULL_POLICY, Since::V1BETA3);
}

pub(crate) fn ignore_preflight_errors(checks: &[String], aside: &mut Aside) {
    if !checks.is_empty() {
        aside.within("ignore_preflight_errors", |aside| {
            aside.flag("--ignore-preflight-errors", Some(checks.join(",")));
        });
    }
}

/// A flag of init in every version, and of join from 1.23 on.
pub(crate) fn dry_run(dry_run: Option<bool>, aside: &mut Aside) {
    aside.within("dry_run", |aside| match dry_run {
        Some(true) if aside.is_join() && aside.minor < 23 => aside.lose_until_later(true, 23),
        Some(true) => aside.flag("--dry-run", None),
        Some(false) => aside.note(NoteKind::Default),
        None => {}
    });
}

/// A flag of init in every version, and of join from 1.14 on, the first to have phases there.
pub(crate) fn skip_phases(phases: &[String], aside: &mut Aside) {
    if !phases.is_empty() {
        aside.within("skip_phases", |aside| {
            let phases = phases.join(",");
            if aside.is_join() && aside.minor < 14 {
                aside.lose_until_later(phases, 14);
            } else {
                aside.flag("--skip-phases", Some(phases));
            }
        });
    }
}

/// A flag from 1.19 on; before that kubeadm has no patches.
pub(crate) fn patches(patches: Option<&hub::Patches>, aside: &mut Aside) {
    let Some(hub::Patches { directory: Some(directory) }) = patches else { return };
    aside.within("patches", |aside| {
        aside.within("directory", |aside| {
            if (19..=21).contains(&aside.minor) {
                aside.flag("--experimental-patches", Some(directory.clone()));
            } else {
                aside.lose(directory, Since::V1BETA3);
            }
        });
    });
}

/// A flag beside a file in 1.14 alone: 1.13 uploads no certificates, and later versions have the field.
pub(crate) fn certificate_key(key: Option<&Secret<String>>, aside: &mut Aside) {
    let Some(key) = key else { return };
    aside.within("certificate_key", |aside| match aside.minor {
        14 => aside.secret_flag("--certificate-key", key.expose()),
        _ => aside.lose("[secret]", Since::V1BETA2),
    });
}

/// The waiting times of init, which only v1beta4 can say; the control plane's has moved to the cluster already.
pub(crate) fn init_timeouts(timeouts: Option<&hub::Timeouts>, aside: &mut Aside) {
    let Some(timeouts) = timeouts else { return };
    aside.within("timeouts", |aside| {
        if timeouts.discovery.is_some() {
            aside.within("discovery", |aside| aside.note(NoteKind::NoEffect));
        }
        other_timeouts(timeouts, aside);
    });
}

/// The waiting times of join, but for `discovery`, which stands elsewhere in earlier versions.
pub(crate) fn join_timeouts(timeouts: Option<&hub::Timeouts>, aside: &mut Aside) -> Option<Duration> {
    let timeouts = timeouts?;
    aside.within("timeouts", |aside| other_timeouts(timeouts, aside));
    timeouts.discovery
}

fn other_timeouts(timeouts: &hub::Timeouts, aside: &mut Aside) {
    let hub::Timeouts {
        control_plane_component_health_check,
        kubelet_health_check,
        kubernetes_api_call,
        etcd_api_call,
        tls_bootstrap,
        discovery: _,
        upgrade_manifests,
    } = timeouts;
    for (field, value, default) in [
        (
            "control_plane_component_health_check",
            control_plane_component_health_check,
            TIMEOUTS.control_plane_component_health_check,
        ),
        ("kubelet_health_check", kubelet_health_check, TIMEOUTS.kubelet_health_check),
        ("kubernetes_api_call", kubernetes_api_call, TIMEOUTS.kubernetes_api_call),
        ("etcd_api_call", etcd_api_call, TIMEOUTS.etcd_api_call),
        ("tls_bootstrap", tls_bootstrap, TIMEOUTS.tls_bootstrap),
        ("upgrade_manifests", upgrade_manifests, TIMEOUTS.upgrade_manifests),
    ] {
        aside.drop_field(field, value.as_ref(), &default.unwrap_or_default(), Since::V1BETA4);
    }
}
