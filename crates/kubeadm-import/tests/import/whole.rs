//! All of kubeadm's documents of a machine together.
use crate::hub::{documents, notes, unsupported};
use kubeadm::ComponentConfig;
use machineadm_kubeadm_import::{DocumentKind, ImportError, Imported, ImportedInit, ImportedJoin, Wanted, import};

const INIT: &str = "init: {certificateKey: e6a2}\ncluster: {kubernetesVersion: v1.36.4}\n";
const JOIN: &str = "join: {}\n";

fn wanted(kind: Option<DocumentKind>, version: Option<&str>) -> Wanted {
    Wanted { kind, kubernetes_version: version.map(str::to_owned) }
}

fn import_as(yaml: &str, wanted: &Wanted) -> Result<Imported, ImportError> {
    import(documents(yaml), &[], wanted)
}

fn init(yaml: &str, wanted: &Wanted) -> ImportedInit {
    match import_as(yaml, wanted) {
        Ok(Imported::Init(imported)) => *imported,
        other => panic!("{other:?}"),
    }
}

fn join(yaml: &str, wanted: &Wanted) -> ImportedJoin {
    match import_as(yaml, wanted) {
        Ok(Imported::Join(imported)) => *imported,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_kind_is_that_of_the_documents_and_of_two_machines_the_wanted_one() {
    let both = format!("{INIT}{JOIN}");
    let (none, to_init, to_join) = (
        wanted(None, None),
        wanted(Some(DocumentKind::InitConfig), None),
        wanted(Some(DocumentKind::JoinConfig), None),
    );
    assert_eq!(init(INIT, &none), init(&both, &to_init));
    assert_eq!(init("cluster: {kubernetesVersion: v1.36.4}", &none).report.notes, []);
    assert_eq!(join(JOIN, &none), join(&both, &to_join));
    assert_eq!(import_as(&both, &none), Err(ImportError::TwoMachines));
    assert_eq!(import_as("{reset: {}}", &none), Err(ImportError::NoConfiguration));
    assert_eq!(import_as(JOIN, &to_init), Err(ImportError::NoInitConfiguration));
    assert_eq!(import_as("{}", &to_init), Err(ImportError::NoInitConfiguration));
    assert_eq!(import_as(INIT, &to_join), Err(ImportError::NoJoinConfiguration));
    assert_eq!(import_as("{}", &to_join), Err(ImportError::NoJoinConfiguration));
    // An InitConfiguration alone counts, although it then names no version.
    assert_eq!(import_as("init: {}", &none), Err(ImportError::NoKubernetesVersion));
}

#[test]
fn an_init_config_needs_a_version_that_is_no_label() {
    for version in ["", "stable-1", "ci/latest"] {
        let yaml = format!("cluster: {{kubernetesVersion: '{version}'}}");
        assert_eq!(import_as(&yaml, &wanted(None, None)), Err(ImportError::NoKubernetesVersion), "{version}");
    }
    assert_eq!(import_as("cluster: {}", &wanted(None, Some("latest"))), Err(ImportError::NoKubernetesVersion));
    let unnamed = init("cluster: {}", &wanted(None, Some("v1.36.4")));
    assert_eq!((unnamed.document.kubernetes_version.as_str(), notes(&unnamed.report)), ("v1.36.4", vec![]));
}

#[test]
fn a_wanted_version_outranks_that_of_the_documents_and_is_noted_if_it_differs() {
    let uploads = "InitConfiguration.certificateKey uploads the certificates, as kubeadm does with --upload-certs";
    let same = init(INIT, &wanted(None, Some("1.36.4")));
    assert_eq!((same.document.kubernetes_version.as_str(), notes(&same.report)), ("1.36.4", vec![uploads.to_owned()]));
    let other = init(INIT, &wanted(None, Some("v1.37.1")));
    let differs = "ClusterConfiguration.kubernetesVersion is v1.36.4 in the files and v1.37.1 in the document";
    assert_eq!(notes(&other.report), [differs, uploads]);
    assert_eq!(join(JOIN, &wanted(None, Some("v1.36.4"))).document.kubernetes_version.as_deref(), Some("v1.36.4"));
    assert_eq!(join(JOIN, &wanted(None, None)).document.kubernetes_version, None);
}

#[test]
fn documents_of_other_commands_are_listed_as_a_whole() {
    let others = "reset: {}\nupgrade: {}\nclusterStatus: {}\n";
    let init = init(&format!("{INIT}{others}"), &wanted(None, None));
    let join = join(&format!("{JOIN}{others}"), &wanted(None, None));
    let expected = [
        "ResetConfiguration = (the whole document) (`machineadm reset` has flags and no document)",
        "UpgradeConfiguration = (the whole document) (machineadm has no document for `kubeadm upgrade`)",
    ];
    for report in [&init.report, &join.report] {
        assert_eq!(unsupported(report), expected);
        let note = "ClusterStatus has no effect: kubeadm wrote it itself, up to Kubernetes 1.21";
        assert_eq!(notes(report).last().map(String::as_str), Some(note));
    }
    assert_eq!(unsupported(&self::join(JOIN, &wanted(None, None)).report), [""; 0]);
}

#[test]
fn a_join_reads_no_document_of_another_component() {
    let component = ComponentConfig { kind: "KubeletConfiguration".to_owned(), text: "maxPods: 42".to_owned() };
    let Ok(Imported::Join(imported)) = import(documents(JOIN), &[component], &wanted(None, None)) else {
        panic!("a join")
    };
    assert!(imported.document.kubelet.is_empty());
    assert_eq!(notes(&imported.report), ["KubeletConfiguration has no effect: `kubeadm join` does not read it"]);
}

#[test]
fn each_error_says_what_is_missing() {
    for (error, text) in [
        (ImportError::TwoMachines, "the files are for two machines: an InitConfiguration or a ClusterConfiguration is"),
        (ImportError::NoConfiguration, "the files have no InitConfiguration, ClusterConfiguration or Join"),
        (ImportError::NoInitConfiguration, "the files have neither an InitConfiguration nor a ClusterConfiguration"),
        (ImportError::NoJoinConfiguration, "the files have no JoinConfiguration"),
        (
            ImportError::NoKubernetesVersion,
            "the files name no complete Kubernetes version, which an InitConfig requires",
        ),
    ] {
        assert!(error.to_string().starts_with(text), "{error}");
    }
}
