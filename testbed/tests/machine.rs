//! A machine's verbs, each tried on a real one.
use std::time::{Duration, Instant};
use testbed::{Bed, Machine, Profile, Result, Runtime, Software, TOOLS_IMAGE, until};

fn booted(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = bed.machine(name, &Profile::default())?;
    let began = Instant::now();
    machine.boot()?;
    println!("{name} booted in {:.1?}", began.elapsed());
    Ok(machine)
}

#[test]
fn a_machine_runs_commands_and_keeps_its_disk_through_power_off_and_power_cut() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = booted(&bed, "m1")?;
    assert_eq!(machine.check(&["systemctl", "is-system-running"])?.trim(), "running");
    assert_eq!(machine.check(&["hostname"])?.trim(), "m1");
    assert_eq!(machine.run(&["sh", "-c", "echo out; echo err >&2; exit 7"])?.code, 7);
    machine.write("/etc/kept/secret", "kept", 0o600)?;
    let id = machine.read("/etc/machine-id")?;
    machine.power_off()?;
    assert!(!machine.is_on());
    assert_eq!(machine.read("/etc/kept/secret")?, "kept", "the disk can be read while the machine is off");
    machine.copy_in(std::path::Path::new("/etc/os-release"), "/usr/local/bin/program")?;
    machine.boot()?;
    assert_eq!(machine.check(&["stat", "-c", "%a %u", "/etc/kept/secret"])?.trim(), "600 0");
    assert!(
        machine.read("/usr/local/bin/program")?.contains("VERSION"),
        "what was copied in while it was off is there"
    );
    machine.kill()?;
    assert!(!machine.is_on());
    machine.boot()?;
    assert_eq!(machine.read("/etc/machine-id")?, id, "a machine keeps its identity");
    assert!(machine.journal(None)?.contains("Reached target"));
    let boots = machine.check(&["journalctl", "--list-boots", "--no-pager"])?;
    assert_eq!(boots.lines().filter(|line| !line.contains("IDX")).count(), 3, "{boots}");
    bed.down()
}

#[test]
fn files_go_in_and_come_out_and_a_snapshot_tells_what_changed() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let machine = booted(&bed, "m1")?;
    let place = std::env::temp_dir().join(bed.id());
    std::fs::create_dir_all(place.join("tree/below")).unwrap();
    std::fs::write(place.join("tree/below/file"), "content").unwrap();
    std::os::unix::fs::symlink("./below/file", place.join("tree/link")).unwrap();
    machine.copy_in(&place.join("tree"), "/srv/tree")?;
    machine.copy_in(&place.join("tree/below/file"), "/srv/single")?;
    let before = machine.snapshot(&["/srv"])?;
    assert_eq!(before.entries["/srv/tree/link"].target.as_deref(), Some("./below/file"));
    assert_eq!(before.entries["/srv/single"].size, 7);
    machine.shell("chmod 600 /srv/single; rm /srv/tree/link; echo more >> /srv/tree/below/file; mkdir /srv/new")?;
    let after = machine.snapshot(&["/srv"])?;
    // The directories whose listing changed are the same entries as before.
    assert_eq!(before.changes(&after), ["+ /srv/new", "~ /srv/single", "~ /srv/tree/below/file", "- /srv/tree/link"]);
    machine.copy_out("/srv/tree", &place.join("back"))?;
    assert_eq!(std::fs::read_to_string(place.join("back/below/file")).unwrap(), "contentmore\n");
    machine.power_off()?;
    assert_eq!(machine.snapshot(&["/srv"])?, after, "a machine that is off shows the same tree");
    std::fs::remove_dir_all(place).unwrap();
    bed.down()
}

#[test]
fn a_clone_has_the_disk_of_its_image_and_an_identity_of_its_own() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let image = booted(&bed, "image")?;
    image.shell("echo kept > /etc/kept; rm /etc/motd; echo 192.0.2.1 other >> /etc/hosts")?;
    assert!(bed.clone_of(&image, "early").is_err(), "a machine that runs is no image");
    let id = image.read("/etc/machine-id")?;
    image.power_off()?;
    let clone = bed.clone_of(&image, "clone")?;
    clone.boot()?;
    assert_eq!(clone.read("/etc/kept")?, "kept\n");
    assert_ne!(clone.run(&["test", "-e", "/etc/motd"])?.code, 0, "what the image deleted is back");
    assert_eq!(clone.check(&["hostname"])?.trim(), "clone");
    assert_ne!(clone.read("/etc/machine-id")?, id);
    let hosts = clone.read("/etc/hosts")?;
    assert!(hosts.contains(&format!("{} clone\n", clone.address())), "{hosts}");
    assert!(hosts.contains("192.0.2.1 other\n") && !hosts.contains(" image\n"), "{hosts}");
    clone.shell("echo changed > /etc/kept")?;
    assert_eq!(image.read("/etc/kept")?, "kept\n", "the disks are one");
    bed.down()
}

#[test]
fn machines_reach_each_other_until_one_is_cut_off() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let (first, second) = (booted(&bed, "m1")?, booted(&bed, "m2")?);
    let address = second.address().to_string();
    let ping = || first.run_within(&["ping", "-c1", "-W1", &address], Duration::from_secs(60));
    let answered = || match ping() {
        Ok(output) if output.success() => Ok(()),
        other => Err(format!("{other:?}")),
    };
    until("a ping", Duration::from_secs(60), answered)?;
    second.cut_network()?;
    assert!(!ping()?.success(), "a machine that is cut off does not answer");
    second.reconnect_network()?;
    until("a ping after reconnection", Duration::from_secs(60), answered)?;
    second.kill()?;
    assert!(!ping()?.success(), "a machine that is off does not answer");
    second.boot()?;
    until("a ping after a boot", Duration::from_secs(60), answered)?;
    bed.down()
}

#[test]
fn cloud_init_runs_what_its_seed_says_at_the_first_boot() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let seed = "#cloud-config\nwrite_files:\n- {path: /etc/seeded, permissions: '0600', content: from the seed}\n\
        runcmd:\n- [sh, -c, 'cat /etc/seeded > /srv/ran']\n";
    let machine = bed.machine("m1", &Profile::default().with_user_data(seed))?;
    machine.boot()?;
    let status = machine.check(&["cloud-init", "status", "--wait", "--long"])?;
    assert!(status.contains("status: done"), "{status}");
    assert_eq!(machine.read("/srv/ran")?, "from the seed");
    assert_eq!(machine.check(&["stat", "-c", "%a", "/etc/seeded"])?.trim(), "600");
    bed.down()
}

#[test]
fn debians_own_containerd_runs_our_images() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let profile = Profile { software: Software::Node(Runtime::Debian), ..Profile::default() };
    let machine = bed.machine("m1", &profile)?;
    machine.boot()?;
    let version = machine.check(&["containerd", "--version"])?;
    assert!(!version.contains("2.4.2"), "this is our own: {version}");
    machine.import_images()?;
    // On a busy machine ctr ends before it has copied what a short container printed; the shim writes a file itself.
    let run = ["ctr", "-n", "k8s.io", "run", "--rm", "--log-uri", "file:///run/probe.log"];
    let ran = machine.run(&[&run[..], &[TOOLS_IMAGE, "t1", "/probe", "lookup", "127.0.0.1"]].concat())?;
    assert_eq!((ran.code, machine.read("/run/probe.log")?.trim()), (0, "127.0.0.1"), "{ran:?}");
    bed.down()
}
