//! What real kubeadm programs print, accept and refuse, beside what we do.
use crate::support::{self, Vector, differences, documents, read_strictly, vectors};
use machineadm_kubeadm::{
    ApiVersion, Converted, Target, convert,
    defaults::{self, ExampleOf, example},
};
use serde_json::Value;

const MATRIX: &str = include_str!("../vectors/peers/acceptance-matrix.txt");
const RESULTS: &str = include_str!("../vectors/peers/results.json");

/// 36 of `v1.36.4`.
fn minor(tag: &str) -> u32 {
    tag.split('.').nth(1).expect("a minor").parse().expect("a minor")
}

#[test]
fn the_versions_that_are_read_are_those_that_each_kubeadm_accepts() {
    for line in MATRIX.lines() {
        let (tag, verdicts) = line.split_once(": ").expect("a line");
        let minor = minor(tag);
        for verdict in verdicts.split(' ') {
            let (api, verdict) = verdict.split_once('=').expect("a verdict");
            let accepted = matches!(verdict, "ok" | "ok+warn" | "needs-flag");
            assert_eq!(ApiVersion::named(api).is_some_and(|api| api.is_read_by(minor)), accepted, "{tag} {api}");
        }
        let preferred = Target::new(tag).expect("a version").api();
        assert!(verdicts.contains(&format!("{}=ok", preferred.name())), "{tag}");
        assert!(!verdicts.contains(&format!("{}=ok+warn", preferred.name())), "{tag}");
    }
}

/// The documents that `kubeadm config print` has, with the defaults of that version.
fn printed(of: ExampleOf, version: &str) -> Converted {
    let target = Target::new(version).expect("a version");
    let mut documents = example(of, &target);
    defaults::fill(&mut documents, &target);
    convert(&documents, &target)
}

#[test]
fn our_defaults_are_those_that_kubeadm_prints() {
    let mut seen = 0;
    for Vector { name, text } in vectors("peers", "-defaults.yaml") {
        let (tag, what) = name.split_once("_print-").expect("a name");
        let of = match what {
            "init" => ExampleOf::Init,
            "join" => ExampleOf::Join,
            "reset" => ExampleOf::Reset,
            "upgrade" => ExampleOf::Upgrade,
            other => panic!("{other}"),
        };
        // kubeadm prints the first release of its minor and the host's own name.
        let version = format!("1.{}.0", minor(tag));
        let text = text.replace(&format!("kubernetesVersion: {version}"), &format!("kubernetesVersion: v{version}"));
        let theirs = documents(&text.replace("HOSTNAME", "node"));
        let ours = documents(&printed(of, &version).yaml());
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{name}");
        for (kind, ours) in ours {
            let mut ours = ours;
            // The patch release decides on the registry, and kubeadm says its own patch release.
            if kind == "ClusterConfiguration" {
                ours["imageRepository"] = theirs[&kind]["imageRepository"].clone();
            }
            assert_eq!(differences(&ours, &theirs[&kind]), [""; 0], "{name} {kind}");
        }
        seen += 1;
    }
    assert_eq!(seen, 12);
}

/// What `kubeadm config migrate` takes from the machine or makes up.
const OF_THE_MACHINE: &[&str] = &["nodeRegistration.taints"];

/// Trustworthy from v1beta3 to v1beta4, and between the older versions.
#[test]
fn our_files_with_defaults_equal_what_migrate_prints() {
    let inputs = vectors("synth", ".yaml");
    let mut seen = 0;
    for Vector { name, text } in vectors("peers", ".yaml") {
        let Some((tag, input)) = name.split_once("_migrate_") else { continue };
        let input = inputs.iter().find(|vector| vector.name == input).expect("the input");
        // Kubernetes 1.36 and before print a waiting time of zero for what was v1beta4 already.
        if input.name.contains("_v1beta4_") && minor(tag) <= 36 {
            continue;
        }
        let version = input.text.lines().find_map(|line| line.strip_prefix("kubernetesVersion: "));
        let target = Target::new(version.unwrap_or(&tag.replace("-rc.1", ""))).expect("a version");
        let mut read = read_strictly(&input.name, &input.text).documents;
        defaults::fill(&mut read, &target);
        let converted = convert(&read, &target);
        let (ours, theirs) = (documents(&converted.yaml()), documents(&text));
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{name}");
        for (kind, ours) in ours {
            let differences = differences(&ours, &theirs[&kind]);
            let differences: Vec<_> = differences.into_iter().filter(|text| !is_of_the_machine(text)).collect();
            assert_eq!(differences, [""; 0], "{name} {kind}");
        }
        seen += 1;
    }
    assert_eq!(seen, 30);
}

fn is_of_the_machine(difference: &str) -> bool {
    OF_THE_MACHINE.iter().any(|field| difference.starts_with(field))
}

/// The vectors that a real kubeadm took without a word are written for it in the same version with the same content.
#[test]
fn what_a_kubeadm_accepted_is_what_we_would_give_it() {
    let results: Value = serde_json::from_str(RESULTS).expect("the results");
    let inputs = vectors("synth", ".yaml");
    let mut seen = 0;
    for result in results.as_array().expect("a list") {
        let (case, message) =
            (result["case"].as_str().expect("a case"), result["message"].as_str().unwrap_or_default());
        let tag = result["kubeadm"].as_str().expect("a kubeadm");
        let target = Target::new(tag).expect("a version");
        if result["exit"] == 0 && message.is_empty() && case.contains(&format!("_{}_", target.api().name())) {
            let input = inputs.iter().find(|vector| vector.name == case).expect("the input");
            is_written_as_it_is(input, &support::target(&input.text, minor(tag), target.api()));
            seen += 1;
            continue;
        }
        // A version that is not the preferred one is warned about or refused, unless the file is wrong in itself.
        let preferred = case.contains(&format!("_{}_", target.api().name()));
        assert!(!preferred || case.starts_with("allfields_") || !message.is_empty(), "{case}: {message}");
    }
    assert!(seen > 10, "{seen}");
}

fn is_written_as_it_is(input: &Vector, target: &Target) {
    let Vector { name, text } = input;
    let converted = convert(&read_strictly(name, text).documents, target);
    assert!(converted.losses.is_empty() && converted.flags.is_empty(), "{name}: {converted:?}");
    let (ours, theirs) = (documents(&converted.yaml()), documents(text));
    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{name}");
    for (kind, ours) in ours {
        assert_eq!(differences(&ours, &theirs[&kind]), [""; 0], "{name} {kind}");
    }
}
