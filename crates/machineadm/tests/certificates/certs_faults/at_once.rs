//! Four uploads at once, each with a key of its own.
use super::{
    bed::{Bed, LIMIT},
    copy::{Copy, wait_for_no_canary},
    gateway::{Fate, Gateway},
};
use crate::support::run_output::RunOutput;
use testbed::{Result, until};

const MANY: usize = 4;

#[test]
fn uploads_at_the_same_time_leave_one_secret_of_one_of_them_and_one_token() -> Result<()> {
    testbed::needs!(ControlPlane);
    let bed = Bed::new()?;
    // Over a cluster without a copy, and over what one of them has left.
    for round in 0..2 {
        race(&bed, round)?;
    }
    wait_for_no_canary(&bed.connect())?;
    bed.plane.down()
}

/// All come to their first write of the Secret before one of them gets through.
fn race(bed: &Bed, round: usize) -> Result<()> {
    let gateway = Gateway::before(&bed.plane.kubeconfig(), |asked, before| {
        let is_first = before.iter().filter(|asked| asked.writes_certs()).count() < MANY;
        if asked.writes_certs() && is_first { Fate::Delayed } else { Fate::Passed }
    });
    let kubeconfig = bed.through(&gateway, "through");
    let keys: Vec<_> = (1..=MANY).map(|number| format!("{:08x}{:056x}", round * MANY + number, 7)).collect();
    let runs: Vec<_> = keys.iter().map(|key| bed.upload(&kubeconfig, key).spawn().unwrap()).collect();
    let met = until("all are about to write", LIMIT, || match gateway.held() {
        MANY => Ok(()),
        held => Err(format!("{held} of {MANY}: {:?}", gateway.asked())),
    });
    gateway.release();
    let ended: Vec<_> = runs.into_iter().map(|run| RunOutput::of(run.wait_with_output().unwrap())).collect();
    met?;
    for (run, key) in ended.iter().zip(&keys) {
        let contended = run.stderr.contains("other clients changed the Secret kube-system/kubeadm-certs or its token");
        assert!(
            run.code == Some(0) && run.stdout == format!("{key}\n") || contended && run.stdout.is_empty(),
            "{run:?}"
        );
    }
    let refused = gateway.asked().iter().filter(|asked| asked.writes_certs() && asked.status == Some(409)).count();
    assert!(refused >= MANY - 1, "{refused} of them came too late");
    let copy = Copy::seen(&bed.connect());
    let decrypting: Vec<_> = keys.iter().filter(|key| copy.is_whole(bed, key)).collect();
    assert_eq!(decrypting.len(), 1, "one of the keys decrypts it");
    if ended.iter().all(|run| run.code == Some(0)) {
        assert_eq!((copy.ttl_tokens().len(), copy.orphans().len()), (1, 0), "{ended:?}");
    } else {
        bed.upload_undisturbed();
        assert_eq!(Copy::seen(&bed.connect()).ttl_tokens().len(), 1);
    }
    Ok(())
}
