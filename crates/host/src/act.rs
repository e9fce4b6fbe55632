//! What is run for its effect, and what a look or the journal says of it.
use documents::{
    Secret,
    v1alpha1::{Command, Program},
};
use sha2::{Digest, Sha256};

/// Something run for its effect, which a repetition might not leave as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A command of the user's.
    Command(Command),
    /// `kubeadm init`.
    Init(Init),
}

/// `kubeadm init`, complete: nothing is left to decide when it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Init {
    /// kubeadm's own file; it may hold a token.
    pub file: Secret<String>,
    /// What this kubeadm takes only on its command line.
    pub flags: Vec<String>,
    /// The API version of that file, for people.
    pub api_version: String,
    /// The version of kubeadm that it is written for.
    pub version: String,
    /// The container runtime's socket, for taking back a run that was cut short.
    pub runtime_socket: String,
}

impl Act {
    /// The name for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Command(command) => &command.name,
            Self::Init(_) => "kubeadm init",
        }
    }

    /// The name under which the journal remembers it: another definition under the same name is another act.
    ///
    /// The environment is left out: a token in it may be renewed without the work being new.
    pub fn id(&self) -> String {
        let Self::Command(Command { name, program, creates, unless, .. }) = self else {
            // A machine begins one cluster: half-done work is ours, whatever the configuration says by now.
            return self.name().to_owned();
        };
        let mut digest = Sha256::new();
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        };
        match program {
            Program::Argv(argv) => argv.iter().for_each(|word| add(word.as_bytes())),
            Program::Shell(script) => {
                add(b"\0shell");
                add(script.expose().as_bytes());
            }
        }
        add(creates.as_deref().unwrap_or_default().as_bytes());
        add(unless.as_ref().map(|text| text.expose().as_bytes()).unwrap_or_default());
        format!("command {name} {}", hex(&digest.finalize()[..8]))
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a look at the machine says of an act's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing of it is there.
    Absent,
    /// Some of it is there.
    Partial,
    /// All of it is there.
    Done,
    /// There is no way to see it.
    Unseen,
}

/// What the journal says of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// We never began it.
    New,
    /// We began it and did not end it.
    Began,
    /// We ended it.
    Ended,
}

/// Something to wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The service runs.
    ServiceActive(String),
}
