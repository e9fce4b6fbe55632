//! A cluster that would never delete a copy gets none, unless its operator accepts that.
use super::look::{COPY, LIMIT, done, refused, ttl_tokens};
use crate::support::certs_bed::CertsBed;
use std::collections::BTreeSet;
use testbed::{Result, control_plane::Options, until};

const WITHOUT_TOKEN_CLEANER: [&str; 2] = ["bootstrapsigner", "garbagecollector"];
const WITHOUT_GARBAGE_COLLECTOR: [&str; 2] = ["bootstrapsigner", "tokencleaner"];
/// Long enough to see what a cluster does, and short for a test that waits for its end.
const TIMEOUT: [&str; 2] = ["--cleanup-timeout", "2s"];

#[test]
fn a_cluster_that_would_never_delete_a_copy_gets_none() -> Result<()> {
    testbed::needs!(ControlPlane);
    let mut bed = CertsBed::new(&Options::default())?;
    bed.plane.run_controllers(&WITHOUT_TOKEN_CLEANER)?;
    let missing = "the cluster would never delete the certificates: the token cleaner did not delete an expired token";
    nothing_is_left_of_a_refused_upload(&bed, missing, "--controllers=*,bootstrapsigner,tokencleaner")?;
    an_operator_may_accept_it(&bed)?;

    bed.plane.run_controllers(&WITHOUT_GARBAGE_COLLECTOR)?;
    the_token_cleaner_works(&bed)?;
    let missing = "the cluster would never delete the certificates: the garbage collector did not delete a Secret";
    nothing_is_left_of_a_refused_upload(&bed, missing, "--enable-garbage-collector")?;

    // The same cluster, once its controllers are complete.
    bed.plane.run_controllers(&["bootstrapsigner", "tokencleaner", "garbagecollector"])?;
    let uploaded = done(bed.upload(&[]));
    assert!(!uploaded.stderr.contains("did not delete"), "{}", uploaded.stderr);
    bed.plane.down()
}

/// A controller starts a while after its program is ready.
fn the_token_cleaner_works(bed: &CertsBed) -> Result<()> {
    let name = "bootstrap-token-oldold";
    let words =
        ["--namespace=kube-system", "create", "secret", "generic", name, "--type=bootstrap.kubernetes.io/token"];
    let data = ["--from-literal=token-id=oldold", "--from-literal=token-secret=0123456789abcdef"];
    let expired = ["--from-literal=expiration=2000-01-01T00:00:00Z"];
    bed.plane.kubectl(&[&words[..], &data, &expired].concat())?;
    until("an expired token is deleted", LIMIT, || {
        let secrets = bed.secrets().map_err(|error| error.to_string())?;
        if secrets.contains_key(name) { Err("it is there".to_owned()) } else { Ok(()) }
    })
}

fn nothing_is_left_of_a_refused_upload(bed: &CertsBed, missing: &str, remedy: &str) -> Result<()> {
    let before: BTreeSet<_> = bed.secrets()?.into_keys().collect();
    assert!(!before.contains(COPY));
    let ran = bed.upload(&TIMEOUT);
    refused(&ran, 1, missing, remedy);
    assert!(ran.stderr.contains("or pass --accept-missing-cleanup"), "{}", ran.stderr);
    // No canary, no copy, no TTL token.
    assert_eq!(before, bed.secrets()?.into_keys().collect());
    Ok(())
}

fn an_operator_may_accept_it(bed: &CertsBed) -> Result<()> {
    let ran = done(bed.upload(&[&TIMEOUT[..], &["--accept-missing-cleanup"]].concat()));
    let warning = "warning: the token cleaner did not delete an expired token, within 2s: delete the certificates with \
                   `machineadm certs delete` when they are no longer needed";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    // No end is promised that nothing brings about.
    assert!(!ran.stderr.contains("the cluster deletes it at") && !ran.stderr.contains("until 20"), "{}", ran.stderr);
    assert!(ran.stderr.contains("with 8 entries; the cluster does not delete it\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("until the Secret is deleted by hand, anyone who has"), "{}", ran.stderr);
    let secrets = bed.secrets()?;
    assert!(secrets.contains_key(COPY) && ttl_tokens(&secrets).len() == 1);
    assert!(!secrets.keys().any(|name| name.contains("canary")), "{:?}", secrets.keys());
    done(bed.download(&[]));
    assert!(bed.is_copied(&bed.target()));
    done(bed.admin(&["certs", "delete"]));
    Ok(())
}
