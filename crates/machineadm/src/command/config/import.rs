//! `machineadm config import`: kubeadm's documents become ours, and every field without a place is listed.
use super::{
    arguments::{Import, ImportKind},
    import_source, losses,
};
use crate::{
    command::{
        init::is_version_label,
        kubelet_patches,
        of_kubeadm::{self, FieldNote, ImportReport, ImportedJoin, UnsupportedField},
    },
    command_error::CommandError,
    context::without_errors,
    show::{self, count},
};
use documents::{
    Document, Source,
    v1alpha1::{InitConfig, JoinConfig},
};
use host::contract::Exit;
use kubeadm::{
    ComponentConfig, Severity,
    hub::{self, Documents},
    shown,
};
use secret::Secret;
use serde::Serialize;
use serde_json::Value;
use zeroize::Zeroizing;

/// The value of a document that has no place as a whole.
const WHOLE: &str = "(the whole document)";

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
    let Documents { cluster, init, join, reset, upgrade, cluster_status } = documents;
    let is_init = init.is_some() || cluster.is_some();
    let mut imported = match (asked.kind, is_init, join) {
        (None, true, Some(_)) => {
            let text = "the files are for two machines: an InitConfiguration or a ClusterConfiguration is for the first \
                        node, a JoinConfiguration for another one";
            return Err(CommandError::usage(text).with_remedy("pass --kind init or --kind join"));
        }
        (None | Some(ImportKind::Init), true, _) => import_init(init, cluster, components, asked)?,
        (None | Some(ImportKind::Join), _, Some(join)) => import_join(join, components, asked),
        (Some(ImportKind::Init), false, _) => {
            return Err(CommandError::invalid(
                "the files have neither an InitConfiguration nor a ClusterConfiguration",
            ));
        }
        (Some(ImportKind::Join), _, None) => {
            return Err(CommandError::invalid("the files have no JoinConfiguration"));
        }
        (None, false, None) => {
            let text = "the files have no InitConfiguration, ClusterConfiguration or JoinConfiguration";
            return Err(CommandError::invalid(text));
        }
    };
    let report = &mut imported.report;
    if reset.is_some() {
        report.refused("ResetConfiguration", WHOLE, "`machineadm reset` has flags and no document");
    }
    if upgrade.is_some() {
        report.refused("UpgradeConfiguration", WHOLE, "machineadm has no document for `kubeadm upgrade`");
    }
    if cluster_status.is_some() {
        report.note("ClusterStatus", "has no effect: kubeadm wrote it itself, up to Kubernetes 1.21");
    }
    Ok(imported)
}

fn import_init(
    init: Option<hub::InitConfiguration>,
    cluster: Option<hub::ClusterConfiguration>,
    components: &[ComponentConfig],
    asked: &Import,
) -> Result<Imported, CommandError> {
    let (mut document, mut report) = of_kubeadm::init(init, cluster, components);
    if let Some(version) = &asked.kubernetes_version {
        let named = std::mem::replace(&mut document.kubernetes_version, version.clone());
        if !named.is_empty() && named.trim_start_matches('v') != version.trim_start_matches('v') {
            let text = format!("is {named} in the files and {version} in the document");
            report.note("ClusterConfiguration.kubernetesVersion", text);
        }
    }
    let version = &document.kubernetes_version;
    if version.is_empty() || is_version_label(version) {
        let text = "the files name no complete Kubernetes version, which an InitConfig requires";
        return Err(CommandError::invalid(text).with_remedy("pass --kubernetes-version, such as v1.36.4"));
    }
    if document.certificate_key.is_some() {
        let text = "uploads the certificates, as kubeadm does with --upload-certs";
        report.note("InitConfiguration.certificateKey", text);
    }
    let InitConfig { bootstrap_token, certificate_key, .. } = &document;
    let has_token = bootstrap_token.as_ref().is_some_and(|spec| spec.token.is_some());
    let secrets = [("spec.bootstrapToken.token", has_token), ("spec.certificateKey", certificate_key.is_some())];
    Ok(Imported::new(&document, &secrets, report))
}

fn import_join(join: hub::JoinConfiguration, components: &[ComponentConfig], asked: &Import) -> Imported {
    let ImportedJoin { mut document, worker_patches, mut report } = of_kubeadm::join(join);
    document.kubernetes_version.clone_from(&asked.kubernetes_version);
    for component in components {
        report.note(&component.kind, "has no effect: `kubeadm join` does not read it");
    }
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
