//! What earlier documents wrote and this configuration no longer names: listed, or restored to what was there before.
use super::{file_after, write_if_other};
use crate::{
    Look, Named, PlanError, Planned, Prune, Remark, Step,
    block::{with_block, without_block},
    ownership::{Owned, Ownership, Previous, Record, digest},
    turns::{Addition, Place, Subject},
};
use documents::Secret;
use host::{Change, FileState, Service};

pub(crate) const ADDITION: Addition = Addition {
    name: "prune",
    summary: "lists what earlier documents wrote and no document names any more; with --prune restores what was there before",
    place: Place::EndOfPost,
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let records = Ownership::read(look.host)?;
    for record in records.values().filter(|record| !look.named.contains(&record.named())) {
        let fate = fate(record, look, &planned)?;
        match (subject.prune, fate.change) {
            (Prune::Restore, Restoring::Change(change)) => {
                planned.steps.push(Step::Ensure(change));
                follow(&record.named(), Reading::Due, look, &mut planned)?;
                planned.forgets.push(record.named());
            }
            // An earlier run may have ended between the file and what follows it.
            (Prune::Restore, Restoring::Done) => {
                follow(&record.named(), Reading::Asked, look, &mut planned)?;
                planned.forgets.push(record.named());
            }
            (Prune::List, Restoring::Done) => {}
            (Prune::List, Restoring::Change(_)) | (_, Restoring::Refused) => planned.remarks.push(Remark::Stale {
                what: title(&record.owned),
                document: record.document.clone(),
                fate: fate.words,
            }),
        }
    }
    Ok(planned)
}

/// What pruning does with a record.
struct Fate {
    change: Restoring,
    words: &'static str,
}

enum Restoring {
    /// This brings back what was there.
    Change(Change),
    /// What was there is there.
    Done,
    /// It is left alone.
    Refused,
}

const CHANGED: Fate = refused("it was changed since, so it stays");

const fn refused(words: &'static str) -> Fate {
    Fate { change: Restoring::Refused, words }
}

fn fate(record: &Record, look: &Look<'_>, planned: &Planned) -> Result<Fate, PlanError> {
    match &record.owned {
        Owned::Parameter { key, path, value, before, previous } => {
            let change = match look.host.sysctl(path)? {
                Some(now) if [value, before].contains(&&now) && now != *previous => {
                    let (key, path, was, value) = (key.clone(), path.clone(), Some(now), previous.clone());
                    Restoring::Change(Change::SetSysctl { key, path, was, value })
                }
                Some(now) if now != *previous => return Ok(CHANGED),
                _ => Restoring::Done,
            };
            Ok(Fate { change, words: "--prune sets its previous value" })
        }
        Owned::File { path, block, digest, before, previous, .. } => {
            let now = match file_after(planned, path, look) {
                // Something else than a file is there by now.
                Err(PlanError::Look(host::Error::Refused { .. })) => return Ok(CHANGED),
                now => now?,
            };
            let has_blocks =
                |named: &Named| matches!(named, Named::File { path: other, block: Some(_) } if other == path);
            if block.is_none() && look.named.iter().any(has_blocks) {
                return Ok(refused("other documents have blocks in it, so it stays"));
            }
            let copy = record.copy(look.host)?;
            Ok(file_fate(&Found { path, block: block.as_deref(), ours: [digest, before], previous, now, copy }))
        }
    }
}

/// A recorded file and what the machine has of it.
struct Found<'a> {
    path: &'a str,
    block: Option<&'a str>,
    /// The digests of what machineadm wrote, and of what was there before its last write.
    ours: [&'a String; 2],
    previous: &'a Previous,
    now: Option<FileState>,
    copy: Option<FileState>,
}

fn file_fate(found: &Found<'_>) -> Fate {
    let Found { path, block, ours, previous, now, copy } = found;
    let restored = match (previous, now, copy) {
        (Previous::TooLarge, ..) => return refused("its previous content was too large to copy, so it stays"),
        (Previous::Copied { .. }, _, None) => {
            return refused("the copy of its previous content is damaged or missing, so it stays");
        }
        (Previous::Copied { mode, uid, gid, .. }, now, Some(copy)) => match (block, now) {
            (None, _) => Some(FileState { mode: *mode, uid: *uid, gid: *gid, contents: copy.contents.clone() }),
            (Some(block), Some(now)) => {
                let contents = with_block(now.contents.expose(), block, copy.contents.expose());
                Some(FileState { contents: Secret::new(contents), ..now.clone() })
            }
            (Some(_), None) => None,
        },
        (Previous::Absent | Previous::NoBlock, now, _) => block.zip(now.as_ref()).and_then(|(block, now)| {
            let contents = without_block(now.contents.expose(), block);
            let is_gone = contents.is_empty() && **previous == Previous::Absent;
            (!is_gone).then(|| FileState { contents: Secret::new(contents), ..now.clone() })
        }),
    };
    let words = match restored {
        Some(_) => "--prune restores what was there before",
        None => "--prune deletes it",
    };
    let change = match (now, restored) {
        // What was deleted since is nobody's to bring back.
        (None, _) => Restoring::Done,
        (now, restored) if *now == restored => Restoring::Done,
        (now, _) if !ours.contains(&&digest(now.as_ref(), *block)) => return CHANGED,
        (Some(now), None) => Restoring::Change(Change::RemoveFile { path: (*path).to_owned(), was: now.clone() }),
        (was, Some(file)) => {
            let (path, block, was) = ((*path).to_owned(), block.map(str::to_owned), was.clone());
            let write = write_if_other(Change::WriteFile { path, block, was, file, confidential: true });
            match write {
                Some(Step::Ensure(change)) => Restoring::Change(change),
                _ => Restoring::Done,
            }
        }
    };
    Fate { change, words }
}

/// Whether services have to read a file again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// It changes.
    Due,
    /// Their records tell.
    Asked,
}

/// What has to follow a restored file: services that read it start again, and the trust store is made anew.
fn follow(named: &Named, reading: Reading, look: &Look<'_>, planned: &mut Planned) -> Result<(), PlanError> {
    let Named::File { path, .. } = named else { return Ok(()) };
    for service in look.host.readers(path)? {
        if reading == Reading::Due || !look.host.has_read(&service, path)? {
            let state = look.host.service(&service)?;
            if state != Service::Unknown {
                let (reads, running) = (vec![path.clone()], state == Service::Active);
                planned.steps.push(Step::Ensure(Change::Restart { service, reads, running }));
            }
        }
    }
    let refreshed = |step: &Step| matches!(step, Step::Ensure(Change::RefreshTrust { .. }));
    if let Some(store) = look.host.trust_store()?.filter(|store| path.starts_with(store.anchors)) {
        planned.steps.retain(|step| !refreshed(step));
        planned.steps.push(Step::Ensure(Change::RefreshTrust { store, missing: Vec::new() }));
    }
    Ok(())
}

fn title(owned: &Owned) -> String {
    match owned {
        Owned::File { path, block: None, .. } => path.clone(),
        Owned::File { path, block: Some(block), .. } => format!("{path}, block {block}"),
        Owned::Parameter { key, .. } => key.clone(),
    }
}
