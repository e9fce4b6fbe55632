//! Nothing below `--root DIR` leads out of DIR, whatever links, files and devices lie there and whoever races with us.
use crate::support::{binary::run, cage::Cage};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, mknodat, renameat_with};
use std::{
    fs,
    os::unix::fs::{PermissionsExt, lchown},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

const NOBODY: u32 = 65534;

/// Writes `path` and finds it at `place` in the root.
fn works(cage: &Cage, path: &str, place: &str) {
    let ran = cage.bootstrap(path, None);
    assert_eq!(ran.code, Some(0), "{path}: {}", ran.stderr);
    assert_eq!(fs::read_to_string(cage.at(place)).ok().as_deref(), Some("written\n"), "{path}: {}", ran.stderr);
    cage.has_read_nothing_outside();
}

/// Does not write `path`, and says why.
fn refused(cage: &Cage, path: &str, why: &str) {
    let ran = cage.bootstrap(path, None);
    assert_eq!(ran.code, Some(1), "{path}: {}", ran.stderr);
    assert!(ran.stderr.contains(path) && ran.stderr.contains(why), "{path}: {}", ran.stderr);
}

#[test]
fn absolute_links_resolve_inside_the_root() {
    let cage = Cage::new();
    cage.dir("/usr/lib");
    cage.link("/lib", "/usr/lib");
    works(&cage, "/lib/merged", "/usr/lib/merged");
    cage.dir("/run");
    cage.link("/etc/x", "/run/y");
    works(&cage, "/etc/x", "/run/y");
    assert!(fs::symlink_metadata(cage.at("/etc/x")).unwrap().is_symlink(), "the link itself stays");
    cage.link("/etc/dangling", "/not/there/yet");
    works(&cage, "/etc/dangling/file", "/not/there/yet/file");
}

#[test]
fn links_that_point_outside_end_inside() {
    let cage = Cage::new();
    cage.link("/etc/relative", "../../outside");
    works(&cage, "/etc/relative/keep", "/outside/keep");
    cage.link("/etc/far", "../../../../../../../../outside/far");
    works(&cage, "/etc/far/keep", "/outside/far/keep");
    cage.link("/etc/absolute", &cage.outside);
    works(&cage, "/etc/absolute/keep", cage.outside.join("keep").to_str().unwrap());
    cage.link("/etc/last", "../../outside/last");
    works(&cage, "/etc/last", "/outside/last");
    cage.dir("/a/b");
    cage.link("/a/b/up", "../../../../outside/up/../dots");
    works(&cage, "/a/b/up/keep", "/outside/dots/keep");
}

#[test]
fn a_block_is_not_put_around_what_lies_outside() {
    let cage = Cage::new();
    cage.link("/etc/hosts", "../../outside/keep");
    let ran = cage.bootstrap("/etc/hosts", Some("x"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(cage.at("/outside/keep").exists());
    cage.has_read_nothing_outside();
}

#[test]
fn chains_are_followed_and_loops_are_not() {
    let cage = Cage::new();
    for number in 0..39 {
        cage.link(&format!("/chain/{number}"), format!("{}", number + 1));
    }
    cage.dir("/chain/39");
    works(&cage, "/chain/0/file", "/chain/39/file");
    cage.link("/loop/a", "b");
    cage.link("/loop/b", "/loop/a");
    refused(&cage, "/loop/a", "too many symbolic links");
    refused(&cage, "/loop/b/file", "too many symbolic links");
}

#[test]
fn our_own_places_may_be_links_too() {
    let cage = Cage::new();
    cage.link("/var/lib/machineadm", "../../../outside/state");
    cage.link("/run", &cage.outside);
    cage.link("/etc/machine-id", "../../outside/keep");
    cage.link("/etc/hostname", "../../outside/keep");
    works(&cage, "/etc/file", "/etc/file");
    assert!(cage.at("/outside/state/outcome.json").exists());
    let linked = cage.outside.with_file_name("linked-root");
    std::os::unix::fs::symlink(&cage.root, &linked).unwrap();
    let ran = run(["--root".as_ref(), linked.as_path(), "status".as_ref()]);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
}

#[test]
fn what_is_no_regular_file_is_refused_and_nobody_waits_for_it() {
    let cage = Cage::new();
    fs::write(cage.at("/etc/file"), "a file").unwrap();
    refused(&cage, "/etc/file/below", "not a directory");
    cage.dir("/etc/directory");
    refused(&cage, "/etc/directory", "is not a regular file");
    let special = |path: &str, kind: FileType| {
        mknodat(CWD, cage.at(path), kind, Mode::from_raw_mode(0o666), 0).expect("making devices needs root");
    };
    special("/etc/fifo", FileType::Fifo);
    special("/etc/device", FileType::CharacterDevice);
    special("/etc/socket", FileType::Socket);
    for path in ["/etc/fifo", "/etc/device", "/etc/socket"] {
        refused(&cage, path, "is not a regular file");
    }
}

#[test]
fn a_hard_link_is_replaced_and_its_file_left_alone() {
    let cage = Cage::new();
    fs::hard_link(cage.outside.join("keep"), cage.at("/etc/hard")).unwrap();
    let ran = cage.bootstrap("/etc/hard", None);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(cage.at("/etc/hard")).unwrap(), "written\n");
    // What was there is the path's own previous content, whose copy is root's alone; nothing else has it.
    let copies = cage.at("/var/lib/machineadm/previous");
    assert_eq!(fs::metadata(cage.at("/var/lib/machineadm")).unwrap().permissions().mode() & 0o777, 0o700);
    for copy in fs::read_dir(&copies).unwrap() {
        assert_eq!(copy.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    fs::remove_dir_all(copies).unwrap();
    cage.has_read_nothing_outside();
}

#[test]
fn a_link_under_the_name_of_our_temporary_file_is_not_followed() {
    let cage = Cage::new();
    works(&cage, "/etc/motd", "/etc/motd");
    fs::remove_file(cage.at("/etc/motd")).unwrap();
    // The first eight bytes of sha256("motd").
    cage.link("/etc/.machineadm-5faab372d8fe1b00", "../../outside/keep");
    works(&cage, "/etc/motd", "/etc/motd");
}

#[test]
fn a_link_by_somebody_else_in_a_directory_for_all_is_refused() {
    testbed::needs!(Root);
    let cage = Cage::new();
    cage.dir("/tmp");
    cage.dir("/srv/target");
    fs::set_permissions(cage.at("/tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
    cage.link("/tmp/roots", "/srv/target");
    works(&cage, "/tmp/roots/file", "/srv/target/file");
    cage.link("/tmp/theirs", "/srv/target");
    lchown(cage.at("/tmp/theirs"), Some(NOBODY), Some(NOBODY)).expect("this proof needs root");
    refused(&cage, "/tmp/theirs/planted", "a symbolic link in a directory that other users can write");
    assert!(!cage.at("/srv/target/planted").exists());
    fs::set_permissions(cage.at("/tmp"), fs::Permissions::from_mode(0o777)).unwrap();
    refused(&cage, "/tmp/roots/file2", "a symbolic link in a directory that other users can write");
}

#[test]
fn an_input_that_somebody_else_could_have_put_there_is_refused() {
    testbed::needs!(Root);
    let cage = Cage::new();
    let (shared, private) = (cage.outside.join("shared"), cage.outside.join("private.yaml"));
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
        let ran = run(["--root".as_ref(), cage.root.as_path(), "bootstrap".as_ref(), "-f".as_ref(), &input]);
        assert_eq!(ran.code, Some(code), "{name}: {}", ran.stderr);
        assert_eq!(cage.at("/var").exists(), code == 0, "{name} changed the tree, or did not");
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
        let cage = Cage::new();
        cage.dir("/etc/app");
        cage.link("/etc/other", target);
        let (over, [app, other]) = (AtomicBool::new(false), ["/etc/app", "/etc/other"].map(|path| cage.at(path)));
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
                let ran = cage.bootstrap(&format!("/etc/app/sub/{number}"), None);
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
