//! The programs of others that judge, as they are committed: one that judges no more is a proof that was lost.
use testbed::judges::Judge;
use testbed::programs::Tier;

/// Below the repository's top folder.
pub(super) const FILE: &str = "xtask/src/test/judges.txt";
const LISTED: &str = include_str!("judges.txt");

/// In what the judges of a whole tier differ from the list, each as a sentence.
pub(super) fn differences(judged: &[Judge], tier: Tier) -> Vec<String> {
    compared(LISTED, judged.iter().map(Judge::pin).collect(), tier)
}

fn compared(list: &str, judged: Vec<String>, tier: Tier) -> Vec<String> {
    let listed: Vec<(&str, &str)> =
        list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' ')).collect();
    let is_due = |of: &str| of == "quick" || tier == Tier::Long;
    let lost = listed.iter().filter(|(of, name)| is_due(of) && !judged.iter().any(|judge| judge == name));
    let lost = lost.map(|(_, name)| format!("{name} judged nothing; {FILE} lists it"));
    let unknown = judged.iter().filter(|judge| !listed.iter().any(|(of, name)| is_due(of) && name == judge));
    let unknown = unknown.map(|judge| format!("{judge} judged, and {FILE} does not list it for this tier"));
    lost.chain(unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# a comment\nquick kubeadm 1.36.4\nquick openssl\nlong qemu-system-x86_64\n";

    fn of(judges: &[&str], tier: Tier) -> Vec<String> {
        compared(LIST, judges.iter().map(|judge| (*judge).to_owned()).collect(), tier)
    }

    #[test]
    fn a_judge_that_is_not_listed_and_one_that_judged_nothing_are_found() {
        assert_eq!(of(&["kubeadm 1.36.4", "openssl"], Tier::Quick), [""; 0]);
        assert_eq!(of(&["kubeadm 1.36.4", "openssl", "qemu-system-x86_64"], Tier::Long), [""; 0]);
        let lost = of(&["kubeadm 1.36.4"], Tier::Quick);
        assert!(lost.len() == 1 && lost[0].starts_with("openssl judged nothing"), "{lost:?}");
        let unknown = of(&["kubeadm 1.36.4", "openssl", "kubeadm 1.99.0", "qemu-system-x86_64"], Tier::Quick);
        assert!(unknown.len() == 2 && unknown[0].starts_with("kubeadm 1.99.0 judged"), "{unknown:?}");
    }
}
