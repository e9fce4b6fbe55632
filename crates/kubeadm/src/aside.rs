//! What a kubeadm file can't say, and what becomes of it: a flag, an equivalent, or a named loss.
use crate::{problem::shown, version::ApiVersion};
use serde::Serialize;

/// A command-line flag that says what the file can't.
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// The field's path.
    pub path: String,
    /// The command that takes it: `init` or `join`.
    pub command: &'static str,
    /// The flag, such as `--dry-run`.
    pub name: &'static str,
    /// Its value, if it has one; a certificate key is secret.
    pub value: Option<String>,
    /// Whether the value must not be shown.
    #[serde(skip)]
    pub secret: bool,
}

impl Flag {
    /// As one argument of kubeadm.
    pub fn argument(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// As it may be shown to people.
    pub fn shown(&self) -> String {
        if self.secret { format!("{}=[secret]", self.name) } else { shown(&self.argument()) }
    }
}

impl std::fmt::Debug for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Flag({} {} for {})", self.command, self.shown(), shown(&self.path))
    }
}

/// A value that the target can't be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// The field's path, beginning with its kind.
    pub path: String,
    /// The value, whole, so that it can be restored; never a secret. [`shown`] makes it fit for a terminal.
    pub value: String,
    /// The first kubeadm API that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_api: Option<ApiVersion>,
    /// The first Kubernetes minor whose kubeadm has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_minor: Option<u32>,
    /// The last Kubernetes minor whose kubeadm had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_minor: Option<u32>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

/// Something that is said in another way, without a loss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The field's path, beginning with its kind.
    pub path: String,
    /// Where it is said now, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// What happened.
    pub kind: NoteKind,
}

/// What happened to a value that is not lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NoteKind {
    /// It is what kubeadm does anyway.
    Default,
    /// This command never looks at it.
    NoEffect,
    /// Arguments are in another order; each is there.
    Sorted,
    /// It was set to this, for the target.
    Set(String),
    /// It is said by something of the same effect.
    Equivalent(String),
}

impl NoteKind {
    /// Whether people want to hear of it.
    pub const fn is_worth_telling(&self) -> bool {
        matches!(self, Self::Set(_) | Self::Equivalent(_))
    }
}

/// Since when something can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Since {
    pub(crate) api: ApiVersion,
    pub(crate) minor: u32,
}

impl Since {
    pub(crate) const V1BETA2: Self = Self { api: ApiVersion::V1Beta2, minor: 15 };
    pub(crate) const V1BETA3: Self = Self { api: ApiVersion::V1Beta3, minor: 22 };
    pub(crate) const V1BETA4: Self = Self { api: ApiVersion::V1Beta4, minor: 31 };
    pub(crate) const V1: Self = Self { api: ApiVersion::V1, minor: 37 };

    /// Within v1beta4, from a later minor on.
    pub(crate) const fn minor(minor: u32) -> Self {
        Self { api: ApiVersion::V1Beta4, minor }
    }
}

/// Collects what does not fit, with the path of where the conversion is.
#[derive(Debug)]
pub(crate) struct Aside {
    /// The target's minor.
    pub(crate) minor: u32,
    path: String,
    pub(crate) flags: Vec<Flag>,
    pub(crate) losses: Vec<Loss>,
    pub(crate) notes: Vec<Note>,
}

impl Aside {
    pub(crate) const fn new(minor: u32) -> Self {
        Self { minor, path: String::new(), flags: Vec::new(), losses: Vec::new(), notes: Vec::new() }
    }

    /// Converts a member; `field` is its name in our types or a kind.
    pub(crate) fn within<T>(&mut self, field: &str, convert: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        push_wire_name(&mut self.path, field);
        let converted = convert(self);
        self.path.truncate(length);
        converted
    }

    /// Converts an element of a list that has a name.
    pub(crate) fn item<T>(&mut self, name: &str, convert: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push_str(&format!("[{name}]"));
        let converted = convert(self);
        self.path.truncate(length);
        converted
    }

    /// Names a loss right here.
    pub(crate) fn lose(&mut self, value: impl ToString, since: Since) {
        let (since_api, since_minor) = (Some(since.api), Some(since.minor));
        self.losses.push(Loss { since_api, since_minor, ..self.loss(value) });
    }

    /// Names the loss of something that went out of use.
    pub(crate) fn lose_old(&mut self, value: impl ToString, until_minor: u32) {
        self.losses.push(Loss { until_minor: Some(until_minor), ..self.loss(value) });
    }

    /// Names the loss of something that does not depend on the API, but on the minor alone.
    pub(crate) fn lose_until_later(&mut self, value: impl ToString, since_minor: u32) {
        self.losses.push(Loss { since_minor: Some(since_minor), ..self.loss(value) });
    }

    /// Names a loss that no version would avoid.
    pub(crate) fn lose_because(&mut self, value: impl ToString, why: &'static str) {
        self.losses.push(Loss { why: Some(why), ..self.loss(value) });
    }

    fn loss(&self, value: impl ToString) -> Loss {
        let (path, value) = (self.path.clone(), value.to_string());
        Loss { path, value, since_api: None, since_minor: None, until_minor: None, why: None }
    }

    /// Whether what is converted is for `kubeadm join`.
    pub(crate) fn is_join(&self) -> bool {
        self.path.starts_with("JoinConfiguration")
    }

    /// Carries the value here by a flag.
    pub(crate) fn flag(&mut self, name: &'static str, value: Option<String>) {
        let command = if self.is_join() { "join" } else { "init" };
        self.flags.push(Flag { path: self.path.clone(), command, name, value, secret: false });
    }

    /// Carries a secret by a flag.
    pub(crate) fn secret_flag(&mut self, name: &'static str, value: &str) {
        self.flag(name, Some(value.to_owned()));
        if let Some(flag) = self.flags.last_mut() {
            flag.secret = true;
        }
    }

    /// Tells what happened to the value here.
    pub(crate) fn note(&mut self, kind: NoteKind) {
        self.notes.push(Note { path: self.path.clone(), now: None, kind });
    }

    /// Tells that the value here is said elsewhere.
    pub(crate) fn moved(&mut self, now: &str, kind: NoteKind) {
        self.notes.push(Note { path: self.path.clone(), now: Some(now.to_owned()), kind });
    }

    /// Drops a member: without a word if unset, with a note if kubeadm does so anyway, otherwise as a loss.
    pub(crate) fn drop_field<T>(&mut self, field: &str, value: Option<&T>, default: &T, since: Since)
    where
        T: PartialEq + ToString + ?Sized,
    {
        let Some(value) = value else { return };
        self.within(field, |aside| {
            if value == default { aside.note(NoteKind::Default) } else { aside.lose(value.to_string(), since) }
        });
    }
}

impl Aside {
    /// Drops a member that went out of use: as a loss, unless kubeadm does so anyway.
    pub(crate) fn drop_old<T>(&mut self, field: &str, value: Option<&T>, default: &T, until_minor: u32)
    where
        T: PartialEq + ToString + ?Sized,
    {
        let Some(value) = value else { return };
        self.within(field, |aside| {
            if value == default {
                aside.note(NoteKind::Default)
            } else {
                aside.lose_old(value.to_string(), until_minor)
            }
        });
    }
}

/// Names that kubeadm does not write as plain camel case.
const ODD_NAMES: &[(&str, &str)] = &[
    ("allow_rc_upgrades", "allowRCUpgrades"),
    ("cert_sans", "certSANs"),
    ("etcd_api_call", "etcdAPICall"),
    ("kubernetes_api_call", "kubernetesAPICall"),
    ("local_api_endpoint", "localAPIEndpoint"),
    ("peer_cert_sans", "peerCertSANs"),
    ("server_cert_sans", "serverCertSANs"),
    ("unsafe_skip_ca_verification", "unsafeSkipCAVerification"),
];

fn push_wire_name(path: &mut String, field: &str) {
    if let Some((_, name)) = ODD_NAMES.iter().find(|(odd, _)| *odd == field) {
        return path.push_str(name);
    }
    let mut words = field.split('_');
    path.push_str(words.next().unwrap_or_default());
    for word in words {
        let mut letters = word.chars();
        path.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        path.push_str(letters.as_str());
    }
}
