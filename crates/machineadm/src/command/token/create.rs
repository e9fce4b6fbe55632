//! `machineadm token create`: everything is checked before the first Secret is made.
use super::{
    arguments::{Create, Token},
    join_command::{CertificateKey, Invitation},
    taken, tried, wanted,
};
use crate::{
    command::api,
    command_error::{CommandError, all_succeeded},
    show::tokens::{Made, Stream},
};
use cluster::{ApiServer, Created, Effect};
use discovery::{TokenSettings, Usage, token_secret};
use host::contract::Exit;
use jiff::Timestamp;
use objects::{Object, Secret};

pub(super) fn run(asked: &Create, token: &Token) -> Result<Exit, CommandError> {
    let now = Timestamp::now();
    let tokens = wanted::tokens(asked, now)?;
    let kubeconfig = api::kubeconfig(&token.connection)?;
    let mut telling = Telling {
        key: certificate_key(asked)?,
        invitation: asked.print_join_command.then(|| Invitation::of(&kubeconfig)).transpose()?,
        effect: token.effect(),
        stream: Stream::of(asked.output),
    };
    let maker = Maker { server: api::connect(kubeconfig)?, effect: token.effect(), now };
    maker.all_ids_are_free(&tokens)?;
    let mut errors = Vec::new();
    for settings in &tokens {
        match maker.make(settings).map(|live| telling.tell(&live)) {
            Ok(Ok(())) => {}
            Err(error) => errors.push(Err(error)),
            // A further token would exist without anybody knowing it.
            Ok(Err(lost)) => {
                errors.push(Err(lost));
                break;
            }
        }
    }
    all_succeeded(errors)?;
    Ok(Exit::Done)
}

/// An empty one is none, as kubeadm has it.
fn certificate_key(asked: &Create) -> Result<Option<CertificateKey>, CommandError> {
    match asked.certificate_key.as_str() {
        "" => Ok(None),
        _ if !asked.print_join_command => Err(CommandError::invalid("--certificate-key requires --print-join-command")),
        key => CertificateKey::read(key).map(Some),
    }
}

struct Maker {
    server: ApiServer,
    effect: Effect,
    now: Timestamp,
}

impl Maker {
    /// Of several tokens none is made if one can't be. A single one is refused by the server itself.
    fn all_ids_are_free(&self, tokens: &[TokenSettings]) -> Result<(), CommandError> {
        let mut errors = Vec::new();
        for settings in tokens.iter().filter(|_| tokens.len() > 1) {
            match self.live(settings) {
                Ok(Some(live)) if !settings.was_made_as(&live, self.now) => {
                    errors.push(Err(taken::error(&settings.token.id, &live, self.now)));
                }
                Ok(_) => {}
                // The next one would wait for the same server.
                Err(error) => {
                    errors.push(Err(error));
                    break;
                }
            }
        }
        all_succeeded(errors)
    }

    /// Makes one token, and returns what the cluster has now.
    fn make(&self, wanted: &TokenSettings) -> Result<Live, CommandError> {
        let object = Object::from(wanted.secret());
        let body = api::body(&object)?;
        let created = self.server.create(&object.collection(), &body, self.effect);
        match created.map_err(|error| failure(wanted, &api::said(&error)))? {
            Created::Created(made) => Ok(Live { settings: settings(wanted, &api::read(made)?)?, was_there: false }),
            // The answer to an earlier try of ours may have been lost, or a run that was cut short made it.
            Created::Exists { maybe_ours } => Ok(Live { settings: self.existing(wanted)?, was_there: !maybe_ours }),
        }
    }

    /// The one that is there, if it is what is wanted.
    fn existing(&self, wanted: &TokenSettings) -> Result<TokenSettings, CommandError> {
        let Some(live) = self.live(wanted)? else {
            let id = &wanted.token.id;
            let text = format!("a token with id \"{id}\" existed, and was deleted at the same time: run again");
            return Err(CommandError::failed(text));
        };
        if !wanted.was_made_as(&live, self.now) {
            return Err(taken::error(&wanted.token.id, &live, self.now));
        }
        settings(wanted, &live)
    }

    fn live(&self, wanted: &TokenSettings) -> Result<Option<Secret>, CommandError> {
        let path = Object::from(wanted.secret()).path();
        let live = self.server.get(&path).map_err(|error| failure(wanted, &api::said(&error)))?;
        live.map(api::read).transpose()
    }
}

/// A token as the cluster has it.
struct Live {
    settings: TokenSettings,
    /// Whether it was there before this run.
    was_there: bool,
}

fn settings(wanted: &TokenSettings, live: &Secret) -> Result<TokenSettings, CommandError> {
    let other = |reason| format!("the cluster created a different Secret: {reason}");
    TokenSettings::read(live).map_err(|reason| failure(wanted, &other(reason)))
}

/// Of several tokens, people have to know which one failed.
fn failure(wanted: &TokenSettings, problem: &str) -> CommandError {
    CommandError::failed(format!("failed to create bootstrap token \"{}\": {problem}", wanted.token.id))
}

/// The result on standard output; what it risks on standard error.
struct Telling {
    invitation: Option<Invitation>,
    key: Option<CertificateKey>,
    effect: Effect,
    stream: Stream,
}

impl Telling {
    fn tell(&mut self, Live { settings: live, was_there }: &Live) -> Result<(), CommandError> {
        let join_command =
            self.invitation.as_ref().map(|invitation| invitation.command(&live.token, self.key.as_ref()));
        let line = join_command.clone().unwrap_or_else(|| format!("{}\n", live.token.expose().as_str()));
        let dry_run = self.effect == Effect::DryRun;
        let mut made = Made::from(live);
        made.join_command = join_command.as_deref().map(str::trim_end);
        (made.existed, made.dry_run) = (*was_there, dry_run);
        let lost = |lost: CommandError| if dry_run { lost } else { lost.with_remedy(orphan(live)) };
        self.stream.put(&line, &made).map_err(lost)?;
        if *was_there {
            tell!("the token {} already exists with the same settings", live.token.id);
        } else if dry_run {
            let name = token_secret::name(&live.token.id);
            tell!("Secret {}/{name} would be created{}", token_secret::NAMESPACE, tried(self.effect));
            return Ok(());
        }
        if live.usages.contains(Usage::Authentication.name()) {
            warn!("{}", risk(live));
        }
        if self.invitation.is_some() && !live.usages.contains(Usage::Signing.name()) {
            warn!("this token has no signing usage: machines cannot discover the cluster with it");
        }
        Ok(())
    }
}

/// What to do about a token that exists and could not be printed.
fn orphan(settings: &TokenSettings) -> String {
    let id = &settings.token.id;
    format!("the token exists: `machineadm token list` prints it, `machineadm token delete {id}` deletes it")
}

/// What holders of a token for authentication can do. Only the name of a node limits which Secrets they can read, and
/// they choose the name.
fn risk(settings: &TokenSettings) -> String {
    let (until, id) = (until(settings), &settings.token.id);
    format!(
        "{until} anyone who has this token can join this cluster as a node, under any name, and a node can read the \
         Secrets of its pods\nremedy: delete the token when it is no longer needed: machineadm token delete {id}"
    )
}

fn until(settings: &TokenSettings) -> String {
    match settings.expires {
        None => "until it is deleted,".to_owned(),
        Some(moment) => format!("until {}", taken::in_words(moment)),
    }
}
