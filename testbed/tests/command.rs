//! The command for people, from `up` to `down`.
mod own_cache;

use own_cache::OwnCache;
use testbed::Result;
use testbed::programs::SETS;

#[test]
fn up_leaves_a_cluster_that_can_be_entered_and_down_removes_it() -> Result<()> {
    testbed::needs!(Nodes);
    let own = OwnCache::new("up")?;
    let said = own.run(&["up", "--control-planes", "1", "--workers", "0"], "");
    let id =
        said.lines().find_map(|line| line.strip_prefix("Bed ")?.split_once(' ')).expect("the bed's id").0.to_owned();
    let seen = own.run(&["enter", "cp1"], "kubectl get nodes --no-headers\n");
    assert!(seen.contains("cp1") && seen.contains("Ready"), "{seen}");
    let traces = own.traces(&id)?;
    assert!(!traces.found()?.is_empty());
    assert_eq!(own.run(&["down"], ""), format!("Removed {id}.\n"));
    assert_eq!(traces.found()?, Vec::<String>::new());
    assert_eq!(own.run(&["down"], ""), "There was nothing to remove.\n");
    Ok(())
}

#[test]
fn doctor_names_every_set_of_programs() -> Result<()> {
    let output = OwnCache::new("doctor")?.command(&["doctor"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(SETS.iter().all(|set| said.contains(set.name)), "{said}");
    Ok(())
}
