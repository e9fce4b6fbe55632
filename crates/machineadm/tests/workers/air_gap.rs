//! Air gap: a capture of all packets shows that a machine that joins talks to nobody but those that its configuration
//! names, and what makes kubeadm and the kubelet send DNS queries.
use crate::support::cluster::{Authority, PROGRAM, TOKEN, control_plane, ends_well, with_program};
use crate::support::parallel_machines::on_each;
use crate::support::worker::{nothing_is_left, worker};
use host::contract::DELIVERED;
use std::sync::Arc;
use testbed::{
    Bed, Machine, Packets, Profile, Result,
    fake::{self, FakeServer, answer},
};

/// The switch: the default route and the name server of every machine, and where reports go.
const SWITCH: &str = "10.50.0.1";

/// A machine whose own name is nowhere but in its host name, and whose image asks no time server of its own.
fn bare_named(bed: &Bed, name: &str) -> Result<Machine> {
    let machine = with_program(bed.machine(name, &Profile::node())?)?;
    machine.write("/etc/hosts", "127.0.0.1 localhost\n", 0o644)?;
    machine.check(&["systemctl", "mask", "chrony.service"])?;
    Ok(machine)
}

/// The machine's name, where kubeadm and the kubelet look before they ask a name server.
fn own_name(machine: &Machine) -> String {
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: FilesConfig\nspec:\n  files:\n  - path: /etc/hosts\n    \
         block: name\n    content: {} {}\n---\n",
        machine.address(),
        machine.name()
    )
}

fn report_to(server: &FakeServer) -> String {
    let authority = server.authority().pem().replace('\n', "\n    ");
    format!(
        "apiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: ReportConfig\nspec:\n  uri: https://{SWITCH}:{}/w2\n  \
         certificateAuthority: |\n    {authority}\n---\n",
        server.port()
    )
}

/// All that a machine sent, besides what goes to the control plane and what its kernel sends for itself: who has the
/// address of the control plane, or its own (ARP), its answers to those that ask so (ARP replies), and the multicast by which
/// IPv6 finds its neighbours on the link. Names that are asked for by multicast (mDNS, LLMNR) are UDP, and count.
fn sent_elsewhere(packets: &Packets, machine: &Machine, hardware: &str, first: &Machine) -> Result<Vec<String>> {
    let (first, own) = (first.address(), machine.address());
    let everything = format!("ether src {hardware}");
    assert!(!packets.matching(&format!("{everything} and tcp and dst host {first}"))?.is_empty(), "it joined");
    packets.matching(&format!(
        "{everything} and not dst host {first} and not (arp and dst host {own}) and not (arp[6:2] = 2 and src host {own}) and \
         not (ip6 and dst net ff02::/16 and not udp)"
    ))
}

#[test]
fn a_machine_that_joins_sends_nothing_to_addresses_that_its_configuration_does_not_name() -> Result<()> {
    testbed::needs!(Nodes, Judge("openssl"), Judge("tcpdump"));
    let (bed, ca) = (Bed::new()?, Authority::new());
    let capture = bed.capture()?;
    let authority = Arc::new(fake::Authority::new());
    let config = authority.serves(&[SWITCH]);
    let reports = bed.fake_server(8443, authority, config, |_, tls| answer(tls, "204 No Content", "", ""))?;
    let first = with_program(bed.machine("cp", &Profile::node())?)?;
    let [named, reporting, nameless] = [bare_named(&bed, "w1")?, bare_named(&bed, "w2")?, bare_named(&bed, "w3")?];
    on_each(&[&first, &named, &reporting, &nameless], Machine::boot)?;
    // The servers of the cluster's own names would be pods, which ask name servers for others.
    let documents =
        control_plane(&ca).replace("kind: InitConfig\nspec:\n", "kind: InitConfig\nspec:\n  without: [coreDNS]\n");
    first.write(DELIVERED, documents, 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    first.check(&[PROGRAM, "token", "create", TOKEN, "--kubeconfig", "/etc/kubernetes/admin.conf"])?;

    let join = worker(&format!("{}:6443", first.address()), &ca);
    on_each(&[&named, &reporting, &nameless], |machine| {
        let before = match machine.name() {
            "w1" => own_name(machine),
            "w2" => [own_name(machine), report_to(&reports)].concat(),
            _ => String::new(),
        };
        machine.write(DELIVERED, [before, join.clone()].concat(), 0o600)?;
        ends_well(machine, &["bootstrap"])?;
        nothing_is_left(machine)
    })?;
    first.wait_for_nodes(&["cp", "w1", "w2", "w3"])?;
    let hardware =
        |machine: &Machine| machine.shell("cat /sys/class/net/eth0/address").map(|text| text.trim().to_owned());
    let [of_named, of_reporting, of_nameless] = [hardware(&named)?, hardware(&reporting)?, hardware(&nameless)?];
    let packets = capture.end()?;

    assert_eq!(sent_elsewhere(&packets, &named, &of_named, &first)?, [""; 0]);
    // One more address in the configuration is one more in the capture, and the only one.
    let sent = sent_elsewhere(&packets, &reporting, &of_reporting, &first)?;
    let to_server =
        |line: &&String| line.contains(&format!("> {SWITCH}.8443:")) || line.contains(&format!("who-has {SWITCH} "));
    assert!(!sent.is_empty() && sent.iter().all(|line| to_server(&line)), "{sent:#?}");
    // Without its name in /etc/hosts a machine asks the name server for it.
    let sent = sent_elsewhere(&packets, &nameless, &of_nameless, &first)?;
    let asks = |line: &&String| line.contains(&format!("> {SWITCH}.53:")) && line.contains("? w3.");
    assert!(sent.iter().any(|line| asks(&line)), "{sent:#?}");
    bed.down()
}
