//! The real program is killed at random points, again and again, and one undisturbed run makes up for all of it.
use crate::support::{
    binary::{command, run},
    comparable_tree::comparable,
    differences::differences,
    file_tree::{Tree, look},
    scratch::Scratch,
    small_machine,
};
use std::{
    ffi::OsStr,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use testbed::random::Random;

/// Kills that meet a run at work.
const KILLS: usize = 200;
const LONGEST_CHAIN: u64 = 6;

#[test]
fn a_run_killed_anywhere_is_finished_by_the_next() {
    testbed::needs!(Root);
    let (wanted, first) = undisturbed();
    // The first was cold; most others are quicker, and a kill shall meet them at work.
    let duration = (0..5).map(|_| undisturbed().1).min().unwrap_or(first);
    let mut random = Random::of_this_run();
    println!("an undisturbed run takes {duration:?}");
    let (mut kills, mut cut_short) = (0, 0);
    while cut_short < KILLS {
        assert!(kills < 20 * KILLS, "of {kills} kills only {cut_short} met a run at work");
        let dir = Scratch::new("killed");
        let (root, configuration) = small_machine::lay_out(dir.path());
        for _ in 0..=random.below(LONGEST_CHAIN) {
            let delay = Duration::from_nanos(random.below(duration.as_nanos() as u64));
            cut_short += usize::from(killed_after(delay, &root, &configuration));
            kills += 1;
        }
        let last = run(arguments(&root, &configuration));
        assert_eq!(last.code, Some(0), "after {kills} kills: {}{}", last.stdout, last.stderr);
        let found = comparable(look(&root));
        assert_eq!(differences(&wanted, &found), Vec::<String>::new(), "after {kills} kills");
    }
    println!("{kills} kills, {cut_short} of them before the run had ended");
}

/// What the tree shall look like, and how long it takes.
fn undisturbed() -> (Tree, Duration) {
    let dir = Scratch::new("undisturbed");
    let (root, configuration) = small_machine::lay_out(dir.path());
    let began = Instant::now();
    let only = run(arguments(&root, &configuration));
    let duration = began.elapsed();
    assert_eq!(only.code, Some(0), "{}{}", only.stdout, only.stderr);
    let tree = look(&root);
    assert!(tree.keys().all(|name| !name.contains("/.machineadm-")), "a temporary file is left");
    assert!(tree.contains_key("/srv/real/here") && tree.contains_key("/var/lib/script"));
    (comparable(tree), duration)
}

/// Kills a run; whether it was still at work.
fn killed_after(delay: Duration, root: &Path, configuration: &Path) -> bool {
    let mut command = command(arguments(root, configuration));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    std::thread::sleep(delay);
    child.kill().expect("a child can be killed");
    child.wait().expect("a child can be waited for").code().is_none()
}

fn arguments<'a>(root: &'a Path, configuration: &'a Path) -> [&'a OsStr; 5] {
    ["--root".as_ref(), root.as_ref(), "bootstrap".as_ref(), "-f".as_ref(), configuration.as_ref()]
}
