//! ProxyConfig: proxy variables for services.
//!
//! They go into a file that only root reads, since systemd shows everybody what stands in a unit's `Environment=`.
use super::{OwnFile, Phase, Role, no_acts};
use crate::{Look, PlanError, Planned, Remark, Step};
use documents::{
    AnyDocument, Decoded,
    v1alpha1::{Proxy, environment_file, proxy_drop_in},
};
use host::{Change, Service};

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
    let variables = environment_file(&proxy.name);
    let file = OwnFile { path: &variables, contents: environment(proxy), mode: 0o600, confidential: document.sealed };
    let variables_change = file.plan(look, &mut planned)?;
    for service in &proxy.services {
        let drop_in = proxy_drop_in(service);
        let contents = format!("# Written by machineadm from ProxyConfig.\n[Service]\nEnvironmentFile={variables}\n");
        let file =
            OwnFile { path: &drop_in, contents: contents.into_bytes(), mode: 0o644, confidential: document.sealed };
        let changes = file.plan(look, &mut planned)? || variables_change;
        restart(service, vec![variables.clone(), drop_in], changes, look, &mut planned)?;
    }
    Ok(planned)
}

/// Restarts a service, also when only the restart is missing: an earlier run may have ended between the two.
fn restart(
    service: &str,
    reads: Vec<String>,
    changes: bool,
    look: &Look<'_>,
    planned: &mut Planned,
) -> Result<(), PlanError> {
    let state = look.service(service)?;
    if state == Service::Unmanaged {
        planned.remarks.push(Remark::AtServiceStart(service.to_owned()));
        return Ok(());
    }
    let mut is_due = changes;
    for file in &reads {
        is_due = is_due || !look.host.has_read(service, file)?;
    }
    if is_due {
        let (service, running) = (service.to_owned(), state == Service::Active);
        planned.steps.push(Step::Ensure(Change::Restart { service, reads, running }));
    }
    Ok(())
}

/// systemd's own quoting; nothing is expanded in such a file, so `%` and `$` need none.
fn environment(proxy: &Proxy) -> Vec<u8> {
    let line = |name: &str, value: &str| format!("{name}=\"{}\"\n", value.replace('\\', "\\\\").replace('"', "\\\""));
    let lines = proxy.variables.iter().map(|(name, value)| line(name, value.expose()));
    format!("# Written by machineadm from ProxyConfig.\n{}", lines.collect::<String>()).into_bytes()
}
