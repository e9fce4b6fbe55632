//! `machineadm certs delete`: ends an upload before its time.
use super::{SECRET, arguments::Delete, failures::FINALIZERS};
use crate::{
    command::{api, token::arguments::Connection},
    command_error::CommandError,
    show,
};
use cluster::{Effect, kubeadm_certs::DeletedCerts};
use host::contract::Exit;
use serde_json::json;

pub(super) fn run(asked: &Delete, connection: &Connection) -> Result<Exit, CommandError> {
    let (effect, tried) = if asked.dry_run { (Effect::DryRun, " (dry run)") } else { (Effect::Real, "") };
    let server = api::connect(api::kubeconfig(connection)?)?;
    let DeletedCerts { secret, remains, tokens } = server.delete_certs(effect).map_err(|error| api::failed(&error))?;
    if remains {
        let text = format!("the Secret {SECRET} is marked for deletion, but finalizers keep it: it can still be read");
        return Err(CommandError::failed(text).with_remedy(FINALIZERS));
    }
    match secret {
        true => warn!("a copy of the Secret that was read before can still be decrypted with its certificate key"),
        false => tell!("Secret {SECRET} does not exist"),
    }
    match asked.output {
        Some(output) => {
            let ids: Vec<_> = tokens.iter().map(|id| id.as_str()).collect();
            show::machine_readable(
                &json!({"secret": SECRET, "deleted": secret, "tokens": ids, "dryRun": asked.dry_run}),
                output,
            )?;
        }
        None => {
            let token = |id: &discovery::TokenId| format!("bootstrap token \"{id}\" deleted{tried}\n");
            let secret = if secret { format!("Secret {SECRET} deleted{tried}\n") } else { String::new() };
            show::print(secret + &tokens.iter().map(token).collect::<String>())?;
        }
    }
    Ok(Exit::Done)
}
