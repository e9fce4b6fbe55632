//! `machineadm certs list`: what is uploaded, and until when; nothing secret.
use super::{SECRET, arguments::List};
use crate::{
    command::{api, token::arguments::Connection},
    command_error::CommandError,
    show,
};
use cluster::kubeadm_certs::{CertsState, OwnerState};
use discovery::Moment;
use host::contract::Exit;
use jiff::Timestamp;
use serde_json::{Value, json};

pub(super) fn run(asked: &List, connection: &Connection) -> Result<Exit, CommandError> {
    let server = api::connect(api::kubeconfig(connection)?)?;
    let state = server.certs_state().map_err(|error| api::failed(&error))?;
    let now = server.time().map_err(|error| api::failed(&error))?;
    if let Some(state) = &state {
        state.problems(now).iter().for_each(|problem| warn!("{problem}"));
    }
    match (asked.output, &state) {
        (Some(output), state) => show::machine_readable(&value(state.as_ref(), now), output)?,
        (None, Some(state)) => show::print_text(&text(state, now))?,
        (None, None) => tell!("no certificates are uploaded: the Secret {SECRET} does not exist"),
    }
    Ok(Exit::Done)
}

/// What a reader must be warned of.
trait Problems {
    fn problems(&self, now: Timestamp) -> Vec<String>;
}

impl Problems for CertsState {
    fn problems(&self, now: Timestamp) -> Vec<String> {
        let delete = "delete it with `machineadm certs delete` when it is no longer needed";
        let owner = match &self.owner {
            OwnerState::None => {
                Some(format!("no bootstrap token owns the Secret {SECRET}, so the cluster never deletes it: {delete}"))
            }
            OwnerState::Gone(owner) => Some(format!(
                "the bootstrap token \"{}\" that owns the Secret {SECRET} does not exist, and the garbage collector has not \
                 deleted the Secret yet: {delete}",
                owner.id
            )),
            OwnerState::Live(owner, expiry) if expiry.has_passed(now) => Some(format!(
                "the bootstrap token \"{}\" has expired, and the token cleaner has not deleted it yet: {delete}",
                owner.id
            )),
            OwnerState::Live(..) => None,
        };
        let kind = (!self.has_right_type)
            .then(|| format!("the Secret {SECRET} does not have the type Opaque: kubeadm did not create it"));
        owner.into_iter().chain(kind).collect()
    }
}

fn expires(state: &CertsState, now: Timestamp) -> Option<Moment> {
    match &state.owner {
        OwnerState::Live(_, expiry) => expiry.ahead(now),
        OwnerState::None | OwnerState::Gone(_) => None,
    }
}

fn text(state: &CertsState, now: Timestamp) -> String {
    let owner = match &state.owner {
        OwnerState::None => "none".to_owned(),
        OwnerState::Gone(owner) => format!("bootstrap token {} (deleted)", owner.id),
        OwnerState::Live(owner, _) => format!("bootstrap token {}", owner.id),
    };
    let end = match (&state.owner, expires(state, now)) {
        _ if state.being_deleted => "now: it is being deleted".to_owned(),
        (_, Some(end)) => {
            format!("{end} (in {})", objects::Duration::seconds(end.since(now).as_nanoseconds() / 1_000_000_000))
        }
        (OwnerState::Live(_, expiry), None) if expiry.has_passed(now) => "expired".to_owned(),
        (OwnerState::Gone(_), _) => "expired: the token that owned it is deleted".to_owned(),
        _ => "never".to_owned(),
    };
    let entries = state.entries.join(", ");
    format!("secret    {SECRET}\nentries   {entries}\nowner     {owner}\nexpires   {end}\n")
}

fn value(state: Option<&CertsState>, now: Timestamp) -> Value {
    let Some(state) = state else { return json!({"secret": SECRET, "exists": false}) };
    let end = expires(state, now);
    let owner = match &state.owner {
        OwnerState::None => Value::Null,
        OwnerState::Gone(owner) => json!({"token": owner.id.as_str(), "exists": false}),
        OwnerState::Live(owner, _) => json!({"token": owner.id.as_str(), "exists": true}),
    };
    json!({
        "secret": SECRET,
        "exists": true,
        "created": state.created,
        "entries": state.entries,
        "owner": owner,
        "expires": end.map(|end| end.to_string()),
        "secondsLeft": end.map(|end| end.since(now).as_nanoseconds() / 1_000_000_000),
        "beingDeleted": state.being_deleted,
        "problems": state.problems(now),
    })
}
