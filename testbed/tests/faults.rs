//! What is missing on a host is told in one line, with its remedy.
use std::process::{Command, Output};

/// The command, with a cache of its own that has nothing yet.
fn testbed(cache: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbed"));
    command.env("XDG_CACHE_HOME", cache);
    command
}

fn cache(name: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("testbed-{name}-{}", std::process::id()))
}

/// Failed, and the last line of its errors is this one.
fn assert_says(output: &Output, expected: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it succeeded");
    assert!(said.trim_end().lines().last().is_some_and(|line| line.contains(expected)), "{said}");
}

#[test]
fn a_missing_program_is_named_with_the_package_that_has_it() {
    testbed::needs!(Machines);
    let output = testbed(&cache("program")).arg("shell").env("PATH", "/nowhere").output().unwrap();
    assert_says(&output, "chroot is missing; remedy: apt-get install coreutils (or run testbed/setup)");
    let output = testbed(&cache("program")).arg("doctor").env("PATH", "/nowhere").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    for line in ["missing  systemd-nspawn: apt-get install systemd-container", "missing  go: install Go"] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!output.status.success());
}

#[test]
fn a_missing_capability_is_named() {
    testbed::needs!(Machines);
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_admin", "--inh-caps=-sys_admin", env!("CARGO_BIN_EXE_testbed"), "shell"]);
    let output = command.env("XDG_CACHE_HOME", cache("capability")).output().unwrap();
    assert_says(&output, "CAP_SYS_ADMIN is missing; remedy: run as root of the machine, or in a privileged container");
}

#[test]
fn a_module_proxy_out_of_reach_is_named() {
    testbed::needs!(Judge("go"));
    let place = cache("proxy");
    let output = testbed(&place).args(["build", "etcd-3.6.8"]).env("GOPROXY", "http://127.0.0.1:1").output().unwrap();
    assert_says(&output, "is missing; remedy: make a Go module proxy reachable (GOPROXY)");
    std::fs::remove_dir_all(place).unwrap();
}

#[test]
fn an_unknown_set_is_answered_with_the_known_ones() {
    let output = testbed(&cache("set")).args(["build", "kubernetes-0.1"]).output().unwrap();
    assert_says(&output, "there is no set kubernetes-0.1; there are tools-1, etcd-3.6.8");
}
