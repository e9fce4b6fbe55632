//! Which document installed which program. A program is too large to be copied, and an archive names its files only when
//! it is there.
use crate::{
    ownership::{Owned, Ownership, Record, key},
    plan::Named,
};
use host::{Host, Inspect, InstalledFile};
use objects::Sha256Sum;
use serde::{Deserialize, Serialize};

/// A file's place in an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ArchivePart {
    pub(crate) sha256: String,
    /// How many files the archive has.
    pub(crate) files: usize,
}

/// What owns programs that are about to be installed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    /// The document's kind and name.
    pub(crate) document: &'a str,
    /// The archive that they came in.
    pub(crate) archive: Option<Sha256Sum>,
}

impl Ownership {
    /// Records programs that are about to be installed.
    pub(crate) fn note_program(
        program: &Program<'_>,
        files: &[InstalledFile],
        host: &mut dyn Host,
    ) -> host::Result<()> {
        let mut records = Self::read(host)?;
        let archive = program.archive.map(|sha256| ArchivePart { sha256: sha256.to_string(), files: files.len() });
        for InstalledFile { path, sum, mode } in files {
            let key = key(&Named::File { path: path.clone(), block: None });
            let found = host.sum(path)?.map(|found| found.sum.to_string());
            let replaced = match records.get(&key).map(|record| &record.owned) {
                // An earlier version, or one that an interrupted run was about to install over what was there.
                Some(Owned::Program { replaced, .. }) => *replaced,
                _ => found.is_some_and(|found| found != sum.to_string()),
            };
            let (path, sha256, mode, archive) = (path.clone(), sum.to_string(), *mode, archive.clone());
            let owned = Owned::Program { path, sha256, mode, replaced, archive };
            records.insert(key, Record { document: program.document.to_owned(), owned });
        }
        Self::write(records, host)
    }

    /// The files that an archive was unpacked to; none unless all of them are recorded.
    pub(crate) fn unpacked(
        directory: &str,
        archive: Sha256Sum,
        host: &dyn Inspect,
    ) -> host::Result<Vec<InstalledFile>> {
        let wanted = archive.to_string();
        let mut count = 0;
        let of = |record: Record| match record.owned {
            Owned::Program { path, sha256, mode, archive: Some(part), .. }
                if part.sha256 == wanted && path.rsplit_once('/').is_some_and(|(parent, _)| parent == directory) =>
            {
                count = part.files;
                Some(InstalledFile { path, sum: Sha256Sum::parse(&sha256)?, mode })
            }
            _ => None,
        };
        let files: Vec<InstalledFile> = Self::read(host)?.into_values().filter_map(of).collect();
        Ok(if files.len() == count { files } else { Vec::new() })
    }
}
