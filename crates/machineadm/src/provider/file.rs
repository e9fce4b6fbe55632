//! Files of the machine that runs machineadm, whatever `--root` is: a seed that somebody mounted, a passphrase in an image.
use super::without_line_end;
use documents::{
    PassphraseProvider, ProviderError, RemoteProvider, Request, Secret, limits::PASSPHRASE_MOST, v1alpha1::file_path,
};
use engine::outcome::chain;
use host::linux::input::{self, Care};
use zeroize::Zeroizing;

pub(super) struct File;

impl RemoteProvider for File {
    fn fetch(&self, request: &Request<'_>) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
        read(request, Care::Applying, request.limit)
    }
}

impl PassphraseProvider for File {
    fn passphrase(&self, request: &Request<'_>) -> Result<Secret<Vec<u8>>, ProviderError> {
        // A line end may stand behind the longest.
        read(request, Care::Private, PASSPHRASE_MOST + 2).map(without_line_end)
    }
}

fn read(request: &Request<'_>, care: Care, limit: usize) -> Result<Zeroizing<Vec<u8>>, ProviderError> {
    if !request.rights.local_files {
        return Err(ProviderError::not_allowed("local files", "localFiles"));
    }
    let path = file_path(request.uri.expose()).ok_or_else(|| ProviderError::new("must be `file://` and a path"))?;
    input::read(path, care, limit as u64).map_err(|error| {
        let told = ProviderError::new(chain(&error));
        match error.advice() {
            Some(advice) => told.hint(advice),
            None => told,
        }
    })
}
