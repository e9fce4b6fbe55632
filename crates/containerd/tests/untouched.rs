//! Whatever a configuration has that the settings do not name stays byte for byte.
use machineadm_containerd::{CgroupDriver, Proposal, Seen, Settings, Version, propose};
use proptest::{collection::vec, prelude::*, sample::select};
use std::collections::{BTreeMap, BTreeSet};

const TABLES: [&str; 10] = [
    "",
    "debug",
    "grpc",
    "plugins.\"io.containerd.grpc.v1.cri\"",
    "plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc",
    "plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options",
    "plugins.'io.containerd.grpc.v1.cri'.cni",
    "plugins.'io.containerd.internal.v1.opt'",
    "plugins.'io.containerd.grpc.v1.cri'.containerd",
    "timeouts",
];
/// Keys that the settings set, by table, with another value.
const OWNED: [(&str, &str); 4] = [
    ("plugins.\"io.containerd.grpc.v1.cri\"", "sandbox_image = 'other'"),
    ("plugins.'io.containerd.grpc.v1.cri'.containerd", "snapshotter = \"other\" "),
    ("plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options", "SystemdCgroup=false"),
    ("", "root = '/other'"),
];

fn settings() -> Settings {
    Settings {
        sandbox_image: Some("registry.example/pause:1".into()),
        cgroup_driver: Some(CgroupDriver::Systemd),
        snapshotter: Some("native".into()),
        data_root: Some("/data/containerd".into()),
        ..Settings::default()
    }
}

fn proposal(config: &str, minor: u32) -> Proposal {
    let hosts = BTreeSet::new();
    let version = if minor > 5 { Version { major: 1, minor } } else { Version { major: 2, minor } };
    let seen = Seen { version, config_path: "/c", config: Some(config), imports: &[], hosts: &hosts };
    propose(&settings(), &seen).expect("it can be edited")
}

/// One table: its comment, its keys with odd spacing, blank lines.
fn table() -> impl Strategy<Value = Vec<String>> {
    let value = select(vec!["1", "'a # b'", "\"x\\ny\"", "[ 1,2 , 3 ]", "{ a = 1 }", "true", "4.50", "'''m\n  l'''"]);
    let line = (select(vec!["", "  ", "\t"]), 0..20u32, value, select(vec!["", " # why", "  #"]));
    vec((line, select(vec![None, Some("# a comment"), Some(""), Some("    # [not.a.table]")])), 0..5).prop_map(|rows| {
        let mut keys = BTreeSet::new();
        let mut lines = Vec::new();
        for ((indent, number, value, comment), before) in rows {
            lines.extend(before.map(str::to_owned));
            if keys.insert(number) {
                lines.push(format!("{indent}key{number} = {value}{comment}"));
            }
        }
        lines
    })
}

fn configuration() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let tables = vec((select(TABLES[1..].to_vec()), table()), 0..6);
    (table(), tables, vec(any::<bool>(), OWNED.len())).prop_map(|(top, tables, owned)| {
        let tables: BTreeMap<&str, Vec<String>> = tables.into_iter().collect();
        let mut all = vec![("", [vec!["version = 2".to_owned()], top].concat())];
        all.extend(tables);
        let (mut lines, mut foreign) = (Vec::new(), Vec::new());
        for (name, rows) in all {
            if !name.is_empty() {
                foreign.push(format!("[{name}] # table"));
                lines.push(format!("[{name}] # table"));
            }
            for (of_table, line) in OWNED.iter().zip(&owned).filter(|(_, is_set)| **is_set).map(|(row, _)| row) {
                if *of_table == name {
                    lines.push((*line).to_owned());
                }
            }
            foreign.extend(rows.clone());
            lines.extend(rows);
        }
        (lines, foreign)
    })
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut lines = whole.lines();
    part.lines().all(|line| lines.any(|other| other == line))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_else_stays_byte_for_byte((lines, foreign) in configuration(), minor in select(vec![0, 4, 6, 7])) {
        let before = lines.join("\n") + "\n";
        prop_assume!(before.parse::<toml_edit::DocumentMut>().is_ok());
        let first = proposal(&before, minor);
        prop_assert!(is_subsequence(&foreign.join("\n"), &first.config), "{before}\n=====\n{}", first.config);
        // What is new are the wanted values and the tables that they need.
        let known: BTreeSet<&str> = foreign.iter().flat_map(|line| line.lines()).collect();
        for line in first.config.lines().filter(|line| !known.contains(line) && !line.is_empty()) {
            let ours = ["root", "sandbox_image", "snapshotter", "SystemdCgroup", "runtime_type", "[plugins."];
            prop_assert!(ours.iter().any(|ours| line.trim_start().starts_with(ours)), "{line}");
        }
        prop_assert_eq!(proposal(&first.config, minor).config, first.config);
    }
}
