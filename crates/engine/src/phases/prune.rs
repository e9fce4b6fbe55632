//! What earlier documents wrote and this configuration no longer names: listed, or restored to what was there before.
use super::file_after;
use crate::{
    Look, Named, PlanError, Planned, Prune, Remark, Step, api_server_manifest,
    block::{with_block, without_block},
    control_plane_files::ControlPlaneFiles,
    ownership::{Owned, Ownership, Previous, Record},
    path_digest::{Sort, digest},
    turns::{Addition, Place, Subject},
};
use documents::Secret;
use host::{Change, DirectoryState, FileState, PathState, Service, contract::CONTROL_PLANE_DIR};
use outcome::{ActSort, AddedTurn};

pub(crate) const ADDITION: Addition = Addition {
    turn: AddedTurn::Prune,
    summary: "lists what earlier documents wrote and no document names any more; with --prune restores what was there before",
    place: Place::EndOfPost,
    applies: |_| true,
    plan,
};

fn plan(subject: &Subject<'_>, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let records = Ownership::read(look.host)?;
    let stale = || records.values().filter(|record| !record.is_named(look.named));
    // Directories last, and from the bottom up: what is in them is deleted before.
    let directories = stale().filter(|record| is_directory(record)).rev();
    for record in stale().filter(|record| !is_directory(record)).chain(directories) {
        let fate = fate(record, look, &planned)?;
        match (subject.prune, fate.change) {
            (Prune::Restore, Restoring::Change(change)) => {
                planned.steps.push(Step::Ensure(*change));
                if !matches!(record.owned, Owned::Program { .. }) {
                    // A service whose program is deleted runs until it is stopped.
                    follow(&record.named(), Reading::Due, look, &mut planned)?;
                }
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
    Change(Box<Change>),
    /// What was there is there.
    Done,
    /// It is left alone.
    Refused,
}

const DELETES: &str = "--prune deletes it";
const RESTORES: &str = "--prune restores what was there before";
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
                    Restoring::Change(Box::new(Change::SetSysctl { key, path, was, value }))
                }
                Some(now) if now != *previous => return Ok(CHANGED),
                _ => Restoring::Done,
            };
            Ok(Fate { change, words: "--prune sets its previous value" })
        }
        Owned::Program { path, sha256, replaced, .. } => Ok(match look.host.sum(path)? {
            None => Fate { change: Restoring::Done, words: DELETES },
            Some(found) if found.sum.to_string() != *sha256 => CHANGED,
            Some(_) if *replaced => refused("it replaced another file, of which there is no copy, so it stays"),
            Some(_) => {
                let change = Change::Remove { path: path.clone(), was: look.host.state_at(path)? };
                Fate { change: Restoring::Change(Box::new(change)), words: DELETES }
            }
        }),
        Owned::File { path, block, digest, before, previous, .. } => {
            let now = match now(path, Sort::of(digest), look, planned) {
                // Something else than a file is there by now.
                Err(PlanError::Look(host::Error::Refused { .. })) => return Ok(CHANGED),
                now => now?,
            };
            let has_blocks =
                |named: &Named| matches!(named, Named::File { path: other, block: Some(_) } if other == path);
            if block.is_none() && look.named.iter().any(has_blocks) {
                return Ok(refused("other documents have blocks in it, so it stays"));
            }
            if is_of_running_api_server(path, look)? {
                return Ok(refused("the API server reads it, so it stays"));
            }
            if is_below_what_is_no_directory(path, look)? {
                return Ok(refused("a document sets or deletes a path above it, so it is not restored"));
            }
            let copy = record.copy(look.host)?;
            Ok(path_fate(&Found { path, block: block.as_deref(), wanted: digest, before, previous, now, copy }))
        }
    }
}

/// Whether the API server needs a path. Its manifest names the files also after the document has gone, or as long as the
/// API server could not be changed. A reset, which has no documents, deletes the manifest first.
fn is_of_running_api_server(path: &str, look: &Look<'_>) -> Result<bool, PlanError> {
    let is_of_files = path.strip_prefix(CONTROL_PLANE_DIR).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let will_change = |step: &Step| matches!(step, Step::Run(act) if act.sort() == ActSort::ControlPlaneChange);
    if !is_of_files || look.wanted.documents.is_empty() || look.waits_for(will_change).is_some() {
        return Ok(false);
    }
    let Some(manifest) = look.host.file(api_server_manifest::MANIFEST)? else { return Ok(false) };
    let manifest = String::from_utf8_lossy(manifest.contents.expose()).into_owned();
    let Some(ControlPlaneFiles { directory, files, .. }) = ControlPlaneFiles::of(look.wanted) else {
        return Ok(manifest.contains(CONTROL_PLANE_DIR));
    };
    for file in &files {
        // Files refer to each other: until all are as they shall be, what they refer to is unknown.
        let found = look.host.file(&format!("{directory}/{}", file.name))?;
        if found.is_none_or(|found| found.contents != file.contents) {
            return Ok(true);
        }
    }
    let is_end = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || "-_./".contains(letter));
    Ok(manifest.match_indices(path).any(|(at, _)| is_end(&manifest[at + path.len()..])))
}

/// Whether a path above is set by a document and is no directory: restoring would undo that at every run.
fn is_below_what_is_no_directory(path: &str, look: &Look<'_>) -> Result<bool, PlanError> {
    let is_above = |above: &str| path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'));
    for named in look.named {
        if let Named::File { path: above, .. } = named
            && is_above(above)
            && !matches!(look.host.state_at(above)?, PathState::Directory { .. })
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_directory(record: &Record) -> bool {
    matches!(&record.owned, Owned::File { digest, .. } if Sort::of(digest) == Sort::Directory)
}

/// A file was written where a link at its end leads; nothing else follows one.
fn now(path: &str, sort: Sort, look: &Look<'_>, planned: &Planned) -> Result<PathState, PlanError> {
    match sort {
        Sort::File => Ok(file_after(planned, path, look)?.map_or(PathState::Absent, PathState::File)),
        Sort::Directory | Sort::Link | Sort::Absent => Ok(look.state_after(planned, path)?),
    }
}

/// A recorded path and what the machine has there.
struct Found<'a> {
    path: &'a str,
    block: Option<&'a str>,
    /// The digest of what machineadm wrote.
    wanted: &'a String,
    /// The digest of what was there before its last write.
    before: &'a String,
    previous: &'a Previous,
    now: PathState,
    copy: Option<FileState>,
}

impl Found<'_> {
    /// Whether nothing but machineadm has changed it since. A directory that machineadm created may have the mode of one
    /// whose creation was interrupted.
    fn is_ours(&self) -> bool {
        let now = digest(&self.now, self.block);
        let is_created = *self.previous == Previous::Absent && Sort::of(self.wanted) == Sort::Directory;
        [self.wanted, self.before].contains(&&now) || (is_created && Sort::of(&now) == Sort::Directory)
    }

    /// Whether the copied content is there again: then its copy may be gone already, if an earlier run was interrupted.
    fn is_copied_back(&self) -> bool {
        let Previous::Copied { mode, uid, gid, sha256 } = self.previous else { return false };
        let copied = match self.block {
            None => format!("{sha256} {mode:04o} {uid}:{gid}"),
            Some(_) => sha256.clone(),
        };
        digest(&self.now, self.block) == copied
    }

    /// What pruning leaves there, or why it cannot.
    fn restored(&self) -> Result<PathState, &'static str> {
        match (self.previous, &self.now, &self.copy) {
            (Previous::TooLarge, ..) => {
                Err("its previous content was larger than 1 MiB and was not copied, so it is not restored")
            }
            (Previous::Copied { .. }, _, None) => {
                Err("the copy of its previous content is damaged or missing, so it stays")
            }
            (Previous::Copied { mode, uid, gid, .. }, now, Some(copy)) => Ok(match (self.block, now) {
                (None, _) => {
                    let contents = copy.contents.clone();
                    PathState::File(FileState { mode: *mode, uid: *uid, gid: *gid, contents })
                }
                (Some(block), PathState::File(now)) => {
                    let contents = with_block(now.contents.expose(), block, copy.contents.expose());
                    PathState::File(FileState { contents: Secret::new(contents), ..now.clone() })
                }
                (Some(_), _) => PathState::Absent,
            }),
            (Previous::Directory { mode, uid, gid }, ..) => {
                Ok(PathState::Directory { state: DirectoryState { mode: *mode, uid: *uid, gid: *gid }, entries: 0 })
            }
            (Previous::Link { target }, ..) => Ok(PathState::Link { target: target.clone() }),
            (Previous::Absent | Previous::NoBlock, now, _) => Ok(self.without_block(now)),
        }
    }

    fn without_block(&self, now: &PathState) -> PathState {
        let (Some(block), PathState::File(now)) = (self.block, now) else { return PathState::Absent };
        let contents = without_block(now.contents.expose(), block);
        match contents.is_empty() && *self.previous == Previous::Absent {
            true => PathState::Absent,
            false => PathState::File(FileState { contents: Secret::new(contents), ..now.clone() }),
        }
    }
}

fn path_fate(found: &Found<'_>) -> Fate {
    if found.is_copied_back() {
        return Fate { change: Restoring::Done, words: RESTORES };
    }
    let restored = match found.restored() {
        Ok(restored) => restored,
        Err(why) => return refused(why),
    };
    let words = match restored {
        PathState::Absent => DELETES,
        _ => RESTORES,
    };
    let is_back = digest(&found.now, None) == digest(&restored, None);
    let change = match (&found.now, restored) {
        // What was deleted since is not restored, unless machineadm deleted it.
        (PathState::Absent, _) if Sort::of(found.wanted) != Sort::Absent => Restoring::Done,
        _ if is_back => Restoring::Done,
        _ if !found.is_ours() => return CHANGED,
        (PathState::Directory { entries: 1.., .. }, PathState::Absent) => {
            return refused("it is a directory that is not empty, so it stays");
        }
        (_, restored) => match change_to(found, restored) {
            Some(change) => Restoring::Change(Box::new(change)),
            None => return refused("it is of another type than what was there before, so it stays"),
        },
    };
    Fate { change, words }
}

/// The change that brings back what was there; `None` where that is of another type than what is there now.
fn change_to(found: &Found<'_>, restored: PathState) -> Option<Change> {
    let Found { path, block, now, .. } = found;
    let path = (*path).to_owned();
    match restored {
        PathState::Absent => Some(Change::Remove { path, was: now.clone() }),
        PathState::File(file) => {
            let was = match now {
                PathState::File(was) => Some(was.clone()),
                PathState::Absent => None,
                _ => return None,
            };
            Some(Change::WriteFile { path, block: block.map(str::to_owned), was, file, confidential: true })
        }
        PathState::Directory { state: directory, .. } => {
            let was = match now {
                PathState::Directory { state, .. } => Some(*state),
                PathState::Absent => None,
                _ => return None,
            };
            Some(Change::MakeDirectory { path, was, directory })
        }
        PathState::Link { target } => {
            let was = match now {
                PathState::Link { target } => Some(target.clone()),
                PathState::Absent => None,
                _ => return None,
            };
            Some(Change::MakeLink { path, was, target })
        }
        PathState::LargeFile { .. } | PathState::Special => None,
    }
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
        Owned::File { path, block: None, .. } | Owned::Program { path, .. } => path.clone(),
        Owned::File { path, block: Some(block), .. } => format!("{path}, block {block}"),
        Owned::Parameter { key, .. } => key.clone(),
    }
}
