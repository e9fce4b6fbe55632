//! Values of the instance on a machine in memory.
use super::*;
use crate::{CertificateCopy, Cluster, Facts, NodeWait, Patience, ServerVersion, Unanswered, Wanted};
use certs::{CertificateSet, FileName, Found};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use documents::{AnyDocument, Secret, Source};
use host::{FileState, Memory};
use std::{collections::BTreeMap, time::Duration};

/// As cloud-init 22.4 writes it for NoCloud.
const DATA: &str = r#"{
  "ds": {"meta_data": {"instance-id": "i-7", "local-hostname": "Node-7", "dsmode": "net", "a.b": "dotted", "no": null,
         "list": [{"ip": "10.0.0.9"}], "secret": "redacted for non-root user"}},
  "v1": {"instance_id": "i-7", "local_hostname": "node-7", "availability_zone": "eu-1a"}
}"#;

struct NoCluster;

impl Cluster for NoCluster {
    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        panic!("nothing here asks a cluster")
    }
    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, crate::PlanError> {
        panic!("nothing here asks a cluster")
    }
    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("nothing here asks a cluster")
    }
    fn delete(&self, _: &[u8], _: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        panic!("nothing here asks a cluster")
    }
    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        panic!("nothing here asks a cluster")
    }
    fn wait_for_node(&self, _: &[u8], _: &NodeWait<'_>) -> Result<(), Unanswered> {
        panic!("nothing here asks a cluster")
    }
    fn live_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        panic!("nothing here asks a cluster")
    }
    fn upload_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: BTreeMap<FileName, Found>,
    ) -> Result<(), crate::PlanError> {
        panic!("nothing here asks a cluster")
    }
    fn download_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &CaBundle,
    ) -> Result<CertificateSet, crate::PlanError> {
        panic!("nothing here asks a cluster")
    }
}

fn file(text: &str) -> FileState {
    FileState { contents: Secret::new(text.into()), mode: 0o644, uid: 0, gid: 0 }
}

fn machine() -> Memory {
    Memory {
        files: [
            (INSTANCE_DATA.into(), file(DATA)),
            (METADATA[0].into(), file("AFTERBURN_HOSTNAME=node-8\nEMPTY=\n")),
            (METADATA[1].into(), file("COREOS_EC2_INSTANCE_ID=\"i-8\"\nEMPTY=full\n")),
        ]
        .into(),
        sysctls: [("kernel/hostname".into(), "Host-9\n".into())].into(),
        address: Some("10.0.0.9".parse().unwrap()),
        ..Memory::default()
    }
}

/// A JoinConfig with these members.
fn join(members: &str) -> v1alpha1::Join {
    let text = format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: JoinConfig\nspec: {{discovery: {{token: {{endpoints: \
         ['10.0.0.1:6443'], token: abcdef.0123456789abcdef, unsafeWithoutCAPins: true}}}}, {members}}}\n"
    );
    let mut read = documents::read(vec![Source { name: "test".into(), bytes: text.into_bytes().into() }]);
    assert!(!read.report.has_errors(), "{}", read.report);
    let AnyDocument::Join(join) = read.documents.remove(0).body else { panic!() };
    *join
}

fn resolved(members: &str, host: &Memory) -> Result<v1alpha1::Join, Vec<String>> {
    let (wanted, facts, named) = (Wanted::default(), Facts::default(), BTreeSet::new());
    of_join(&join(members), &Look::now(&wanted, host, &NoCluster, &facts, &named)).map_err(|error| match error {
        PlanError::Unfit(problems) => problems.into_iter().map(|problem| problem.text).collect(),
        other => panic!("{other}"),
    })
}

#[test]
fn values_come_from_every_source_under_the_names_that_cloud_init_s_templates_know() {
    let name = |template: &str| resolved(&format!("nodeName: '{template}'"), &machine()).unwrap().node_name.unwrap();
    assert_eq!(name("{{ ds.meta_data.instance_id }}"), "i-7");
    assert_eq!(name("{{ v1.local_hostname }}.example.com"), "node-7.example.com");
    assert_eq!(name("{{ ds.meta_data.a_b }}"), "dotted");
    assert_eq!(name("{{ metadata.AFTERBURN_HOSTNAME }}"), "node-8");
    assert_eq!(name("{{ metadata.COREOS_EC2_INSTANCE_ID }}"), "i-8");
    assert_eq!(name("{{ metadata.EMPTY }}"), "full");
    assert_eq!(name("{{ machine.hostname }}"), "host-9");
    let all = resolved(
        "labels: {example.com/zone: '{{ v1.availability_zone }}', plain: x}, nodeAddresses: ['{{ machine.address }}'], \
         kubelet: {providerID: 'test:///{{ v1.availability_zone }}/{{ ds.meta_data.instance_id }}', maxPods: 9, \
         clusterDNS: ['{{ ds.meta_data.list.0.ip }}']}",
        &machine(),
    )
    .unwrap();
    assert_eq!(all.labels["example.com/zone"], "eu-1a");
    assert_eq!(all.node_addresses, ["10.0.0.9"]);
    assert_eq!(all.kubelet["providerID"], "test:///eu-1a/i-7");
    assert_eq!(all.kubelet["clusterDNS"][0], "10.0.0.9");
    assert_eq!(resolved("nodeName: plain", &Memory::default()).unwrap(), join("nodeName: plain"));
}

#[test]
fn every_missing_value_is_listed_with_its_file_and_the_names_there_and_no_value() {
    let members = "nodeName: '{{ ds.meta_data.hostname }}', labels: {a: '{{ v1.zone }}', b: '{{ metadata.NO }}'}, \
                   kubelet: {providerID: '{{ ds.meta_data.secret }}', clusterDomain: '{{ ds.meta_data }}'}";
    let problems = resolved(members, &machine()).unwrap_err();
    let expected = [
        "nodeName: `ds.meta_data.hostname` is not in /run/cloud-init/instance-data.json: `ds.meta_data` has a_b, dsmode, \
         instance_id, list, local_hostname, no, secret",
        "labels[a]: `v1.zone` is not in /run/cloud-init/instance-data.json: `v1` has availability_zone, instance_id, \
         local_hostname",
        "labels[b]: `metadata.NO` is not in /run/metadata/afterburn, /run/metadata/coreos: it has AFTERBURN_HOSTNAME, \
         COREOS_EC2_INSTANCE_ID, EMPTY",
        "kubelet.clusterDomain: `ds.meta_data` is not in",
        "kubelet.providerID: `ds.meta_data.secret` is not in /run/cloud-init/instance-data.json: it is redacted there",
    ];
    // What is no part of this test is not compared.
    let compared: Vec<&str> =
        problems.iter().zip(expected).map(|(found, expected)| &found[..expected.len().min(found.len())]).collect();
    assert_eq!((compared, problems.len()), (expected.to_vec(), expected.len()));
    let bare = resolved("nodeName: '{{ v1.a }}', labels: {a: '{{ metadata.A }}'}", &Memory::default()).unwrap_err();
    assert!(bare[0].ends_with("instance-data.json: the file does not exist"), "{bare:?}");
    assert!(bare[1].contains("none of /run/metadata/afterburn, /run/metadata/coreos, /run/metadata/flatcar exists"));
    let routeless = resolved("nodeAddresses: ['{{ machine.address }}']", &Memory::default()).unwrap_err();
    assert_eq!(routeless, ["nodeAddresses[0]: `machine.address` is unknown: the machine has no route to the cluster"]);
}

#[test]
fn a_value_is_judged_like_one_that_was_given() {
    let problems = resolved(
        "nodeName: '{{ ds.meta_data.local_hostname }}', labels: {a: '{{ v1.local_hostname }}-'}, \
         nodeAddresses: ['{{ v1.instance_id }}']",
        &machine(),
    )
    .unwrap_err();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].starts_with("nodeName: the value of this machine, `Node-7`, must be lower-case"));
    assert!(problems[1].starts_with("labels[a]: the value of this machine, `node-7-`, invalid label value"));
    assert!(problems[2].starts_with("nodeAddresses[0]: the value of this machine, `i-7`, must be an IP address"));
}
