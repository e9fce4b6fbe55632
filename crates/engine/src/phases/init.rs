//! InitConfig: a new cluster with kubeadm (R1), in the API version that this kubeadm prefers.
use super::{
    Phase, Role,
    tolerated_checks::{ToleratedChecks, image_pull_policy},
    worker::NodeTraces,
};
use crate::{
    Facts, Look, PlanError, Planned,
    acts::{KubeadmInit, UPLOAD_ID, UploadCerts, kubeadm_init},
    steps_for,
};
use certs::{Etcd, FileSet, NoCertificateKey};
use documents::{
    AnyDocument, Decoded, Secret,
    v1alpha1::{self, Members},
};
use kubeadm::{
    Converted, Target,
    hub::{ApiEndpoint, ClusterConfiguration, Documents, InitConfiguration, Networking, NodeRegistration},
    render,
};
use serde_json::Value;
use std::rc::Rc;

/// Where kubeadm creates certificates.
const CERTIFICATES: &str = "/etc/kubernetes/pki";

pub(super) const PHASE: Phase = Phase {
    kind: "InitConfig",
    summary: "creates a cluster with kubeadm, or undoes its own interrupted start and creates it again",
    role: Role::MakesNode,
    plan,
    acts,
};

/// An upload that the document no longer asks for is none of its acts: an interrupted one is then closed.
fn acts(document: &Decoded) -> Vec<String> {
    let uploads = matches!(&document.body, AnyDocument::Init(wanted) if wanted.certificate_key.is_some());
    [Some(kubeadm_init::ID), uploads.then_some(UPLOAD_ID)].into_iter().flatten().map(str::to_owned).collect()
}

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let AnyDocument::Init(wanted) = &document.body else { return Ok(Planned::default()) };
    // What is not known before the commands have run is not known here either.
    if let Some(commands) = look.waits_for_acts() {
        return Ok(Planned { known_after: Some(commands), ..Planned::default() });
    }
    let mut planned = steps_for(Rc::new(act(wanted, look.facts)?), look)?;
    if let Some(upload) = upload(wanted)? {
        let upload = steps_for(Rc::new(upload), look)?;
        planned.steps.extend(upload.steps);
        planned.remarks.extend(upload.remarks);
    }
    Ok(planned)
}

/// The upload of the certificates that kubeadm creates where it is not told otherwise.
fn upload(wanted: &v1alpha1::Init) -> Result<Option<UploadCerts>, PlanError> {
    let Some(key) = &wanted.certificate_key else { return Ok(None) };
    let key = key
        .expose()
        .parse()
        .map_err(|why: NoCertificateKey| PlanError::Unfit(vec![format!("certificateKey {why}")]))?;
    Ok(Some(UploadCerts { key, directory: CERTIFICATES.into(), files: FileSet::new(&Etcd::Stacked) }))
}

/// What there is of a control plane node.
pub(super) fn traces(look: &Look<'_>) -> Result<NodeTraces, PlanError> {
    let found = kubeadm_init::files_found(look)?;
    Ok(NodeTraces { act: kubeadm_init::ID, are_any: found > 0, are_all: found == kubeadm_init::FILES })
}

/// `kubeadm init` with all that it needs to know, for the kubeadm that preflight found.
pub(super) fn act(wanted: &v1alpha1::Init, facts: &Facts) -> Result<KubeadmInit, PlanError> {
    // Preflight sees to it that kubeadm is of the same minor version, which decides the API version.
    let target = Target::new(&wanted.kubernetes_version).map_err(|why| PlanError::Unfit(vec![why.to_string()]))?;
    let converted = kubeadm::convert(&documents(wanted, &target), &target);
    if !converted.losses.is_empty() {
        let path = |loss: &kubeadm::Loss| kubeadm::shown(&loss.path);
        let paths = converted.losses.iter().map(path);
        let problem = |path| format!("the kubeadm of {} has no field for {path}", target.release());
        return Err(PlanError::Unfit(paths.map(problem).collect()));
    }
    Ok(KubeadmInit {
        file: Secret::new(file(wanted, &converted)),
        flags: converted
            .flags
            .iter()
            .map(kubeadm::Flag::argument)
            .chain(ToleratedChecks::new(&wanted.tolerated_checks, &wanted.kubelet, target.minor()).flag())
            .collect(),
        api_version: target.api().to_string(),
        version: facts.kubeadm.clone().unwrap_or_else(|| wanted.kubernetes_version.clone()),
        runtime_socket: wanted.runtime_socket.clone(),
    })
}

/// What the user asked, in our own types; what was not asked for is kubeadm's to choose, so it stays unset.
fn documents(wanted: &v1alpha1::Init, target: &Target) -> Documents {
    let joined = |subnets: &[String]| (!subnets.is_empty()).then(|| subnets.join(","));
    Documents {
        init: Some(InitConfiguration {
            node_registration: NodeRegistration {
                name: wanted.node_name.clone(),
                cri_socket: Some(format!("unix://{}", wanted.runtime_socket)),
                ignore_preflight_errors: ToleratedChecks::new(
                    &wanted.tolerated_checks,
                    &wanted.kubelet,
                    target.minor(),
                )
                .names(),
                image_pull_policy: image_pull_policy(wanted.image_pull, target.api()),
                ..NodeRegistration::default()
            },
            local_api_endpoint: ApiEndpoint {
                advertise_address: wanted.advertise_address.map(|address| address.to_string()),
                ..ApiEndpoint::default()
            },
            ..InitConfiguration::default()
        }),
        cluster: Some(ClusterConfiguration {
            kubernetes_version: Some(wanted.kubernetes_version.clone()),
            control_plane_endpoint: wanted.control_plane_endpoint.clone(),
            networking: Networking {
                pod_subnet: joined(&wanted.pod_subnets),
                service_subnet: joined(&wanted.service_subnets),
                ..Networking::default()
            },
            ..ClusterConfiguration::default()
        }),
        ..Documents::default()
    }
}

/// kubeadm's file: its own documents, and those of the components, as they came.
fn file(wanted: &v1alpha1::Init, converted: &Converted) -> String {
    let components = [
        ("kubelet.config.k8s.io/v1beta1", "KubeletConfiguration", &wanted.kubelet),
        ("kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration", &wanted.kube_proxy),
    ];
    let components: Vec<Value> = components.into_iter().filter_map(component).collect();
    render::yaml_stream(converted.documents.iter().map(|document| &document.value).chain(&components))
}

fn component((api_version, kind, members): (&str, &str, &Members)) -> Option<Value> {
    let mut document = members.clone();
    document.insert("apiVersion".into(), api_version.into());
    document.insert("kind".into(), kind.into());
    (!members.is_empty()).then_some(Value::Object(document))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(version: &str) -> v1alpha1::Init {
        v1alpha1::Init {
            kubernetes_version: version.into(),
            control_plane_endpoint: None,
            advertise_address: None,
            node_name: Some("on".into()),
            runtime_socket: "/run/containerd/containerd.sock".into(),
            pod_subnets: vec!["10.244.0.0/16".into()],
            service_subnets: Vec::new(),
            tolerated_checks: vec![v1alpha1::PreflightCheck::Cgroups],
            image_pull: v1alpha1::ImagePull::IfNotPresent,
            kubelet: [("registerWithTaints".to_owned(), Value::Array(Vec::new()))].into_iter().collect(),
            kube_proxy: Members::new(),
            certificate_key: None,
        }
    }

    fn made(version: &str) -> KubeadmInit {
        act(&wanted(version), &Facts::default()).unwrap()
    }

    #[test]
    fn kubeadm_gets_the_version_that_it_prefers() {
        let apis = ["v1.14.0", "v1.21.14", "v1.30.14", "v1.36.4", "v1.99.0"].map(|version| made(version).api_version);
        let wanted = ["v1beta1", "v1beta2", "v1beta3", "v1beta4", "v1beta4"];
        assert_eq!(apis, wanted.map(|api| format!("kubeadm.k8s.io/{api}")));
        assert!(matches!(act(&self::wanted("v1.12.9"), &Facts::default()), Err(PlanError::Unfit(_))));
    }

    #[test]
    fn the_plan_names_the_kubeadm_that_preflight_found_and_the_file_the_version_that_was_asked_for() {
        let facts = Facts { kubeadm: Some("v1.36.7".into()), ..Facts::default() };
        let made = act(&wanted("v1.36.4"), &facts).unwrap();
        assert_eq!(made.version, "v1.36.7");
        assert!(made.file.expose().contains("kubernetesVersion: \"v1.36.4\""), "{:?}", made.file.expose());
    }

    #[test]
    fn what_the_file_cannot_say_goes_by_flag() {
        assert_eq!(made("v1.14.0").flags, ["--ignore-preflight-errors=SystemVerification"]);
        assert_eq!(made("v1.36.4").flags, [""; 0]);
    }

    #[test]
    fn words_stay_words_and_components_stay_as_they_are() {
        let file = made("v1.36.4").file.expose().clone();
        assert!(file.contains("name: \"on\"") && file.contains("podSubnet: \"10.244.0.0/16\""), "{file}");
        assert!(file.contains("registerWithTaints: []"), "{file}");
        assert!(!file.contains("KubeProxyConfiguration") && !file.contains("serviceSubnet"), "{file}");
    }
}
