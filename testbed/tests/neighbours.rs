//! The services beside the machines, used from inside one.
use testbed::{Bed, Profile, Result, neighbours};

#[test]
fn a_machine_fetches_a_file_over_https_only_with_the_right_authority() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let server = bed.file_server()?;
    let machine = bed.machine("m1", &Profile::default())?;
    machine.boot()?;
    server.put("/config.yaml", "kind: Nothing\n");
    machine.write("/srv/authority.crt", server.authority(), 0o644)?;
    let url = server.url("/config.yaml");
    assert_eq!(machine.check(&["curl", "-sSf", "--cacert", "/srv/authority.crt", &url])?, "kind: Nothing\n");
    let by_address = url.replace(neighbours::NAME, "10.50.0.1");
    assert_eq!(machine.check(&["curl", "-sSf", "--cacert", "/srv/authority.crt", &by_address])?, "kind: Nothing\n");
    let untrusted = machine.run(&["curl", "-sSf", &url])?;
    assert_eq!(untrusted.code, 60, "curl's code for a certificate it can't verify: {untrusted:?}");
    let absent = machine.run(&["curl", "-sSf", "--cacert", "/srv/authority.crt", &server.url("/absent")])?;
    assert_eq!(absent.code, 22, "curl's code for an answer such as 404: {absent:?}");
    assert_eq!(server.requests().iter().filter(|line| line.contains("/config.yaml")).count(), 2);
    drop(server);
    assert_eq!(machine.run(&["curl", "-sS", &url])?.code, 7, "nobody listens any more");
    bed.down()
}

#[test]
fn a_machine_measures_its_clock_against_the_ntp_server() -> Result<()> {
    testbed::needs!(Machines);
    let bed = Bed::new()?;
    let server = bed.ntp_server()?;
    let machine = bed.machine("m1", &Profile::default())?;
    machine.boot()?;
    let source = format!("server {} iburst", server.address());
    let measured = machine.run(&["chronyd", "-Q", "-t", "30", "pidfile /run/measure.pid", &source])?;
    let said = format!("{}{}", measured.stdout, measured.stderr);
    assert!(measured.success() && said.contains("System clock wrong by"), "{said}");
    bed.down()
}
