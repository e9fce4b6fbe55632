//! Beds beside each other and beds that died: nobody is disturbed, nothing is left.
mod own_cache;

use own_cache::OwnCache;
use std::io::{BufRead, BufReader};
use testbed::{Bed, Profile, Result, traces};

#[test]
fn a_bed_whose_process_was_killed_is_cleaned_up_by_the_next_run() -> Result<()> {
    let before = traces::host_settings();
    let own = OwnCache::new("killed")?;
    let mut child = own.command(&["shell"]).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let id = said.into_iter().find_map(|line| Some(line.strip_prefix("Bed ")?.split_once(':')?.0.to_owned())).unwrap();
    own.run(&["shell"], "true\n");
    let beside = traces::of(&id).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!beside.is_empty(), "another run leaves a living owner's bed alone");
    let left = traces::of(&id)?;
    assert!(left.iter().any(|trace| trace.starts_with("process")), "its machine runs on: {left:?}");
    own.run(&["shell"], "true\n");
    assert_eq!(traces::of(&id)?, Vec::<String>::new(), "the next run removed it");
    assert_eq!(own.run(&["down"], ""), "There was nothing to remove.\n");

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
