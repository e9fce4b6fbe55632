//! Proxy variables for services.
//!
//! They go into a file that only root reads, since systemd shows everybody what stands in a unit's `Environment=`.
use super::files::own_file;
use crate::{Known, Phase, PlanError, Planned, Remark, Step, Wanted};
use documents::v1alpha1::Proxy;
use host::{
    Change, Condition, Inspect, Service,
    contract::{PROXY_DIR, PROXY_DROP_IN, UNIT_DIR},
};
use std::time::Duration;

const UP_WITHIN: Duration = Duration::from_secs(90);

pub(crate) struct Proxies;

impl Phase for Proxies {
    fn name(&self) -> &'static str {
        "proxy"
    }

    fn summary(&self) -> &'static str {
        "gives services their proxy variables and restarts those that run without them"
    }

    fn plan(&self, machine: &Wanted, _: &Known, seen: &dyn Inspect) -> Result<Planned, PlanError> {
        let mut planned = Planned::default();
        for proxy in &machine.proxies {
            let variables = format!("{PROXY_DIR}/{}.env", proxy.name);
            let written = own_file(seen, &variables, environment_file(proxy), 0o600)?;
            let variables_change = written.is_some();
            planned.steps.extend(written);
            for service in &proxy.services {
                service_steps(service, &variables, variables_change, seen, &mut planned)?;
            }
        }
        Ok(planned)
    }
}

fn service_steps(
    service: &str,
    variables: &str,
    variables_change: bool,
    seen: &dyn Inspect,
    planned: &mut Planned,
) -> Result<(), PlanError> {
    let drop_in = format!("{UNIT_DIR}/{service}.service.d/{PROXY_DROP_IN}");
    let contents = format!("# Written by machineadm from ProxyConfig.\n[Service]\nEnvironmentFile={variables}\n");
    let written = own_file(seen, &drop_in, contents.into_bytes(), 0o644)?;
    let change = variables_change || written.is_some();
    planned.steps.extend(written);
    let state = seen.service(service)?;
    if state == Service::Unmanaged {
        planned.remarks.push(Remark::AtServiceStart(service.to_owned()));
        return Ok(());
    }
    let reads = vec![variables.to_owned(), drop_in];
    // Also when only the restart is missing: an earlier run may have ended between the two.
    if change || !seen.has_read(service, &reads)? {
        let running = state == Service::Active;
        planned.steps.push(Step::Ensure(Change::Restart { service: service.to_owned(), reads, running }));
        if running {
            planned.steps.push(Step::Wait(Condition::ServiceActive(service.to_owned()), UP_WITHIN));
        }
    }
    Ok(())
}

/// systemd's own quoting; nothing is expanded in such a file, so `%` and `$` need none.
fn environment_file(proxy: &Proxy) -> Vec<u8> {
    let line = |name: &str, value: &str| format!("{name}=\"{}\"\n", value.replace('\\', "\\\\").replace('"', "\\\""));
    let lines = proxy.variables.iter().map(|(name, value)| line(name, value.expose()));
    format!("# Written by machineadm from ProxyConfig.\n{}", lines.collect::<String>()).into_bytes()
}
