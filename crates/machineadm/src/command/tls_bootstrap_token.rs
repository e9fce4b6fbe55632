//! The token with which a joining machine authenticates, as flags give it.
use super::small_file;
use crate::command_error::CommandError;
use clap::Args;
use host::linux::input::Care;
use secret::Secret;

/// Where the token comes from, if it is not the one of discovery.
#[derive(Debug, Args)]
pub(crate) struct TlsBootstrapToken {
    /// The bootstrap token that authenticates this machine at the API server, if it is not --token
    #[arg(
        long = "tls-bootstrap-token",
        id = "tls_bootstrap_token",
        value_name = "TOKEN",
        conflicts_with = "tls_bootstrap_token_file"
    )]
    pub(crate) token: Option<String>,
    /// Read that token from a file or, with `-`, from standard input
    #[arg(long = "tls-bootstrap-token-file", id = "tls_bootstrap_token_file", value_name = "FILE")]
    pub(crate) file: Option<String>,
}

impl TlsBootstrapToken {
    /// Whether one is given.
    pub(crate) const fn is_given(&self) -> bool {
        self.token.is_some() || self.file.is_some()
    }

    /// The token as it was given; a warning if other users can read its file.
    pub(crate) fn read(&self) -> Result<Option<Secret<String>>, CommandError> {
        let of_file = self.file.as_deref().map(|name| {
            let text = small_file::text(name, Care::Applying)?;
            small_file::warn_if_others_read("--tls-bootstrap-token-file", name, "the token");
            Ok::<_, CommandError>(Secret::new(text.trim_end().to_owned()))
        });
        Ok(self.token.clone().map(Secret::new).or(of_file.transpose()?))
    }
}
