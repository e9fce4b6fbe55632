//! Documents are processed in their order.
use crate::support::{FORWARDING, INIT, changes, everything, file, fresh, left, look, run, text_of, turn, wanted};
use host::Memory;
use machineadm_engine::{Mode, Prune, Remark, TurnId, outcome::AddedTurn, turns};
use proptest::{prelude::*, sample::subsequence};

fn names(mode: Mode, wanted: &machineadm_engine::Wanted) -> Vec<String> {
    turns(mode, wanted, Prune::List).iter().map(|turn| turn.id.to_string()).collect()
}

#[test]
fn prepare_stops_before_the_node_provision_runs_all_and_post_runs_what_keeps() {
    let wanted = wanted(&[
        ("CommandsConfig", "a", "{commands: [{name: x, argv: ['true']}]}"),
        FORWARDING,
        INIT,
        ("FilesConfig", "z", "{files: [{path: /etc/z, content: z}]}"),
        ("CommandsConfig", "b", "{commands: [{name: y, argv: ['true']}]}"),
    ]);
    let [a, sysctl, init, z, b] =
        ["CommandsConfig a", "SysctlConfig forwarding", "InitConfig", "FilesConfig z", "CommandsConfig b"];
    assert_eq!(names(Mode::Prepare, &wanted), [a, sysctl]);
    assert_eq!(names(Mode::Provision, &wanted), [a, sysctl, "services", "preflight", init, z, b]);
    assert_eq!(names(Mode::Post, &wanted), [sysctl, z, "prune"]);
}

#[test]
fn a_stream_without_a_node_is_prepared_whole() {
    let wanted = wanted(&[FORWARDING]);
    assert_eq!(names(Mode::Prepare, &wanted), ["SysctlConfig forwarding"]);
    assert_eq!(names(Mode::Provision, &wanted), ["SysctlConfig forwarding"]);
}

#[test]
fn changes_come_in_the_order_of_the_documents() {
    let motd = ("FilesConfig", "motd", "{files: [{path: /etc/motd, content: hello}]}");
    let modules = ("KernelModulesConfig", "net", "{modules: [overlay]}");
    let seen = changes(Mode::Provision, &wanted(&[motd, modules, FORWARDING]), &mut fresh());
    let [motd_change, module_file, module, sysctl_file, sysctl] = [
        "create /etc/motd",
        "create /etc/modules-load.d/90-machineadm-net.conf",
        "load overlay",
        "create /etc/sysctl.d/90-machineadm-forwarding.conf",
        "change net.ipv4.ip_forward",
    ];
    assert_eq!(seen, [motd_change, module_file, module, sysctl_file, sysctl]);
    let other = changes(Mode::Provision, &wanted(&[FORWARDING, modules, motd]), &mut fresh());
    assert_eq!(other, [sysctl_file, sysctl, module_file, module, motd_change]);
}

#[test]
fn after_applying_nothing_is_left_to_do_in_any_mode() {
    for mode in Mode::ALL {
        let (wanted, mut host) = (everything(), fresh());
        let before = look(mode, &wanted, &host).unwrap();
        for (label, planned) in before.0.iter().filter(|(label, _)| *label != TurnId::from(AddedTurn::Prune)) {
            assert!(planned.is_open(), "{label} has nothing to do, so it proves nothing");
        }
        run(mode, &wanted, &mut host).unwrap();
        let after = look(mode, &wanted, &host).unwrap();
        assert!(!after.is_open() && after.changes() == 0, "{mode:?}: {after:?}");
        let settled = left(&host);
        run(mode, &wanted, &mut host).unwrap();
        assert_eq!(left(&host), settled, "{mode:?}: the second run changes something");
    }
}

#[test]
fn each_document_has_a_file_of_its_own() {
    let documents = [FORWARDING, ("SysctlConfig", "", "{parameters: {vm.max_map_count: '1'}}")];
    let mut host = Memory { live: false, ..fresh() };
    run(Mode::Provision, &wanted(&documents), &mut host).unwrap();
    let header = "# Written by machineadm from SysctlConfig.\n";
    let forwarding = text_of(&host, "/etc/sysctl.d/90-machineadm-forwarding.conf");
    assert_eq!(forwarding, format!("{header}net.ipv4.ip_forward = 1\n"));
    assert_eq!(text_of(&host, "/etc/sysctl.d/90-machineadm.conf"), format!("{header}vm.max_map_count = 1\n"));
}

#[test]
fn what_an_earlier_module_brings_is_known_after_its_document() {
    let parameter = ("SysctlConfig", "bridge", "{parameters: {net.bridge.bridge-nf-call-iptables: '1'}}");
    let module = ("KernelModulesConfig", "net", "{modules: [br_netfilter]}");
    let preview = look(Mode::Provision, &wanted(&[module, parameter]), &fresh()).unwrap();
    let known_after = turn(&preview, "SysctlConfig bridge").known_after.clone().unwrap();
    assert_eq!(known_after.reference(), "document 1 (KernelModulesConfig net)");
    assert!(run(Mode::Provision, &wanted(&[module, parameter]), &mut fresh()).is_ok());
    // The other way round nothing brings it in time.
    let failure = run(Mode::Provision, &wanted(&[parameter, module]), &mut fresh()).unwrap_err();
    assert_eq!(failure.at.to_string(), "SysctlConfig bridge");
    assert_eq!(failure.step_in_words().as_deref(), Some("change net.bridge.bridge-nf-call-iptables"));
}

#[test]
fn a_plan_counts_on_what_earlier_documents_will_have_written() {
    let block = |name: &'static str| ("FilesConfig", name, "");
    let [a, b] = [block("a"), block("b")];
    let spec =
        |(_, name, _): (&str, &str, &str)| format!("{{files: [{{path: /etc/hosts, block: {name}, content: {name}}}]}}");
    let (first, second) = (spec(a), spec(b));
    let wanted = wanted(&[("FilesConfig", "a", &first), ("FilesConfig", "b", &second)]);
    let mut host = fresh();
    let preview = look(Mode::Provision, &wanted, &host).unwrap();
    run(Mode::Provision, &wanted, &mut host).unwrap();
    let planned = &turn(&preview, "FilesConfig b").steps[0];
    let machineadm_engine::Step::Ensure(host::Change::WriteFile { file, .. }) = planned else { panic!("{planned:?}") };
    assert_eq!(*file, host.files["/etc/hosts"]);
    let blocks = "# BEGIN machineadm a\na\n# END machineadm a\n# BEGIN machineadm b\nb\n# END machineadm b\n";
    assert_eq!(text_of(&host, "/etc/hosts"), format!("127.0.0.1 localhost\n{blocks}"));
}

#[test]
fn a_file_that_is_not_ours_keeps_what_we_do_not_say() {
    let wanted = wanted(&[("FilesConfig", "", "{files: [{path: /etc/hosts, block: a, content: x}]}")]);
    let mut host = fresh();
    let theirs = host::FileState { mode: 0o640, uid: 7, gid: 8, ..file("theirs\n") };
    host.files.insert("/etc/hosts".into(), theirs);
    run(Mode::Post, &wanted, &mut host).unwrap();
    let got = &host.files["/etc/hosts"];
    assert_eq!((got.mode, got.uid, got.gid), (0o640, 7, 8));
    assert_eq!(text_of(&host, "/etc/hosts"), "theirs\n# BEGIN machineadm a\nx\n# END machineadm a\n");
}

#[test]
fn below_a_root_the_plan_says_when_it_takes_effect() {
    let wanted = wanted(&[
        FORWARDING,
        ("KernelModulesConfig", "", "{modules: [overlay]}"),
        ("ProxyConfig", "", "{httpProxy: 'http://p:1', services: [kubelet]}"),
    ]);
    let preview = look(Mode::Provision, &wanted, &Memory { live: false, ..fresh() }).unwrap();
    let remarks: Vec<_> = preview.0.into_iter().flat_map(|(_, planned)| planned.remarks).collect();
    let expected = [
        Remark::AtBoot("kernel parameters"),
        Remark::AtBoot("kernel modules"),
        Remark::AtServiceStart("kubelet".into()),
    ];
    assert_eq!(remarks, expected);
}

#[test]
fn a_document_about_reports_changes_nothing_and_names_their_location() {
    let report = "{uri: 'https://user:s3cret@reports.example.com/node-7?signature=s3cret'}";
    let wanted = wanted(&[("ReportConfig", "operators", report)]);
    for mode in Mode::ALL {
        let mut host = fresh();
        assert_eq!(changes(mode, &wanted, &mut host), Vec::<String>::new());
        let preview = look(mode, &wanted, &host).unwrap();
        let location = Some("https://reports.example.com/node-7".to_owned());
        assert_eq!(turn(&preview, "ReportConfig operators").remarks, [Remark::Reports { location }]);
    }
}

proptest! {
    /// The order of documents that do not concern each other changes the order of the work, and nothing else; run again
    /// in another order, nothing is done twice.
    #[test]
    fn reordering_reruns_nothing(order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(), some in subsequence((0..6).collect::<Vec<usize>>(), 1..=6)) {
        let documents = [
            FORWARDING,
            ("KernelModulesConfig", "net", "{modules: [overlay]}"),
            ("FilesConfig", "motd", "{files: [{path: /etc/motd, content: hello}]}"),
            ("CommandsConfig", "once", "{commands: [{name: a, argv: ['true']}, {name: b, argv: [touch, /b], creates: /b}]}"),
            ("ProxyConfig", "egress", "{httpProxy: 'http://p:1', services: [containerd]}"),
            ("CommandsConfig", "other", "{commands: [{name: a, shell: 'true'}]}"),
        ];
        let of = |order: &[usize]| wanted(&order.iter().map(|at| documents[*at]).collect::<Vec<_>>());
        let reordered: Vec<usize> = order.iter().filter(|at| some.contains(at)).copied().collect();
        let mut host = fresh();
        run(Mode::Provision, &of(&some), &mut host).unwrap();
        let mut other = fresh();
        run(Mode::Provision, &of(&reordered), &mut other).unwrap();
        prop_assert_eq!(left(&host), left(&other));
        prop_assert_eq!(changes(Mode::Provision, &of(&reordered), &mut host), Vec::<String>::new());
    }
}
