//! Drafts of a played machine.
use super::Memory;
use crate::{
    Draft, Drafts, Error, FileState, InstalledFile, Packing, Result, archive, contract::DOWNLOADS_DIR,
    drafts::PROGRAM_MODE,
};
use objects::Sha256Sum;
use secret::Secret;
use sha2::{Digest, Sha256};
use std::{cell::RefCell, rc::Rc};

/// The path of a draft.
fn draft_path(wanted: Sha256Sum) -> String {
    format!("{DOWNLOADS_DIR}/{wanted}")
}

/// The SHA-256 of some bytes.
pub(super) fn sum(bytes: &[u8]) -> Sha256Sum {
    Sha256Sum(Sha256::digest(bytes).into())
}

fn file(contents: Vec<u8>, mode: u32) -> FileState {
    FileState { contents: Secret::new(contents), mode, uid: 0, gid: 0 }
}

impl Memory {
    /// What a draft has, those bytes included that a reader still holds.
    fn received(&self, wanted: Sha256Sum) -> Vec<u8> {
        let open = self.drafts.get(&wanted.to_string()).map(|open| open.0.borrow().clone());
        open.unwrap_or_default()
    }

    /// Every file of a draft with its content.
    fn unpacked(&self, wanted: Sha256Sum, packing: &Packing) -> Result<Vec<(String, u32, Vec<u8>)>> {
        let bytes = self.received(wanted);
        let (directory, inside) = match packing {
            Packing::File { path } => return Ok(vec![(path.clone(), PROGRAM_MODE, bytes)]),
            Packing::Archive { directory, inside } => (directory, *inside),
        };
        let mut files = Vec::new();
        archive::read(&bytes[..], inside, &mut |name, mode, content| {
            let mut bytes = Vec::new();
            content.read_to_end(&mut bytes).map_err(Error::io(format!("unpack {name}")))?;
            files.push((format!("{directory}/{name}"), mode, bytes));
            Ok(())
        })?;
        Ok(files)
    }
}

/// The bytes of a draft, which its writer shares with the machine; a copied machine has its own.
#[derive(Debug, Default, PartialEq)]
pub struct DraftBytes(Rc<RefCell<Vec<u8>>>);

impl Clone for DraftBytes {
    fn clone(&self) -> Self {
        Self(Rc::new(RefCell::new(self.0.borrow().clone())))
    }
}

impl Drafts for Memory {
    fn open_draft(&mut self, wanted: Sha256Sum) -> Result<Box<dyn Draft>> {
        self.spend()?;
        let bytes = self.drafts.entry(wanted.to_string()).or_default();
        Ok(Box::new(DraftBytes(Rc::clone(&bytes.0))))
    }

    fn copy_to_draft(&mut self, wanted: Sha256Sum, path: &str) -> Result<()> {
        let Some(from) = self.files.get(path) else {
            let advice = "put the file there".to_owned();
            return Err(Error::Unfit { what: path.to_owned(), why: "does not exist".to_owned(), advice });
        };
        let bytes = DraftBytes(Rc::new(RefCell::new(from.contents.expose().clone())));
        self.spend()?;
        self.drafts.insert(wanted.to_string(), bytes);
        Ok(())
    }

    fn draft_sum(&self, wanted: Sha256Sum) -> Result<Sha256Sum> {
        Ok(sum(&self.received(wanted)))
    }

    fn contents_of_draft(&self, wanted: Sha256Sum, packing: &Packing) -> Result<Vec<InstalledFile>> {
        let of = |(path, mode, bytes): (String, u32, Vec<u8>)| InstalledFile { path, sum: sum(&bytes), mode };
        Ok(self.unpacked(wanted, packing)?.into_iter().map(of).collect())
    }

    /// The power may fail between two files.
    fn install(&mut self, wanted: Sha256Sum, packing: &Packing, files: &[InstalledFile]) -> Result<()> {
        let unpacked = self.unpacked(wanted, packing)?;
        assert_eq!(unpacked.len(), files.len(), "all files of the draft are installed");
        for (path, mode, bytes) in unpacked {
            self.spend()?;
            self.log.push(format!("install {path}"));
            self.files.insert(path, file(bytes, mode));
        }
        Ok(())
    }

    fn delete_draft(&mut self, wanted: Sha256Sum) -> Result<()> {
        self.spend()?;
        self.drafts.remove(&wanted.to_string());
        self.files.remove(&draft_path(wanted));
        Ok(())
    }

    fn delete_drafts_except(&mut self, wanted: &[Sha256Sum]) -> Result<()> {
        let is_wanted = |name: &str| wanted.iter().any(|sum| sum.to_string() == name);
        self.drafts.retain(|name, _| is_wanted(name));
        Ok(())
    }
}

impl Draft for DraftBytes {
    fn size(&self) -> u64 {
        self.0.borrow().len() as u64
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        self.0.borrow_mut().clear();
        Ok(())
    }
}
