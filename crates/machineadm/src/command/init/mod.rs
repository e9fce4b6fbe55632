//! `machineadm init`: kubeadm's flags become an InitConfig, which runs like any other configuration.
pub(crate) mod arguments;
mod closing;
mod document;

use super::{
    bootstrap,
    certs::upload,
    plan, small_file,
    token::{self, arguments::Connection},
};
use crate::{command_error::CommandError, context::without_errors, show};
use arguments::{Init, InitCommand, InitPhase, Phase, UploadPhase};
use closing::{ADMIN, Closing};
use documents::{
    Source,
    v1alpha1::{ClusterPart, InitConfig},
};
use host::contract::Exit;
use secret::Secret;
use std::path::Path;
use zeroize::Zeroizing;

pub(crate) fn run(asked: &Init, root: &Path) -> Result<Exit, CommandError> {
    if let Some(InitCommand::Phase(InitPhase { phase: Phase::UploadCerts(asked) })) = &asked.command {
        return upload_phase(asked, root);
    }
    small_file::one_standard_input(&[
        ("--token-file", &asked.cluster.token_file),
        ("--certificate-key-file", &asked.certificates.key.certificate_key_file),
        ("--config", &asked.config),
    ])?;
    let mut document = document::of(asked, root)?;
    if asked.print_config {
        let text = documents::write(None, &document);
        without_errors(documents::read(vec![source(&text)]))?;
        show::print(text.expose().clone())?;
        return Ok(Exit::Done);
    }
    if asked.dry_run {
        return plan::of_sources(vec![source(&documents::write(None, &document))], asked.output, root);
    }
    let token = with_token(&mut document)?;
    let closing = Closing {
        token: token.as_ref(),
        key: document.certificate_key.as_ref(),
        document: &document,
        skip_token: asked.skip_token_print,
        skip_key: asked.certificates.skip_certificate_key_print,
    };
    let sources = vec![source(&documents::write(None, &document))];
    bootstrap::of_sources_with(sources, asked.output, root, Some(&closing))
}

/// `init phase upload-certs`, as kubeadm's users know it.
fn upload_phase(asked: &UploadPhase, root: &Path) -> Result<Exit, CommandError> {
    if !asked.upload_certs {
        tell!("nothing is uploaded: pass --upload-certs to upload the certificates");
        return Ok(Exit::Done);
    }
    // As with kubeadm's phase: the private keys of this node are for its own cluster, whatever cluster kubectl uses here.
    let named = asked.connection.kubeconfig.clone().filter(|path| !path.as_os_str().is_empty());
    let kubeconfig = Some(named.unwrap_or_else(|| ADMIN.into()));
    upload::run(&asked.upload, &Connection { kubeconfig, context: asked.connection.context.clone() }, root)
}

fn source(text: &Secret<String>) -> Source {
    Source { name: "init".to_owned(), bytes: Zeroizing::new(text.expose().clone().into_bytes()) }
}

/// The token that the cluster gets: kubeadm would choose one that nobody knows, so it is generated here.
fn with_token(document: &mut InitConfig) -> Result<Option<Secret<String>>, CommandError> {
    if document.without.contains(&ClusterPart::BootstrapToken) {
        return Ok(None);
    }
    let spec = document.bootstrap_token.get_or_insert_default();
    if spec.token.is_none() {
        spec.token = Some(Secret::new(token::generated()?.expose().to_string()));
    }
    Ok(spec.token.clone())
}
