//! ProxyConfig: proxy variables for services.
//!
//! They go into a file that only root reads, since systemd shows everybody what stands in a unit's `Environment=`.
use super::{OwnFile, Phase, Role, no_acts, service_files::ServiceFiles};
use crate::{Look, PlanError, Planned};
use documents::{
    AnyDocument, Decoded,
    v1alpha1::{Proxy, environment_file, proxy_drop_in},
};

pub(super) const PHASE: Phase = Phase {
    kind: "ProxyConfig",
    summary: "gives services their proxy variables and restarts those that run without them",
    role: Role::Keeps,
    plan,
    acts: no_acts,
};

fn plan(document: &Decoded, look: &Look<'_>) -> Result<Planned, PlanError> {
    let mut planned = Planned::default();
    let AnyDocument::Proxy(proxy) = &document.body else { return Ok(planned) };
    let variables = Variables::plan(proxy, document, look, &mut planned)?;
    for service in &proxy.services {
        variables.of_service(service, look, &mut planned)?.plan(look, &mut planned)?;
    }
    Ok(planned)
}

/// The file with the variables of a proxy, planned.
pub(super) struct Variables<'a> {
    path: String,
    changes: bool,
    document: &'a Decoded,
}

impl<'a> Variables<'a> {
    /// Plans the file.
    pub(super) fn plan(
        proxy: &Proxy,
        document: &'a Decoded,
        look: &Look<'_>,
        planned: &mut Planned,
    ) -> Result<Self, PlanError> {
        let path = environment_file(&proxy.name);
        let contents = environment(proxy, &document.kind);
        let changes =
            OwnFile { path: &path, contents, mode: 0o600, confidential: document.sealed }.plan(look, planned)?;
        Ok(Self { path, changes, document })
    }

    /// Plans the drop-in that gives them to a service; what it then reads.
    pub(super) fn of_service(
        &self,
        service: &str,
        look: &Look<'_>,
        planned: &mut Planned,
    ) -> Result<ServiceFiles, PlanError> {
        let Self { path, changes, document } = self;
        let drop_in = proxy_drop_in(service);
        let contents = format!("# Written by machineadm from {}.\n[Service]\nEnvironmentFile={path}\n", document.kind);
        let file =
            OwnFile { path: &drop_in, contents: contents.into_bytes(), mode: 0o644, confidential: document.sealed };
        let changes = file.plan(look, planned)? || *changes;
        Ok(ServiceFiles { service: service.to_owned(), reads: vec![path.clone(), drop_in], changes })
    }
}

/// systemd's own quoting; nothing is expanded in such a file, so `%` and `$` need none.
fn environment(proxy: &Proxy, kind: &str) -> Vec<u8> {
    let line = |name: &str, value: &str| format!("{name}=\"{}\"\n", value.replace('\\', "\\\\").replace('"', "\\\""));
    let lines = proxy.variables.iter().map(|(name, value)| line(name, value.expose()));
    format!("# Written by machineadm from {kind}.\n{}", lines.collect::<String>()).into_bytes()
}
