//! The connection breaks after the API server has done what an upload asked for: the upload reads back what it has
//! written, and nothing is there twice.
use super::{
    bed::{Bed, KEY, LIMIT, OTHER_KEY},
    copy::{Copy, wait_for_no_canary},
    gateway::{Asked, Fate, Gateway},
};
use crate::support::run_output::RunOutput;
use testbed::{Result, until};

/// An upload whose write of this number is done and not answered; what that was, if there was one.
fn lost(bed: &Bed, number: usize) -> Option<Asked> {
    let gateway = Gateway::before(&bed.plane.kubeconfig(), move |asked, before| {
        let is_there = asked.is_write() && before.iter().filter(|asked| asked.is_write()).count() == number;
        if is_there { Fate::AnswerLost } else { Fate::Passed }
    });
    let ended = RunOutput::of(bed.upload(&bed.through(&gateway, "through"), KEY).output().unwrap());
    let asked = gateway.asked();
    let lost = asked.iter().filter(|asked| asked.is_write()).nth(number).cloned();
    assert_eq!((ended.code, ended.stdout), (Some(0), format!("{KEY}\n")), "{lost:?}: {} {asked:?}", ended.stderr);
    lost
}

/// Loses each answer from one on; how many there were.
fn lose_each(bed: &Bed, first: usize, prepare: fn(&Bed) -> Result<()>) -> Result<usize> {
    let api = bed.connect();
    for number in first.. {
        prepare(bed)?;
        let lost = lost(bed, number);
        let when = format!("the answer to write {number} was lost: {lost:?}");
        Copy::seen(&api).assert_complete(bed, KEY, &when);
        if lost.is_none() {
            wait_for_no_canary(&api)?;
            return Ok(number);
        }
    }
    unreachable!("an upload ends")
}

/// A TTL token that owns nothing, as an interrupted upload leaves it.
fn with_an_orphan(bed: &Bed) -> Result<()> {
    bed.delete();
    let gateway =
        Gateway::before(
            &bed.plane.kubeconfig(),
            |asked, _| {
                if asked.writes_certs() { Fate::HeldBefore } else { Fate::Passed }
            },
        );
    let mut run = bed.upload(&bed.through(&gateway, "through"), OTHER_KEY).spawn().unwrap();
    until("the Secret is about to be created", LIMIT, || match gateway.held() {
        1 => Ok(()),
        held => Err(format!("{held} held, {:?}", run.try_wait())),
    })?;
    run.kill().unwrap();
    run.wait().unwrap();
    let copy = Copy::seen(&bed.connect());
    assert_eq!((copy.certs().is_none(), copy.orphans().len()), (true, 1));
    Ok(())
}

#[test]
fn a_write_whose_answer_was_lost_is_read_back_and_not_repeated() -> Result<()> {
    testbed::needs!(ControlPlane);
    let bed = Bed::new()?;
    let nothing: fn(&Bed) -> Result<()> = |bed| {
        bed.delete();
        Ok(())
    };
    bed.upload_undisturbed();
    assert_eq!(lose_each(&bed, 0, nothing)?, 4, "canary token, canary, TTL token, Secret");
    // The canary is the same for all.
    assert_eq!(lose_each(&bed, 2, |_| Ok(()))?, 5, "TTL token, Secret, deletion of the former owner");
    assert_eq!(lose_each(&bed, 2, with_an_orphan)?, 4, "the orphan that is used, Secret");
    bed.plane.down()
}
