//! `machineadm config import`: kubeadm's documents become ours, and every field without a place is listed.
use super::{
    arguments::{Import, ImportKind},
    import_source, losses,
};
use crate::{
    command::kubelet_patches,
    command_error::CommandError,
    context::without_errors,
    show::{self, count},
};
use documents::{
    Document, Source,
    v1alpha1::{InitConfig, JoinConfig},
};
use host::contract::Exit;
use kubeadm::{ComponentConfig, Severity, hub::Documents, shown};
use kubeadm_import::{DocumentKind, FieldNote, ImportReport, ImportedInit, ImportedJoin, UnsupportedField, Wanted};
use secret::Secret;
use serde::Serialize;
use serde_json::Value;
use zeroize::Zeroizing;

pub(super) fn run(asked: &Import) -> Result<Exit, CommandError> {
    let read = import_source::read(asked)?;
    let problems: String = read.problems.iter().map(|problem| format!("{problem}\n")).collect();
    if read.has_errors() {
        return Err(CommandError::report(Exit::Input, problems));
    }
    warn_report!("{problems}");
    let imported = imported(read.documents, &read.component_configs, asked)?;
    let is_refused = !imported.report.unsupported.is_empty() && !asked.allow_loss;
    let severity = if is_refused { Severity::Error } else { Severity::Warning };
    let messages = imported.messages(severity);
    if !is_refused {
        let bytes = Zeroizing::new(imported.text.expose().clone().into_bytes());
        without_errors(documents::read(vec![Source { name: "import".to_owned(), bytes }]))?;
        warn_report!("{messages}");
    }
    match asked.output {
        Some(output) => show::machine_readable(&imported.result(severity), output)?,
        None if !is_refused => show::print(imported.text.expose())?,
        None => {}
    }
    if is_refused { Err(CommandError::report(Exit::Input, messages)) } else { Ok(Exit::Done) }
}

/// A document of ours, with what it does not hold.
struct Imported {
    /// As `-f` takes it.
    text: Secret<String>,
    /// The fields that hold secrets.
    secrets: Vec<&'static str>,
    report: ImportReport,
}

/// The result for programs.
#[derive(Serialize)]
struct ImportResult<'r> {
    /// Empty if a loss was refused.
    documents: Vec<Value>,
    losses: &'r [UnsupportedField],
    notes: &'r [FieldNote],
}

impl Drop for ImportResult<'_> {
    fn drop(&mut self) {
        self.documents.iter_mut().for_each(objects::wipe);
    }
}

impl Imported {
    fn new<D: Document + Serialize>(document: &D, secrets: &[(&'static str, bool)], report: ImportReport) -> Self {
        let secrets = secrets.iter().filter(|(_, is_set)| *is_set).map(|(field, _)| *field).collect();
        Self { text: documents::write(None, document), secrets, report }
    }

    /// For programs; without the document where losses are errors.
    fn result(&self, of_losses: Severity) -> ImportResult<'_> {
        let document = (of_losses == Severity::Warning).then(|| kubeadm::parse_yaml(self.text.expose()).ok()).flatten();
        let ImportReport { unsupported, notes, .. } = &self.report;
        ImportResult { documents: document.into_iter().collect(), losses: unsupported, notes }
    }

    /// For people: losses, notes, and a warning about secrets in what is printed.
    fn messages(&self, of_losses: Severity) -> String {
        let ImportReport { kind, unsupported, notes } = &self.report;
        let mut text = String::new();
        if !unsupported.is_empty() {
            let word = if of_losses == Severity::Error { "error" } else { "warning" };
            let fields = count(unsupported.len(), "field");
            let have = if unsupported.len() == 1 { "has" } else { "have" };
            text += &format!("{word}: {fields} of kubeadm's documents {have} no place in the {kind}\n");
        }
        let general = self.report.no_field();
        for UnsupportedField { path, value, why } in unsupported {
            let why = if *why == general { String::new() } else { format!("   ({})", shown(why)) };
            text += &format!("  {}   {}{why}\n", shown(path), shown(value));
        }
        for FieldNote { path, text: note } in notes {
            text += &format!("note: {} {}\n", shown(path), shown(note));
        }
        if of_losses == Severity::Error {
            return text + losses::ALLOW;
        }
        if !self.secrets.is_empty() {
            let fields = self.secrets.join(", ");
            text += &format!("warning: the printed document holds secrets ({fields}): save it with mode 0600\n");
        }
        text
    }
}

/// The one document that kubeadm's become.
fn imported(documents: Documents, components: &[ComponentConfig], asked: &Import) -> Result<Imported, CommandError> {
    let kind = asked.kind.map(|kind| match kind {
        ImportKind::Init => DocumentKind::InitConfig,
        ImportKind::Join => DocumentKind::JoinConfig,
    });
    let wanted = Wanted { kind, kubernetes_version: asked.kubernetes_version.clone() };
    Ok(match kubeadm_import::import(documents, components, &wanted)? {
        kubeadm_import::Imported::Init(imported) => of_init(*imported),
        kubeadm_import::Imported::Join(imported) => of_join(*imported),
    })
}

fn of_init(imported: ImportedInit) -> Imported {
    let ImportedInit { document, report } = imported;
    let InitConfig { bootstrap_token, certificate_key, .. } = &document;
    let has_token = bootstrap_token.as_ref().is_some_and(|spec| spec.token.is_some());
    let secrets = [("spec.bootstrapToken.token", has_token), ("spec.certificateKey", certificate_key.is_some())];
    Imported::new(&document, &secrets, report)
}

/// The patches of a worker's kubelet are read here, where the files are.
fn of_join(imported: ImportedJoin) -> Imported {
    let ImportedJoin { mut document, worker_patches, mut report } = imported;
    if let Some(directory) = worker_patches {
        match kubelet_patches::read(&directory) {
            Ok(members) => document.kubelet = members,
            Err(error) => {
                let cause = error.text().trim_start_matches("--patches").trim_start_matches(':').trim();
                let why =
                    format!("put its patches of the kubelet into spec.kubelet; they cannot be read here: {cause}");
                report.refused("JoinConfiguration.patches.directory", directory, why);
            }
        }
    }
    let JoinConfig { discovery, tls_bootstrap_token, control_plane, .. } = &document;
    let has_token = discovery.token.as_ref().is_some_and(|spec| spec.token.is_some());
    let has_key = control_plane.as_ref().is_some_and(|spec| spec.certificate_key.is_some());
    let secrets = [
        ("spec.discovery.token.token", has_token),
        ("spec.tlsBootstrapToken", tls_bootstrap_token.is_some()),
        ("spec.controlPlane.certificateKey", has_key),
    ];
    Imported::new(&document, &secrets, report)
}
