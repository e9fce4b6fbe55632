//! ProgramsConfig: what it comes to, what it refuses, and what no other document may say.
use super::*;
use crate::{
    AnyDocument, Body, Rights,
    testing::{document, found, problems, spec, with_spec},
    v1alpha1::ProgramLocation,
};

const SUM: &str = "'0000000000000000000000000000000000000000000000000000000000000001'";

fn programs(yaml: &str) -> Programs {
    let AnyDocument::Programs(programs) = spec("ProgramsConfig", &yaml.replace("SUM", SUM)) else { panic!() };
    *programs
}

fn found_in(yaml: &str) -> Vec<String> {
    found(&with_spec("ProgramsConfig", &yaml.replace("SUM", SUM)))
}

#[test]
fn a_source_is_below_the_location_and_sends_its_query() {
    let location = |location: &str, program: &str| {
        let programs =
            programs(&format!("{{location: '{location}', programs: {{kubeadm: {{{program}, sha256: SUM}}}}}}"));
        match &programs.programs[0].source.location {
            ProgramLocation::Uri(uri) => uri.expose().clone(),
            ProgramLocation::Path(path) => path.clone(),
        }
    };
    assert_eq!(location("https://a/b/", "source: c/kubeadm"), "https://a/b/c/kubeadm");
    assert_eq!(location("https://a/b", "source: kubeadm"), "https://a/b/kubeadm");
    assert_eq!(location("https://a", "source: kubeadm"), "https://a/kubeadm");
    assert_eq!(location("https://a/b/?sig=x", "source: kubeadm"), "https://a/b/kubeadm?sig=x");
    assert_eq!(location("/srv/programs/", "source: kubeadm"), "/srv/programs/kubeadm");
    assert_eq!(location("https://a/b", "source: /srv/kubeadm"), "/srv/kubeadm");
    assert_eq!(location("/srv", "uri: 'https://c/d?e'"), "https://c/d?e");
}

#[test]
fn programs_are_installed_before_those_that_use_them() {
    let names = ["kubelet", "containerd", "runc", "machineadm", "cniPlugins", "kubeadm"];
    let members: Vec<_> = names.map(|name| format!("{name}: {{source: /a, sha256: SUM}}")).into();
    let all =
        programs(&format!("{{programs: {{{}, others: [{{name: z, source: /a, sha256: SUM}}]}}}}", members.join(", ")));
    let order: Vec<_> = all.programs.iter().map(|file| file.program.name()).collect();
    assert_eq!(order, ["machineadm", "runc", "CNI plugins", "containerd", "kubeadm", "kubelet", "z"]);
    assert_eq!((all.directory.as_str(), all.timeout), ("/opt/bin", Duration::from_secs(1800)));
}

#[test]
fn every_bad_member_is_listed() {
    let yaml = "\
location: http://a/
certificateAuthority: none
timeout: 7h
directory: /srv/bin
programs:
  kubeadm: {source: ../kubeadm, sha256: x}
  kubelet: {sha256: SUM}
  runc: {source: a, uri: 'https://a/b', sha256: SUM}
  containerd: {uri: 'http://a', sha256: SUM}
  others:
  - {name: machineadm, source: /a, sha256: SUM}
  - {name: a/b, source: 'https://a/b', sha256: SUM}
images: {directory: /proc/a, files: []}";
    let expected = [
        "location",
        "certificateAuthority",
        "timeout",
        "directory",
        "programs.kubeadm.source",
        "programs.kubeadm.sha256",
        "programs.kubelet",
        "programs.runc",
        "programs.containerd.uri",
        "programs.others[0].name",
        "programs.others[1].name",
        "programs.others[1].source",
        "images",
        "images.directory",
        "images.files",
    ];
    assert_eq!(problems("ProgramsConfig", &yaml.replace("SUM", SUM)), expected.map(|field| format!("spec.{field}")));
    assert_eq!(found_in("{timeout: 1m}"), ["spec: requires `programs` or `images`"]);
    assert_eq!(found_in("{programs: {}}"), ["spec.programs: must name at least one program"]);
    let relative =
        "spec.programs.kubeadm.source: is relative: set `spec.location`, or write an absolute path or a `uri`";
    assert_eq!(found_in("{programs: {kubeadm: {source: a, sha256: SUM}}}"), [relative]);
}

#[test]
fn queries_and_passwords_are_secrets() {
    let programs = programs(
        "{location: 'https://u:pw@a/?sig=s3', programs: {kubeadm: {source: k, sha256: SUM},
          runc: {uri: 'https://b/?t0k', sha256: SUM}}}",
    );
    let secrets: Vec<_> = programs.secrets().into_iter().map(String::from_utf8_lossy).collect();
    for secret in ["pw", "sig=s3", "s3", "t0k"] {
        assert!(secrets.iter().any(|known| known == secret), "{secrets:?}");
    }
    assert!(!format!("{programs:?}").contains("s3"), "{programs:?}");
    assert_eq!(programs.programs[1].source.location.shown(), "https://a/k");
}

#[test]
fn a_document_names_only_what_its_rights_allow() {
    let path = |yaml: &str, rights| programs(yaml).not_allowed(rights).map(|(path, _, right)| (path, right));
    let files = Rights { local_files: true, ..Rights::NONE };
    let local = "{location: /srv, programs: {others: [{name: a, uri: 'https://a/', sha256: SUM},
                  {name: b, source: b, sha256: SUM}]}}";
    assert_eq!(path(local, Rights::NONE), Some(("spec.programs.others[1]".to_owned(), "localFiles")));
    assert_eq!(path(local, files), None);
    let images = "{images: {directory: /srv/images}, allow: [loopback]}";
    assert_eq!(path(images, Rights::NONE), Some(("spec.images.directory".to_owned(), "localFiles")));
    assert_eq!(path(images, files), Some(("spec.allow[0]".to_owned(), "loopback")));
    assert_eq!(path(images, Rights::ALL), None);
}

#[test]
fn what_a_program_writes_no_other_document_writes() {
    let kubelet = with_spec("ProgramsConfig", &format!("programs: {{kubelet: {{source: /a, sha256: {SUM}}}}}"));
    let file = |path: &str| document("FilesConfig", &format!("spec: {{files: [{{path: {path}, content: x}}]}}"));
    for path in ["/opt/bin/kubelet", "/etc/systemd/system/kubelet.service"] {
        let expected = format!("spec.programs.kubelet: {path} is also set by document 1, FilesConfig");
        let found = found(&[file(path), kubelet.clone()].concat());
        assert!(found.len() == 1 && found[0].starts_with(&expected[..expected.len() - 13]), "{found:?}");
        let found = self::found(&[kubelet.clone(), file(path)].concat());
        assert!(found.len() == 1 && found[0].starts_with("spec.files[0].path: this file is also set"), "{found:?}");
    }
    let masked = document("ServicesConfig", "spec: {services: [{name: kubelet, masked: true}]}");
    assert_eq!(found(&[kubelet, masked].concat()).len(), 1);
}
