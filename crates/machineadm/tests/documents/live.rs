//! The live system, in a sandbox of its own: kernel parameters, certificates, other people's links.
use crate::support::{documents::document, run_output::RunOutput, sandbox::Sandbox};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::Path};

const OUTCOME: &str = "/var/lib/machineadm/outcome.json";
const FAILURE: &str = "/run/cluster-api/bootstrap-failure.json";
const SUCCESS: &str = "/run/cluster-api/bootstrap-success.complete";

fn parameters(spec: &str) -> String {
    document("SysctlConfig", &format!("{{parameters: {{{spec}}}}}"))
}

fn done(ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// Nothing is left to do.
fn is_settled(sandbox: &Sandbox) {
    let plan = sandbox.machineadm(&["plan", "-f", "/srv/configuration.yaml", "--exit-code"]);
    assert!(plan.code == Some(0) && plan.stdout.contains("nothing to do"), "{}{}", plan.stdout, plan.stderr);
}

/// The host's own parameters, which no sandbox may touch.
fn of_the_host() -> BTreeMap<String, String> {
    let names = fs::read_dir("/proc/sys/net/ipv4").expect("a kernel has parameters");
    let names = names.filter_map(|name| Some(name.ok()?.path())).filter(|path| path.is_file());
    let values = names.filter_map(|path| Some((path.display().to_string(), fs::read_to_string(path).ok()?)));
    values.collect()
}

#[test]
fn a_kernel_parameter_is_set_read_back_and_kept() {
    testbed::needs!(Root);
    let host = of_the_host();
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.sh("cat /proc/sys/net/ipv4/ip_forward"), "0\n");
    done(&sandbox.bootstrap(&parameters("net.ipv4.ip_forward: 1, net.ipv4.ip_local_port_range: 20000   30000")));
    assert_eq!(sandbox.sh("cat /proc/sys/net/ipv4/ip_forward"), "1\n");
    assert_eq!(sandbox.sh("cat /proc/sys/net/ipv4/ip_local_port_range"), "20000\t30000\n");
    let kept = sandbox.text("/etc/sysctl.d/90-machineadm.conf").unwrap();
    assert!(kept.contains("net.ipv4.ip_forward = 1\nnet.ipv4.ip_local_port_range = 20000 30000\n"), "{kept}");
    assert_eq!(sandbox.text(SUCCESS).as_deref(), Some("success\n"));
    is_settled(&sandbox);
    assert_eq!(of_the_host(), host, "the host was changed");
}

#[test]
fn a_parameter_that_does_not_take_is_a_failure_until_it_is_corrected() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mount --bind /dev/null /proc/sys/net/ipv4/ip_no_pmtu_disc");
    for (wrong, key, why) in [
        ("net.ipv4.no_such_thing: 1", "net.ipv4.no_such_thing", "no such parameter"),
        ("net.ipv4.ip_default_ttl: 9999", "net.ipv4.ip_default_ttl", "refuses this value"),
        ("net.ipv4.ip_no_pmtu_disc: 1", "net.ipv4.ip_no_pmtu_disc", "did not take"),
    ] {
        let ran = sandbox.bootstrap(&parameters(&format!("net.ipv4.ip_forward: 1, {wrong}")));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let outcome: Value = serde_json::from_str(&sandbox.text(OUTCOME).unwrap()).unwrap();
        assert_eq!(outcome["state"], "failed");
        assert_eq!(outcome["failure"]["phase"], "SysctlConfig");
        assert_eq!(outcome["failure"]["step"], format!("change {key}"));
        assert!(outcome["failure"]["cause"].as_str().unwrap().contains(why), "{outcome}");
        assert!(outcome["failure"]["advice"].is_string(), "{outcome}");
        assert!(sandbox.text(FAILURE).unwrap().contains(why));
        assert_eq!(sandbox.text(SUCCESS), None);
    }
    done(&sandbox.bootstrap(&parameters("net.ipv4.ip_forward: 1, net.ipv4.ip_default_ttl: 99")));
    assert_eq!(sandbox.text(FAILURE), None);
    assert_eq!(sandbox.text(SUCCESS).as_deref(), Some("success\n"));
    is_settled(&sandbox);
}

#[test]
fn a_certificate_is_taken_up_by_the_systems_own_program() {
    testbed::needs!(Root);
    assert!(Path::new("/usr/sbin/update-ca-certificates").exists(), "ca-certificates is missing: run scripts/setup");
    let sandbox = Sandbox::new();
    let make = "cd /srv
        openssl req -x509 -newkey ed25519 -nodes -days 30 -subj '/CN=Proof CA' -keyout ca.key -out ca.pem
        openssl req -newkey ed25519 -nodes -subj '/CN=leaf' -keyout leaf.key -out leaf.csr
        openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -days 10 -out leaf.pem";
    sandbox.sh(make);
    let verify = ["openssl", "verify", "-CApath", "/etc/ssl/certs", "/srv/leaf.pem"];
    assert_ne!(sandbox.run(&verify).code, Some(0), "it is trusted already");
    let certificate = sandbox.text("/srv/ca.pem").unwrap();
    let spec = format!("\n  certificates: |\n    {}", certificate.trim().replace('\n', "\n    "));
    done(&sandbox.bootstrap(&document("TrustBundleConfig", &spec)));
    let verified = sandbox.run(&verify);
    assert_eq!(verified.stdout, "/srv/leaf.pem: OK\n", "{}", verified.stderr);
    let bundle = sandbox.text("/etc/ssl/certs/ca-certificates.crt").unwrap();
    assert!(bundle.contains(certificate.trim()), "the bundle does not hold it");
    is_settled(&sandbox);
}

#[test]
fn a_link_by_somebody_else_in_a_directory_for_all_is_refused() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    sandbox.sh("mkdir /srv/target && ln -s /srv/target /tmp/trap && chown -h 65534:65534 /tmp/trap && chmod 1777 /tmp");
    let ran = sandbox.bootstrap(&document("FilesConfig", "{files: [{path: /tmp/trap/file, content: x}]}"));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("a symbolic link in a directory that other users can write"), "{}", ran.stderr);
    assert_eq!(sandbox.sh("ls -A /srv/target"), "");
    sandbox.sh("chown -h 0:0 /tmp/trap");
    done(&sandbox.machineadm(&["bootstrap"]));
    assert_eq!(sandbox.text("/srv/target/file").as_deref(), Some("x"));
}
