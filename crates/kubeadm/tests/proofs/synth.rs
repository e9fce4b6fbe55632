//! Every made-up input is read strictly, and comes back in its own version without a loss.
use crate::support::{api_of, differences, documents, minor_of, read_strictly, target, vectors};
use machineadm_kubeadm::{check, convert};

#[test]
fn every_input_is_read_strictly_in_the_version_that_it_names() {
    let vectors = vectors("synth", ".yaml");
    assert_eq!(vectors.len(), 70);
    for vector in vectors {
        let read = read_strictly(&vector.name, &vector.text);
        assert_eq!(read.versions.len(), documents(&vector.text).len(), "{}", vector.name);
        assert!(read.versions.values().all(|api| *api == api_of(&vector.name)), "{}", vector.name);
    }
}

#[test]
fn every_input_comes_back_in_its_own_version_without_a_loss() {
    for vector in vectors("synth", ".yaml") {
        let (name, text) = (&vector.name, &vector.text);
        let target = target(text, minor_of(name), api_of(name));
        let converted = convert(&read_strictly(name, text).documents, &target);
        assert!(converted.losses.is_empty() && converted.flags.is_empty(), "{name}: {converted:?}");
        let (ours, theirs) = (documents(&converted.yaml()), documents(text));
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "{name}");
        for (kind, theirs) in &theirs {
            assert_eq!(differences(&ours[kind], theirs), [""; 0], "{name} {kind}");
        }
    }
}

/// `allfields` sets members that are mutually exclusive; all others are valid.
#[test]
fn what_real_kubeadm_accepts_is_not_refused() {
    for vector in vectors("synth", ".yaml").iter().filter(|vector| !vector.name.starts_with("allfields")) {
        let refusals = check(&read_strictly(&vector.name, &vector.text).documents, Some(minor_of(&vector.name)));
        assert!(refusals.is_empty(), "{}: {refusals:?}", vector.name);
    }
}
