//! The certificate key comes by flag, file, standard input or configuration file, to an upload and to a download.
use super::look::{done, refused};
use crate::support::{
    certs_bed::{CertsBed, KEY},
    run_output::RunOutput,
};
use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

/// Ways to give a key: arguments, and what is on standard input.
type Way = (Vec<String>, String);

pub(crate) fn the_key_is_taken_in_every_form(bed: &CertsBed) {
    let pki = bed.plane.pki().display().to_string();
    let hidden = bed.admin_command(&["certs", "upload", "--cert-dir", &pki, "--skip-certificate-key-print"]);
    a_key_of_a_file_is_not_printed(hidden, &init_configuration(bed));
    for (words, input) in ways(bed, &init_configuration(bed)) {
        let mut command = bed.admin_command(&["certs", "upload", "--cert-dir", &pki]);
        let uploaded = done(run(command.args(words), &input));
        assert_eq!(uploaded.stdout, format!("{KEY}\n"));
    }
    let mut by_flags = ways(bed, "");
    by_flags.retain(|(words, _)| words[0] != "--config");
    for (words, input) in by_flags {
        is_downloaded(bed, &run(command(bed).args(discovery(bed)).args(words), &input));
    }
    let join = join_configuration(bed);
    is_downloaded(bed, &run(command(bed).args(["--config", &join]), ""));
    is_downloaded(bed, &run(command(bed).args(["--config", "-"]), &fs::read_to_string(&join).unwrap()));
    forms_that_are_refused(bed, &join);
    the_cluster_is_taken_in_every_form(bed, &join);
    done(bed.admin(&["certs", "delete"]));
}

fn ways(bed: &CertsBed, config: &str) -> Vec<Way> {
    let way = |flag: &str, value: &str, input: &str| (vec![flag.to_owned(), value.to_owned()], input.to_owned());
    vec![
        way("--certificate-key", KEY, ""),
        way("--certificate-key", &KEY.to_uppercase(), ""),
        way("--certificate-key-file", &bed.file("with-newline", &format!("{KEY}\n")), ""),
        way("--certificate-key-file", "-", KEY),
        way("--config", config, ""),
    ]
}

fn a_key_of_a_file_is_not_printed(mut command: Command, config: &str) {
    let uploaded = done(run(command.args(["--config", config]), ""));
    assert!(uploaded.stdout.is_empty() && !uploaded.stderr.contains(KEY), "{uploaded:?}");
}

fn forms_that_are_refused(bed: &CertsBed, join: &str) {
    let key = bed.key_file();
    let both = run(command(bed).args(["--config", join, "--certificate-key-file", &key]), "");
    refused(&both, 2, "certificateKey is set in --config and --certificate-key-file is given", "remove one of them");
    let twice = ["--certificate-key-file", "-", "--config", "-"];
    for ran in [run(command(bed).args(twice), KEY), run(bed.admin_command(&["certs", "upload"]).args(twice), KEY)] {
        refused(&ran, 2, "standard input can be read once: --certificate-key-file, --config all name it", "");
    }
    let none = run(command(bed).args(discovery(bed)), "");
    refused(&none, 2, "a certificate key is required", "pass --certificate-key-file");
    let short = &KEY[..62];
    let ran = download_with(bed, short);
    refused(&ran, 2, "--certificate-key has 62 characters; a certificate key has 64 hexadecimal digits", "");
    assert!(!ran.stderr.contains(short), "{}", ran.stderr);
}

/// A saved cluster, and a kubeconfig with a bootstrap token; what would be ignored beside them is refused.
fn the_cluster_is_taken_in_every_form(bed: &CertsBed, join: &str) {
    let [key, token] = [bed.key_file(), bed.file("token", &bed.token)];
    let key = ["--certificate-key-file", &key];
    let mut discover = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    discover.args(["discover", "--store", "--root"]).arg(bed.machine()).args(discovery(bed));
    done(run(&mut discover, ""));
    is_downloaded(bed, &run(command(bed).args(key).args(["--token-file", &token]), ""));

    let kubeconfig = bed.file("holder.conf", &kubeconfig(bed));
    let holder = ["--kubeconfig", &kubeconfig];
    // The environment variable that names the system's CA certificates.
    let system = bed.plane.pki().join("ca.crt");
    is_downloaded(bed, &run(command(bed).env("SSL_CERT_FILE", system).args(key).args(holder), ""));
    for flag in ["--token", "--discovery-token", "--tls-bootstrap-token"] {
        let ran = run(command(bed).args(key).args(holder).args([flag, &bed.token]), "");
        refused(&ran, 2, "--kubeconfig excludes discovery and tokens", "");
    }
    let pinned = run(command(bed).args(["--config", join, "--discovery-token-ca-cert-hash", &bed.pin]), "");
    let cause = "--config has a JoinConfiguration, which determines discovery";
    refused(&pinned, 2, cause, "remove --discovery-token-ca-cert-hash");
}

/// One with the token, which leaves it to the system whom to trust.
fn kubeconfig(bed: &CertsBed) -> String {
    let (server, token) = (bed.plane.url(0).unwrap(), &bed.token);
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\n\
         clusters: [{{name: a, cluster: {{server: '{server}'}}}}]\nusers: [{{name: a, user: {{token: {token}}}}}]\n"
    )
}

/// A download with this key.
pub(crate) fn download_with(bed: &CertsBed, key: &str) -> RunOutput {
    run(command(bed).args(discovery(bed)).args(["--certificate-key", key]), "")
}

/// `certs download` without a word about the cluster.
fn command(bed: &CertsBed) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_machineadm"));
    command.args(["certs", "download", "--root"]).arg(bed.machine());
    command
}

fn discovery(bed: &CertsBed) -> [String; 5] {
    let endpoint = bed.plane.url(0).unwrap();
    let token = bed.file("token", &bed.token);
    [endpoint, "--token-file".to_owned(), token, "--discovery-token-ca-cert-hash".to_owned(), bed.pin.clone()]
}

fn run(command: &mut Command, input: &str) -> RunOutput {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // Who does not read it may have gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    RunOutput::of(child.wait_with_output().unwrap())
}

fn is_downloaded(bed: &CertsBed, ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(bed.is_copied(&bed.target()));
    fs::remove_dir_all(bed.machine()).unwrap();
}

fn init_configuration(bed: &CertsBed) -> String {
    let text = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\ncertificateKey: ";
    bed.file("key-init.yaml", &format!("{text}{KEY}\n"))
}

fn join_configuration(bed: &CertsBed) -> String {
    let endpoint = bed.plane.url(0).unwrap().replace("https://", "");
    let CertsBed { token, pin, .. } = bed;
    let text = format!(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ncontrolPlane: {{certificateKey: {KEY}}}\n\
         discovery: {{bootstrapToken: {{apiServerEndpoint: '{endpoint}', token: {token}, caCertHashes: ['{pin}']}}}}\n"
    );
    bed.file("key-join.yaml", &text)
}
