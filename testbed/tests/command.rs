//! The command for people, from `up` to `down`.
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use testbed::programs::SETS;
use testbed::{Bed, Profile, Result, cache, traces};

#[test]
fn up_leaves_a_cluster_that_can_be_entered_and_down_removes_it() -> Result<()> {
    // Beds of its own, so that no other is taken down; what is dear to make is shared.
    drop(Bed::new()?.machine("m1", &Profile::node())?);
    let own = cache::directory()?.join(format!("command-{}", std::process::id()));
    std::fs::create_dir_all(own.join("machineadm")).unwrap();
    for shared in ["programs", "bases", "layers", "images"] {
        std::os::unix::fs::symlink(cache::directory()?.join(shared), own.join("machineadm").join(shared)).unwrap();
    }

    let said = testbed(&own, &["up", "--control-planes", "1", "--workers", "0"], "");
    let id =
        said.lines().find_map(|line| line.strip_prefix("Bed ")?.split_once(' ')).expect("the bed's id").0.to_owned();
    let seen = testbed(&own, &["enter", "cp1"], "kubectl get nodes --no-headers\n");
    assert!(seen.contains("cp1") && seen.contains("Ready"), "{seen}");
    assert!(!traces::of(&id)?.is_empty());
    assert_eq!(testbed(&own, &["down"], ""), format!("Removed {id}.\n"));
    assert_eq!(traces::of(&id)?, Vec::<String>::new());
    assert_eq!(testbed(&own, &["down"], ""), "There was nothing to remove.\n");
    std::fs::remove_dir_all(own).unwrap();
    Ok(())
}

#[test]
fn doctor_names_every_set_of_programs() -> Result<()> {
    let said = testbed(cache::directory()?.parent().unwrap(), &["doctor"], "");
    for set in SETS {
        assert!(said.contains(set.name), "{said}");
    }
    Ok(())
}

/// Runs the command with a cache, gives it input, and wants it to succeed.
fn testbed(cache: &Path, words: &[&str], input: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_testbed"));
    command.args(words).env("XDG_CACHE_HOME", cache).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}
