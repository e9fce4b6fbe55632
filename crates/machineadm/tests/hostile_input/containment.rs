//! Nothing below `--root DIR` leads out of DIR, whatever links, files and devices lie there and whoever races with us.
use crate::support::{binary::run, guarded_root::GuardedRoot};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, lchown},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

const NOBODY: u32 = 65534;

/// Writes `path` and finds it at `place` in the root.
fn works(guarded: &GuardedRoot, path: &str, place: &str) {
    let ran = guarded.bootstrap(path, None);
    assert_eq!(ran.code, Some(0), "{path}: {}", ran.stderr);
    assert_eq!(fs::read_to_string(guarded.at(place)).ok().as_deref(), Some("written\n"), "{path}: {}", ran.stderr);
    guarded.has_read_nothing_outside();
}

/// Does not write `path`, and says why.
fn refused(guarded: &GuardedRoot, path: &str, why: &str) {
    let ran = guarded.bootstrap(path, None);
    assert_eq!(ran.code, Some(1), "{path}: {}", ran.stderr);
    assert!(ran.stderr.contains(path) && ran.stderr.contains(why), "{path}: {}", ran.stderr);
}

#[test]
fn absolute_links_resolve_inside_the_root() {
    let guarded = GuardedRoot::new();
    guarded.dir("/usr/lib");
    guarded.link("/lib", "/usr/lib");
    works(&guarded, "/lib/merged", "/usr/lib/merged");
    guarded.dir("/run");
    guarded.link("/etc/x", "/run/y");
    works(&guarded, "/etc/x", "/run/y");
    assert!(fs::symlink_metadata(guarded.at("/etc/x")).unwrap().is_symlink(), "the link itself stays");
    guarded.link("/etc/dangling", "/not/there/yet");
    works(&guarded, "/etc/dangling/file", "/not/there/yet/file");
}

#[test]
fn links_that_point_outside_end_inside() {
    let guarded = GuardedRoot::new();
    guarded.link("/etc/relative", "../../outside");
    works(&guarded, "/etc/relative/keep", "/outside/keep");
    guarded.link("/etc/far", "../../../../../../../../outside/far");
    works(&guarded, "/etc/far/keep", "/outside/far/keep");
    guarded.link("/etc/absolute", &guarded.outside);
    works(&guarded, "/etc/absolute/keep", guarded.outside.join("keep").to_str().unwrap());
    guarded.link("/etc/last", "../../outside/last");
    works(&guarded, "/etc/last", "/outside/last");
    guarded.dir("/a/b");
    guarded.link("/a/b/up", "../../../../outside/up/../dots");
    works(&guarded, "/a/b/up/keep", "/outside/dots/keep");
}

#[test]
fn a_block_is_not_put_around_what_lies_outside() {
    let guarded = GuardedRoot::new();
    guarded.link("/etc/hosts", "../../outside/keep");
    let ran = guarded.bootstrap("/etc/hosts", Some("x"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(guarded.at("/outside/keep").exists());
    guarded.has_read_nothing_outside();
}

#[test]
fn chains_are_followed_and_loops_are_not() {
    let guarded = GuardedRoot::new();
    for number in 0..39 {
        guarded.link(&format!("/chain/{number}"), format!("{}", number + 1));
    }
    guarded.dir("/chain/39");
    works(&guarded, "/chain/0/file", "/chain/39/file");
    guarded.link("/loop/a", "b");
    guarded.link("/loop/b", "/loop/a");
    refused(&guarded, "/loop/a", "too many symbolic links");
    refused(&guarded, "/loop/b/file", "too many symbolic links");
}

#[test]
fn our_own_places_may_be_links_too() {
    let guarded = GuardedRoot::new();
    guarded.link("/var/lib/machineadm", "../../../outside/state");
    guarded.link("/run", &guarded.outside);
    guarded.link("/etc/machine-id", "../../outside/keep");
    guarded.link("/etc/hostname", "../../outside/keep");
    works(&guarded, "/etc/file", "/etc/file");
    assert!(guarded.at("/outside/state/outcome.json").exists());
    let linked = guarded.outside.with_file_name("linked-root");
    std::os::unix::fs::symlink(&guarded.root, &linked).unwrap();
    let ran = run(["--root".as_ref(), linked.as_path(), "status".as_ref()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[test]
fn what_is_no_regular_file_is_refused_and_nobody_waits_for_it() {
    let guarded = GuardedRoot::new();
    fs::write(guarded.at("/etc/file"), "a file").unwrap();
    refused(&guarded, "/etc/file/below", "not a directory");
    guarded.dir("/etc/directory");
    refused(&guarded, "/etc/directory", "is not a regular file");
    let special = |path: &str, kind: FileType| {
        mknodat(CWD, guarded.at(path), kind, Mode::from_raw_mode(0o666), 0).expect("making devices needs root");
    };
    special("/etc/fifo", FileType::Fifo);
    special("/etc/device", FileType::CharacterDevice);
    special("/etc/socket", FileType::Socket);
    for path in ["/etc/fifo", "/etc/device", "/etc/socket"] {
        refused(&guarded, path, "is not a regular file");
    }
}

#[test]
fn a_hard_link_is_replaced_and_its_file_left_alone() {
    let guarded = GuardedRoot::new();
    fs::hard_link(guarded.outside.join("keep"), guarded.at("/etc/hard")).unwrap();
    let ran = guarded.bootstrap("/etc/hard", None);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(guarded.at("/etc/hard")).unwrap(), "written\n");
    // What was there is the path's own previous content, whose copy is root's alone; nothing else has it.
    let copies = guarded.at("/var/lib/machineadm/previous");
    assert_eq!(fs::metadata(guarded.at("/var/lib/machineadm")).unwrap().permissions().mode() & 0o777, 0o700);
    for copy in fs::read_dir(&copies).unwrap() {
        assert_eq!(copy.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::remove_dir_all(copies).unwrap();
    guarded.has_read_nothing_outside();
}

#[test]
fn a_link_under_the_name_of_our_temporary_file_is_not_followed() {
    let guarded = GuardedRoot::new();
    works(&guarded, "/etc/motd", "/etc/motd");
    fs::remove_file(guarded.at("/etc/motd")).unwrap();
    // The first eight bytes of sha256("motd").
    guarded.link("/etc/.machineadm-5faab372d8fe1b00", "../../outside/keep");
    works(&guarded, "/etc/motd", "/etc/motd");
}

#[test]
fn a_link_by_somebody_else_in_a_directory_for_all_is_refused() {
    testbed::needs!(Root);
    let guarded = GuardedRoot::new();
    guarded.dir("/tmp");
    guarded.dir("/srv/target");
    fs::set_permissions(guarded.at("/tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    guarded.link("/tmp/roots", "/srv/target");
    works(&guarded, "/tmp/roots/file", "/srv/target/file");
    guarded.link("/tmp/theirs", "/srv/target");
    lchown(guarded.at("/tmp/theirs"), Some(NOBODY), Some(NOBODY)).expect("this proof needs root");
    refused(&guarded, "/tmp/theirs/planted", "a symbolic link in a directory that other users can write");
    assert!(!guarded.at("/srv/target/planted").exists());
    fs::set_permissions(guarded.at("/tmp"), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&guarded, "/tmp/roots/file2", "a symbolic link in a directory that other users can write");
}

#[test]
fn an_input_that_somebody_else_could_have_put_there_is_refused() {
    testbed::needs!(Root);
    let guarded = GuardedRoot::new();
    let (shared, private) = (guarded.outside.join("shared"), guarded.outside.join("private.yaml"));
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let text =
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: KernelModulesConfig\nspec: {modules: [overlay]}\n";
    let put = |name: &str, uid: u32, mode: u32| {
        fs::write(shared.join(name), text).unwrap();
        lchown(shared.join(name), Some(uid), Some(uid)).expect("this proof needs root");
        fs::set_permissions(shared.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    put("roots.yaml", 0, 0o600);
    put("theirs.yaml", NOBODY, 0o644);
    put("open.yaml", 0, 0o666);
    fs::write(&private, text).unwrap();
    for (name, uid) in [("our-link", 0), ("their-link", NOBODY)] {
        std::os::unix::fs::symlink(&private, shared.join(name)).unwrap();
        lchown(shared.join(name), Some(uid), Some(uid)).unwrap();
    }
    for (name, code) in [
        ("theirs.yaml", 2),
        ("open.yaml", 2),
        ("their-link", 2),
        ("missing.yaml", 2),
        ("roots.yaml", 0),
        ("our-link", 0),
    ] {
        let input = shared.join(name);
        let ran = run(["--root".as_ref(), guarded.root.as_path(), "bootstrap".as_ref(), "-f".as_ref(), &input]);
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.stderr);
        assert_eq!(guarded.at("/var").exists(), code == 0, "{name} changed the tree, or did not");
    }
}

/// Ends a race however the test ends.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn whoever_exchanges_a_directory_for_a_link_while_we_write_gains_nothing() {
    for target in ["../../outside", "/outside"] {
        let guarded = GuardedRoot::new();
        guarded.dir("/etc/app");
        guarded.link("/etc/other", target);
        let (over, [app, other]) = (AtomicBool::new(false), ["/etc/app", "/etc/other"].map(|path| guarded.at(path)));
        let exchange = |from: &Path, to: &Path| renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE);
        let mut ends = [0; 2];
        let exchanges = std::thread::scope(|scope| {
            // Also when an assertion fails: the scope waits for its threads.
            let _over = SetWhenDropped(&over);
            let racer = scope.spawn(|| {
                let mut exchanges = 0_usize;
                while !over.load(Ordering::Relaxed) {
                    exchange(&app, &other).expect("this file system can exchange names");
                    exchanges += 1;
                }
                exchanges
            });
            for number in 0..100 {
                let ran = guarded.bootstrap(&format!("/etc/app/sub/{number}"), None);
                let end = ran.code.and_then(|code| usize::try_from(code).ok()).unwrap_or(usize::MAX);
                assert!(end < 2, "{ran:?}");
                ends[end] += 1;
            }
            over.store(true, Ordering::Relaxed);
            racer.join().expect("the racer does not fail")
        });
        println!("{exchanges} exchanges, {} runs done, {} refused", ends[0], ends[1]);
        assert!(exchanges > 1000 && ends[0] > 0);
    }
}
