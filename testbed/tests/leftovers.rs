//! Beds beside each other and beds that died: nobody is disturbed, nothing is left.
mod own_cache;

use own_cache::OwnCache;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use testbed::{Bed, Profile, Result, traces};

#[test]
fn a_bed_whose_process_was_killed_is_cleaned_up_by_the_next_run() -> Result<()> {
    testbed::needs!(Machines);
    let before = traces::host_settings();
    let own = OwnCache::new("killed")?;
    let mut child = own.command(&["shell"]).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let id = said.into_iter().find_map(|line| Some(line.strip_prefix("Bed ")?.split_once(':')?.0.to_owned())).unwrap();
    own.run(&["shell"], "true\n");
    let traces = own.traces(&id).unwrap();
    let beside = traces.found().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    for what in ["process", "namespace net:", "namespace pid:", "mount", "/sys/fs/cgroup/"] {
        assert!(beside.iter().any(|trace| trace.starts_with(what)), "{what} of a living owner's bed: {beside:?}");
    }
    let left = traces.found()?;
    assert!(left.iter().any(|trace| trace.starts_with("process")), "its machine runs on: {left:?}");
    own.run(&["shell"], "true\n");
    assert_eq!(traces.found()?, Vec::<String>::new(), "the next run removed it");
    assert_eq!(own.run(&["down"], ""), "There was nothing to remove.\n");

    let after = traces::host_settings();
    let changed: Vec<_> = before.iter().filter(|(path, value)| after.get(*path) != Some(value)).collect();
    assert!(changed.is_empty(), "settings of the host changed: {changed:?}");
    Ok(())
}

#[test]
fn two_beds_with_the_same_names_and_addresses_do_not_meet() -> Result<()> {
    testbed::needs!(Machines);
    let (first, second) = (Bed::new()?, Bed::new()?);
    let ours = first.machine("m1", &Profile::default())?;
    let theirs = second.machine("m1", &Profile::default())?;
    ours.boot()?;
    theirs.boot()?;
    assert_eq!(ours.address(), theirs.address());
    ours.write("/etc/whose", "ours", 0o644)?;
    theirs.write("/etc/whose", "theirs", 0o644)?;
    let traces = first.traces()?;
    first.down()?;
    assert_eq!(traces.found()?, Vec::<String>::new(), "nothing is left after `down`");
    assert!(!ours.is_on());
    assert_eq!(theirs.read("/etc/whose")?, "theirs");
    assert!(theirs.is_on());
    second.down()
}

/// A process that is left on purpose, and ends with the test.
struct Leftover(Child);

impl Leftover {
    /// Runs a script that says when it is ready and then waits.
    fn new(command: &mut Command, script: &str) -> Self {
        let script = format!("{script}; echo ready; exec sleep 600");
        let mut child = command.args(["sh", "-ec", &script]).stdout(Stdio::piped()).spawn().expect("it starts");
        let (said, mut ready) = (child.stdout.take().expect("a pipe"), String::new());
        BufReader::new(said).read_line(&mut ready).expect("its output can be read");
        assert_eq!(ready, "ready\n", "{script}");
        Self(child)
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// What the other tests rely on: each kind of leftover is seen after `down`, although no name leads to most of them.
#[test]
fn whatever_a_bed_leaves_is_found() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = bed.machine("m1", &Profile::default())?;
    machine.boot()?;
    let (id, traces) = (bed.id().to_owned(), bed.traces()?);
    let inside = leader(&traces.found()?).to_owned();
    let group = traces.found()?.into_iter().find(|trace| trace.starts_with("/sys/fs/cgroup/")).map(PathBuf::from);
    let place = std::env::temp_dir().join(&id);
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("namespace"), "").unwrap();

    // None of these carries the bed's mark, so that `down` leaves them alone.
    let net = format!("/proc/{inside}/ns/net");
    let inhabitant = Leftover::new(Command::new("nsenter").arg(format!("--net={net}")), "true");
    let holder = Leftover::new(&mut Command::new("env"), &format!("exec 9< {net}"));
    let mount = format!("mount --bind {net} {}", place.join("namespace").display());
    let mounted = Leftover::new(Command::new("unshare").args(["--mount", "--propagation=private"]), &mount);
    let traces = bed.traces()?;
    bed.down()?;
    for left in [&inhabitant, &holder] {
        let expected = format!("of process {}", left.0.id());
        let found = traces.found()?;
        assert!(
            found.iter().any(|trace| trace.starts_with("namespace net:") && trace.ends_with(&expected)),
            "{found:?}"
        );
    }
    assert!(traces.found()?.iter().any(|trace| trace.starts_with("mount") && trace.contains(" net:[")));
    drop((inhabitant, holder, mounted));
    assert_eq!(traces.found()?, Vec::<String>::new());

    let marked = Leftover::new(Command::new("env").arg(format!("MACHINEADM_TESTBED={id}")), "true");
    assert_eq!(traces.found()?, [format!("process {}", marked.0.id())]);
    drop(marked);
    let tmpfs = format!("mount -t tmpfs none {}", place.display());
    let mounted = Leftover::new(Command::new("unshare").args(["--mount", "--propagation=private"]), &tmpfs);
    assert!(matches!(&traces.found()?[..], [trace] if trace.starts_with("mount")), "{:?}", traces.found()?);
    drop(mounted);
    let group = group.expect("a machine has control groups");
    fs::create_dir_all(&group).unwrap();
    assert_eq!(traces.found()?, [group.display().to_string()]);
    fs::remove_dir(&group).unwrap();
    fs::remove_dir_all(place).unwrap();
    assert_eq!(traces.found()?, Vec::<String>::new());
    Ok(())
}

/// The process that holds a network namespace of the bed as long as it lives; others in it may end while this test looks.
fn leader(found: &[String]) -> &str {
    let namespaces = found.iter().filter(|trace| trace.starts_with("namespace net:"));
    let mut processes = namespaces.filter_map(|namespace| namespace.rsplit(' ').next());
    let holds =
        |process: &&str| fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name == "sleep\n");
    processes.find(holds).expect("a process that holds a network")
}
