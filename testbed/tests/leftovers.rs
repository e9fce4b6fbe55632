//! Beds beside each other and beds that died: nobody is disturbed, nothing is left.
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use testbed::{Bed, Profile, Result, reaper, traces};

#[test]
fn a_bed_whose_process_was_killed_is_cleaned_up_by_the_next_run() -> Result<()> {
    let before = traces::host_settings();
    // A living bed beside it, of which nothing may be touched.
    let bystander = Bed::new()?;
    let machine = bystander.machine("m1", &Profile::default())?;
    machine.boot()?;

    let mut child = Command::new(env!("CARGO_BIN_EXE_testbed"));
    let mut child = child.arg("shell").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let id = said.into_iter().find_map(|line| Some(line.strip_prefix("Bed ")?.split_once(':')?.0.to_owned())).unwrap();
    assert!(!traces::of(&id).unwrap().is_empty());
    reaper::reap_dead().unwrap();
    assert!(!traces::of(&id).unwrap().is_empty(), "a living owner's bed is left alone");

    child.kill().unwrap();
    child.wait().unwrap();
    let left = traces::of(&id)?;
    assert!(left.iter().any(|trace| trace.starts_with("process")), "its machine runs on: {left:?}");
    assert!(reaper::reap_dead()?.contains(&id));
    assert_eq!(traces::of(&id)?, Vec::<String>::new());

    assert_eq!(machine.check(&["hostname"])?.trim(), "m1", "the bystander runs on");
    bystander.down()?;
    let after = traces::host_settings();
    let changed: Vec<_> = before.iter().filter(|(path, value)| after.get(*path) != Some(value)).collect();
    assert!(changed.is_empty(), "settings of the host changed: {changed:?}");
    Ok(())
}

#[test]
fn two_beds_with_the_same_names_and_addresses_do_not_meet() -> Result<()> {
    let (first, second) = (Bed::new()?, Bed::new()?);
    let ours = first.machine("m1", &Profile::default())?;
    let theirs = second.machine("m1", &Profile::default())?;
    ours.boot()?;
    theirs.boot()?;
    assert_eq!(ours.address(), theirs.address());
    ours.write("/etc/whose", "ours", 0o644)?;
    theirs.write("/etc/whose", "theirs", 0o644)?;
    let id = first.id().to_owned();
    first.down()?;
    assert_eq!(traces::of(&id)?, Vec::<String>::new(), "nothing is left after `down`");
    assert!(!ours.is_on());
    assert_eq!(theirs.read("/etc/whose")?, "theirs");
    assert!(theirs.is_on());
    second.down()
}
