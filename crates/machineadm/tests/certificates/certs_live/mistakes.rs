//! What users meet: each mistake is named with its remedy, and changes neither the cluster nor the machine.
use super::{
    keys,
    look::{COPY, done, entry, refused},
};
use crate::support::{
    certs_bed::{CertsBed, FILES, KEY},
    run_output::RunOutput,
};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::Command,
};
use testbed::{Result, control_plane::Options, programs::KUBERNETES};

const UPLOAD_AGAIN: &str = "remedy: on a control plane node, run `machineadm certs upload`";

#[test]
fn every_mistake_is_named_with_its_remedy_and_changes_nothing() -> Result<()> {
    testbed::needs!(ControlPlane);
    let bed = CertsBed::new(&Options::default())?;
    files_that_cannot_be_uploaded_are_all_listed(&bed)?;
    a_key_that_would_be_lost_is_refused(&bed)?;
    keys::the_key_is_taken_in_every_form(&bed);
    what_an_upload_cannot_use_is_named(&bed)?;
    rights_of_an_administrator_are_refused(&bed);
    a_copy_that_cannot_be_used_is_named(&bed)?;
    a_copy_of_another_cluster_is_refused(&bed)?;
    what_is_on_the_machine_is_respected(&bed);
    bed.plane.down()
}

/// A configuration of the other side, a Secret that nobody may change, and a reader that has gone away.
fn what_an_upload_cannot_use_is_named(bed: &CertsBed) -> Result<()> {
    let pki = bed.plane.pki().display().to_string();
    let upload = ["certs", "upload", "--cert-dir", &pki];
    let join = bed.file(
        "join-alone.yaml",
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery: \
         {file: {kubeConfigPath: /a}, tlsBootstrapToken: abcdef.0123456789abcdef}\n",
    );
    let other = bed.admin(&[&upload[..], &["--config", &join]].concat());
    refused(&other, 2, "--config has a JoinConfiguration: an upload reads certificateKey of an InitConfiguration", "");
    // The reader of the key is gone before it is printed: that is no success.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let lost = RunOutput::of(bed.admin_command(&upload).stdout(writer).output().unwrap());
    refused(&lost, 1, "cannot write the result to standard output", "");
    let frozen = ["--namespace=kube-system", "patch", "secret", "kubeadm-certs", "--patch={\"immutable\":true}"];
    bed.plane.kubectl(&frozen)?;
    let immutable = bed.admin(&upload);
    refused(&immutable, 1, "immutable", "remedy: delete the Secret with `machineadm certs delete`, then run again");
    done(bed.admin(&["certs", "delete"]));
    Ok(())
}

impl CertsBed {
    /// A copy of the control plane's files in a directory of its own, without some of them.
    fn files_without(&self, missing: &[&str]) -> PathBuf {
        let directory = self.scratch.path().join("incomplete");
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(directory.join("etcd")).unwrap();
        for name in FILES.iter().filter(|name| !missing.contains(name)) {
            fs::copy(self.plane.pki().join(name), directory.join(name)).unwrap();
        }
        directory
    }

    fn upload_from(&self, directory: &Path) -> RunOutput {
        self.admin(&["certs", "upload", "--cert-dir", directory.to_str().unwrap()])
    }
}

fn files_that_cannot_be_uploaded_are_all_listed(bed: &CertsBed) -> Result<()> {
    let before: Vec<_> = bed.secrets()?.into_keys().collect();
    let external = bed.upload_from(&bed.files_without(&["ca.key"]));
    let provide = "Provide on the new control plane node: the files of this set except ca.key; apiserver.crt";
    refused(&external, 2, "ca.key is missing: with an external CA, certificates are not copied", provide);
    for file in ["admin.conf", "controller-manager.conf", "scheduler.conf", "kubelet.conf"] {
        assert!(external.stderr.contains(file), "{}", external.stderr);
    }
    let proxy = bed.upload_from(&bed.files_without(&["front-proxy-ca.key"]));
    refused(&proxy, 2, "front-proxy-ca.key is missing: with an external front proxy CA", "front-proxy-client.crt");

    let missing = ["sa.pub", "sa.key", "etcd/ca.crt", "etcd/ca.key"];
    let directory = bed.files_without(&missing);
    fs::write(directory.join("front-proxy-ca.key"), "").unwrap();
    let several = bed.upload_from(&directory);
    for name in missing {
        refused(&several, 2, &format!("error: {} is missing\n", directory.join(name).display()), "");
    }
    refused(&several, 2, "front-proxy-ca.key is empty", "");
    assert_eq!(several.stderr.matches("error: ").count(), missing.len() + 1, "{}", several.stderr);
    assert_eq!(before, bed.secrets()?.into_keys().collect::<Vec<_>>(), "something was uploaded");
    Ok(())
}

fn a_key_that_would_be_lost_is_refused(bed: &CertsBed) -> Result<()> {
    let ran = bed.admin(&["certs", "upload", "--skip-certificate-key-print"]);
    refused(&ran, 2, "a generated key that is not printed is lost", "pass --certificate-key-file");
    // A later upload would delete the canary of this one, which would pass for the work of the cluster.
    refused(&bed.upload(&["--cleanup-timeout", "5m1s"]), 2, "--cleanup-timeout must be at most 5m0s", "");
    assert!(!bed.has_copy()?);
    Ok(())
}

fn rights_of_an_administrator_are_refused(bed: &CertsBed) {
    let (root, key) = (bed.machine().display().to_string(), bed.key_file());
    let ran = bed.admin(&["certs", "download", "--certificate-key-file", &key, "--root", &root]);
    let cause = "are not a bootstrap token: certificates are downloaded only with one";
    refused(&ran, 2, cause, "pass an ENDPOINT");
    // A bootstrap token beside an administrator's certificate leaves the rights of the certificate.
    let text = fs::read_to_string(bed.plane.kubeconfig()).unwrap();
    let (both, field) = (format!("    token: {}\n    client-key-data:", bed.token), "    client-key-data:");
    assert_eq!(text.matches(field).count(), 1, "the user of the administrator");
    let file = bed.file("both.conf", &text.replace(field, &both));
    let words = ["certs", "download", "--certificate-key-file", &key, "--root", &root, "--kubeconfig", &file];
    refused(&RunOutput::of(Command::new(env!("CARGO_BIN_EXE_machineadm")).args(words).output().unwrap()), 2, cause, "");
    assert!(!bed.target().exists());
}

fn a_copy_that_cannot_be_used_is_named(bed: &CertsBed) -> Result<()> {
    done(bed.upload(&[]));
    let wrong = keys::download_with(bed, &KEY.replace('e', "0"));
    refused(&wrong, 1, "the certificate key does not decrypt the Secret kube-system/kubeadm-certs", UPLOAD_AGAIN);

    let whole = entry(&bed.secrets()?[COPY], "ca.key");
    for (bytes, cause) in [
        (
            &whole[..20],
            "entry ca.key of the Secret kube-system/kubeadm-certs has 20 bytes in the Secret, less than the 28",
        ),
        (&whole[..whole.len() - 1], "entry ca.key of the Secret kube-system/kubeadm-certs cannot be decrypted"),
        (&[], "entry ca.key of the Secret kube-system/kubeadm-certs is empty in the Secret: the file was missing"),
    ] {
        bed.patch_copy(&json!({"ca.key": BASE64_STANDARD.encode(bytes)}))?;
        refused(&bed.download(&[]), 1, cause, UPLOAD_AGAIN);
    }
    bed.patch_copy(&json!({"ca.key": null}))?;
    refused(&bed.download(&[]), 1, "entry ca.key of the Secret kube-system/kubeadm-certs is missing", UPLOAD_AGAIN);
    assert!(!bed.target().exists(), "a part of a set was written");
    Ok(())
}

/// It is whole, and its key is right; but it is not the cluster that was discovered.
fn a_copy_of_another_cluster_is_refused(bed: &CertsBed) -> Result<()> {
    let other = other_cluster(bed)?;
    let key = bed.key_file();
    let words = ["certs", "upload", "--certificate-key-file", &key, "--cert-dir", other.to_str().unwrap()];
    done(bed.admin(&words));
    let cause = "ca.crt of the Secret kube-system/kubeadm-certs starts with a CA certificate that is not among the \
                 discovered CA certificates of the cluster";
    refused(&bed.download(&[]), 1, cause, UPLOAD_AGAIN);
    assert!(!bed.target().exists());
    Ok(())
}

/// The certificates of a cluster that does not run.
fn other_cluster(bed: &CertsBed) -> Result<PathBuf> {
    let (own, other) = (bed.plane.pki(), bed.scratch.path().join("other"));
    let text = fs::read_to_string(own.with_file_name("kubeadm.yaml")).unwrap();
    let config = bed.file("other.yaml", &text.replace(own.to_str().unwrap(), other.to_str().unwrap()));
    let mut kubeadm = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
    done(RunOutput::of(kubeadm.args(["init", "phase", "certs", "all", "--config", &config]).output().unwrap()));
    Ok(other)
}

fn what_is_on_the_machine_is_respected(bed: &CertsBed) {
    done(bed.upload(&[]));
    let (target, mode) = (bed.target(), |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777);
    done(bed.download(&[]));
    assert!(bed.is_copied(&target));

    // Equal content with a mode that lets others read and write it, as kubeadm keeps it.
    fs::set_permissions(target.join("ca.key"), fs::Permissions::from_mode(0o666)).unwrap();
    let corrected = done(bed.download(&[]));
    assert_eq!(mode(&target.join("ca.key")), 0o600);
    assert!(corrected.stdout.contains("pki/ca.key written\n"), "{}", corrected.stdout);
    assert_eq!(corrected.stdout.matches(" unchanged\n").count(), FILES.len() - 1, "{}", corrected.stdout);
    assert!(bed.is_copied(&target));

    // Other content stays, and so does all the rest.
    fs::write(target.join("sa.key"), "other\n").unwrap();
    fs::remove_file(target.join("ca.crt")).unwrap();
    let cause = "/etc/kubernetes/pki/sa.key exists with other content";
    refused(&bed.download(&[]), 1, cause, "delete them or pass --force");
    assert!(fs::read(target.join("sa.key")).unwrap() == b"other\n" && !target.join("ca.crt").exists());
    done(bed.download(&["--force"]));
    assert!(bed.is_copied(&target));

    // Also where the directory is written with a slash at its end, which tab completion leaves.
    fs::remove_dir_all(target.join("etcd")).unwrap();
    let elsewhere = bed.scratch.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, target.join("etcd")).unwrap();
    let cause = "/etc/kubernetes/pki/etcd is a symbolic link, not a directory";
    refused(&bed.download(&["--cert-dir", "/etc/kubernetes/pki/"]), 1, cause, "remove what is in the way");
    assert!(fs::read_dir(&elsewhere).unwrap().next().is_none());
    fs::remove_file(target.join("etcd")).unwrap();
    done(bed.download(&["--cert-dir", "/etc/kubernetes/pki/"]));
    assert!(bed.is_copied(&target));

    // A link leads elsewhere, to a file that is not ours to write.
    let outside = bed.scratch.path().join("outside");
    fs::write(&outside, "precious\n").unwrap();
    fs::remove_file(target.join("ca.key")).unwrap();
    symlink(&outside, target.join("ca.key")).unwrap();
    for flags in [&[][..], &["--force"]] {
        let cause = "/etc/kubernetes/pki/ca.key is a symbolic link, not a regular file";
        refused(&bed.download(flags), 1, cause, "remove what is in the way");
        assert_eq!(fs::read(&outside).unwrap(), b"precious\n");
    }
    fs::remove_dir_all(bed.machine()).unwrap();
}
