//! What a person sees on a terminal, and what a boot log gets without one: a moving line that fits, a start and an end of
//! each step, and how to continue after Ctrl-C.
use crate::support::{documents::document, sandbox::Sandbox};
use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};
use std::{
    fs::{self, File},
    io::Read,
    os::fd::OwnedFd,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};

const DEADLINE: Duration = Duration::from_secs(60);

/// A command that takes until a file is there, with a name that is longer than a narrow terminal is wide.
fn slow(name: &str) -> String {
    let shell = "echo works; touch /srv/started; while ! test -e /srv/go; do sleep 0.1; done";
    document("CommandsConfig", &format!("{{commands: [{{name: {name}, shell: {shell:?}}}]}}"))
}

/// A pseudo-terminal: our side, and the side of the program.
fn terminal(columns: u16) -> (File, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
    grantpt(&ours).expect("it is ours");
    unlockpt(&ours).expect("it is unlocked");
    let name = ptsname(&ours, Vec::new()).expect("it has a name");
    let theirs = File::options().read(true).write(true).open(name.to_str().expect("ASCII")).expect("it opens");
    tcsetwinsize(&theirs, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).expect("a size");
    (ours.into(), theirs.into())
}

/// Everything that the program writes to the terminal, while a run works and until its end.
fn on_terminal(columns: u16, name: &str) -> String {
    let sandbox = Sandbox::new();
    fs::write(sandbox.at("/srv/node.yaml"), slow(name)).expect("a file can be written");
    let (mut ours, theirs) = terminal(columns);
    let mut command = sandbox.command(&["machineadm", "bootstrap", "-f", "/srv/node.yaml"]);
    command.env("TERM", "xterm").env_remove("NO_COLOR").stderr(theirs).stdout(Stdio::null());
    let mut child = command.spawn().expect("nsenter runs");
    drop(command);
    let written = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&written);
    let reader = std::thread::spawn(move || {
        let mut part = [0; 4096];
        // The end of the other side is an error here.
        while let Ok(count @ 1..) = ours.read(&mut part) {
            into.lock().expect("nobody panics").extend_from_slice(&part[..count]);
        }
    });
    let text = || String::from_utf8_lossy(&written.lock().expect("nobody panics")).into_owned();
    until(|| {
        assert_eq!(child.try_wait().expect("it can be asked"), None, "{}", text());
        sandbox.text("/srv/started").is_some() && text().matches("CommandsConfig: run").count() > 2
    });
    sandbox.sh("touch /srv/go");
    assert!(child.wait().expect("it ends").success());
    reader.join().expect("the reader ends with the terminal");
    text()
}

fn until(mut condition: impl FnMut() -> bool) {
    let look = || if condition() { Ok(()) } else { Err("it does not hold".to_owned()) };
    testbed::until("a condition", DEADLINE, look).expect("it holds in the end");
}

/// What stands on the screen at the end, and every state of the moving line, as a terminal would show it: `\r` goes to
/// the start, `ESC [2K` erases the line.
fn played(written: &str) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut moving, mut line) = (Vec::new(), Vec::new(), String::new());
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        if let Some(behind) = rest.strip_prefix("\r\u{1b}[2K") {
            if line.starts_with('…') {
                moving.push(line.clone());
            }
            assert!(line.is_empty() || line.starts_with('…'), "a line that should stay is erased: {line:?}");
            line.clear();
            rest = behind;
        } else if let Some(behind) = rest.strip_prefix("\r\n") {
            lines.push(std::mem::take(&mut line));
            rest = behind;
        } else {
            assert!(!c.is_control(), "{c:?} in {written:?}");
            line.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    assert_eq!(line, "", "the moving line is still there at the end");
    (lines, moving)
}

fn assert_fits(columns: u16) {
    let name = "n".repeat(50);
    let (lines, moving) = played(&on_terminal(columns, &name));
    assert!(moving.iter().any(|line| line.contains("CommandsConfig: run")), "{moving:?}");
    let longest = moving.iter().map(|line| line.chars().count()).max().unwrap_or_default();
    assert!(longest < usize::from(columns), "{longest} in {columns} columns: {moving:?}");
    let is_whole = moving.iter().any(|line| line.ends_with(&name));
    assert_eq!(is_whole, columns > 100, "{moving:?}");
    assert!(lines.contains(&"  | works".to_owned()), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.starts_with("CommandsConfig: run n") && line.contains("done in ")),
        "{lines:?}"
    );
    assert!(!lines.iter().any(|line| line.starts_with('…')), "other output stands behind the moving line: {lines:?}");
}

#[test]
fn the_moving_line_fits_into_60_columns_and_is_erased_before_other_output() {
    testbed::needs!(Root);
    assert_fits(60);
}

#[test]
fn the_moving_line_uses_200_columns() {
    testbed::needs!(Root);
    assert_fits(200);
}

#[test]
fn a_boot_log_has_a_start_and_an_end_of_each_step() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let documents = document("CommandsConfig", "{commands: [{name: a, argv: [echo, hello]}]}");
    fs::write(sandbox.at("/srv/a.yaml"), documents).expect("a file can be written");
    let ran = sandbox.machineadm(&["bootstrap", "-f", "/srv/a.yaml", "--mode", "prepare"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let [start, echoed, end] = lines[..] else { panic!("{}", ran.stderr) };
    assert_eq!((start, echoed), ("machineadm: CommandsConfig: run a: started", "  | hello"));
    assert!(end.starts_with("machineadm: CommandsConfig: run a: done in ") && end.ends_with('s'), "{end}");
    assert!(!ran.stderr.contains('\u{1b}'));
}

#[test]
fn quiet_leaves_warnings_and_errors_and_verbose_adds_what_needs_nothing() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let documents = document("CommandsConfig", "{commands: [{name: a, argv: [echo, hello], creates: /etc/passwd}]}");
    fs::write(sandbox.at("/srv/a.yaml"), &documents).expect("a file can be written");
    let run = |words: &[&str]| sandbox.machineadm(&[&["bootstrap", "-f", "/srv/a.yaml"], words].concat());
    assert_eq!(run(&["--quiet", "--mode", "prepare"]).stderr, "");
    let warned = run(&["--quiet"]).stderr;
    assert!(
        warned.starts_with("warning: this machine does not become a node") && warned.lines().count() == 1,
        "{warned}"
    );
    assert!(run(&["-v"]).stderr.contains("CommandsConfig: nothing to do"));
    let both = run(&["-v", "-q"]);
    assert_eq!(both.code, Some(2), "{}", both.stderr);
    let again = sandbox.bootstrap(&documents);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let failed = sandbox.machineadm(&["bootstrap", "-f", "/srv/none.yaml", "--quiet"]);
    assert!(failed.stderr.starts_with("error: "), "{}", failed.stderr);
}

#[test]
fn a_log_in_json_has_one_object_a_line() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    fs::write(
        sandbox.at("/srv/a.yaml"),
        document("CommandsConfig", "{commands: [{name: a, shell: 'echo hello; exit 3'}]}"),
    )
    .expect("a file can be written");
    let ran = sandbox.machineadm(&["bootstrap", "-f", "/srv/a.yaml", "--mode", "prepare", "--log-format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let records: Vec<serde_json::Value> =
        ran.stderr.lines().map(|line| serde_json::from_str(line).expect("a line is an object")).collect();
    let started = &records[0];
    assert_eq!((&started["event"], &started["level"]), (&"started".into(), &"info".into()));
    assert_eq!((&started["document"], &started["target"]), (&"CommandsConfig".into(), &"a".into()));
    assert!(started["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{started}");
    let error = records.last().expect("it failed");
    assert_eq!((&error["level"], &error["exitCode"]), (&"error".into(), &1.into()), "{error}");
    assert!(error["message"].as_str().is_some_and(|text| text.contains("FAILED at CommandsConfig")), "{error}");
}

#[test]
fn ctrl_c_prints_how_to_continue_and_ends_as_the_signal_does() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    fs::write(sandbox.at("/srv/node.yaml"), slow("a")).expect("a file can be written");
    // Whoever runs this test may ignore SIGINT, as shells do for background jobs, and machineadm respects that.
    let script = "env --default-signal=INT machineadm bootstrap -f /srv/node.yaml 2>/srv/log >/dev/null & \
        echo $! >/srv/pid; wait $!; echo $? >/srv/code";
    let mut child = sandbox.command(&["timeout", "60", "bash", "-mc", script]).spawn().expect("nsenter runs");
    until(|| sandbox.text("/srv/started").is_some());
    sandbox.sh("kill -INT $(cat /srv/pid)");
    child.wait().expect("the script ends");
    let log = sandbox.text("/srv/log").expect("a log");
    assert!(log.contains("interrupted; to continue: machineadm bootstrap\n"), "{log}");
    assert_eq!(sandbox.text("/srv/code").as_deref(), Some("130\n"), "{log}");
    sandbox.sh("touch /srv/go");
    let again = sandbox.machineadm(&["bootstrap"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
}
