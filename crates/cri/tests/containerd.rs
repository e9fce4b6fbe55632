//! A real containerd, which needs neither root nor a machine to say what it is, and listeners that are no runtime.
use machineadm_cri::{CgroupDriver, Error, ask};
use std::{
    fs,
    io::{Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixListener},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};
use tempfile::TempDir;
use testbed::{programs::CONTAINERD, until};

/// Where an answer is expected.
const WITHIN: Duration = Duration::from_secs(20);
/// Some user who is not root: so it shares no limit with machines that run beside this test.
const USER: u32 = 65_123;

/// A containerd that ends with the test.
struct Containerd {
    child: Child,
    directory: TempDir,
}

impl Containerd {
    fn start(further: &str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        std::os::unix::fs::chown(directory.path(), Some(USER), Some(USER)).expect("root's rights");
        let program = CONTAINERD.ensure().expect("it is built").judge("containerd").expect("it is there");
        let here = directory.path().display().to_string();
        // Its folder is not everybody's.
        let copy = directory.path().join("containerd");
        testbed::copy_program(&program, &copy).expect("a copy");
        let server = |name: &str| format!("[{name}]\naddress = '{here}/{name}.sock'\nuid = {USER}\ngid = {USER}\n");
        let config = format!(
            "version = 3\nroot = '{here}/root'\nstate = '{here}/state'\n{further}{}{}\
             [plugins.'io.containerd.cri.v1.runtime'.cni]\nconf_dir = '{here}/cni'\n",
            server("grpc"),
            server("ttrpc")
        );
        fs::write(directory.path().join("config.toml"), config).expect("a file");
        let log = fs::File::create(directory.path().join("log")).expect("a file");
        let child = Command::new("setpriv")
            .args(["--reuid", &USER.to_string(), "--regid", &USER.to_string(), "--clear-groups"])
            .arg(copy)
            .args(["-c", &format!("{here}/config.toml")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let containerd = Self { child, directory };
        until("containerd", WITHIN, || match fs::read_to_string(containerd.directory.path().join("log")) {
            Ok(log) if log.contains("successfully booted") => Ok(()),
            log => Err(format!("{log:?}")),
        })
        .expect("it boots");
        containerd
    }

    fn socket(&self) -> std::path::PathBuf {
        self.directory.path().join("grpc.sock")
    }
}

impl Drop for Containerd {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn containerd_says_what_it_is() {
    testbed::needs!(Root, Pinned(&CONTAINERD), Judge("setpriv"));
    let containerd = Containerd::start("disabled_plugins = ['io.containerd.nri.v1.nri']\n");
    let report = ask(&containerd.socket(), WITHIN).expect("an answer");
    assert_eq!((report.name.as_str(), report.version.as_str()), ("containerd", "v2.4.2"), "{report:?}");
    assert_eq!((report.cgroup_driver, report.not_ready), (Some(CgroupDriver::Cgroupfs), None));
    assert_eq!(report.root, Some(containerd.directory.path().join("root").display().to_string()));
    let network = report.network_not_ready.expect("there is no CNI plugin");
    assert!(network.contains("no network config found"), "{network}");
    assert!(report.images.is_empty() && !report.has_pinned_image);
}

#[test]
fn containerd_without_its_cri_plugin_is_no_runtime_for_kubernetes() {
    testbed::needs!(Root, Pinned(&CONTAINERD), Judge("setpriv"));
    let containerd = Containerd::start("disabled_plugins = ['io.containerd.grpc.v1.cri']\n");
    let error = ask(&containerd.socket(), WITHIN).expect_err("no CRI");
    assert!(error.is_without_cri_v1(), "{error:?}");
    assert!(error.to_string().contains("unknown service runtime.v1.RuntimeService"), "{error}");
}

#[test]
fn a_socket_that_does_not_exist_and_one_that_nobody_listens_on_are_told_apart() {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("a.sock");
    assert!(matches!(ask(&socket, WITHIN), Err(Error::NoSocket { .. })));
    drop(UnixListener::bind(&socket).expect("a socket"));
    // A program that another test starts just now has the listener until it is executed.
    until("a refusal", WITHIN, || match ask(&socket, WITHIN) {
        Err(Error::Refused { .. }) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .expect("nobody listens");
}

/// Asks somebody who answers with these bytes; `None` says nothing at all.
fn answered_by(bytes: Option<&'static [u8]>, within: Duration) -> Error {
    let directory = tempfile::tempdir().expect("a directory");
    let socket = directory.path().join("a.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let answering = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let mut greeting = [0; 64];
        assert!(stream.read(&mut greeting).expect("a greeting") > 0);
        match bytes {
            Some(bytes) => stream.write_all(bytes).expect("an answer"),
            // Until the client gives up.
            None => while stream.read(&mut greeting).is_ok_and(|length| length > 0) {},
        }
    });
    let error = ask(Path::new(&socket), within).expect_err("no runtime");
    answering.join().expect("it ended");
    error
}

#[test]
fn somebody_else_behind_the_socket_is_no_runtime() {
    let error = answered_by(Some(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"), WITHIN);
    assert!(matches!(error, Error::NotGrpc { .. }), "{error:?}");
    assert!(!error.to_string().contains("Bad Request"), "{error}");
}

#[test]
fn somebody_who_says_nothing_is_not_waited_for() {
    let error = answered_by(None, Duration::from_millis(200));
    assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
}
