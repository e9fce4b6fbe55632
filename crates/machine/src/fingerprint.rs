//! What a step is, in 32 bytes: what it does and what it met, so that a reviewed plan can be told from another.
use crate::Step;
use host::{Act, Change, Condition, FileState, hex};
use sha2::{Digest, Sha256};

impl Step {
    /// Equal for equal steps only, contents and the state that was seen included.
    pub fn fingerprint(&self) -> String {
        let mut parts = Parts(Sha256::new());
        match self {
            Self::Ensure(change) => parts.change(change),
            Self::Run(act) => parts.act("run", act),
            Self::Redo(act) => parts.act("redo", act),
            Self::Close(act) => parts.act("close", act),
            Self::Wait(Condition::ServiceActive(service), within) => {
                parts.text("wait").text(service).text(&within.as_secs().to_string());
            }
        }
        hex(&parts.0.finalize())
    }
}

/// Parts with their lengths, so that no two lists of parts look the same.
struct Parts(Sha256);

impl Parts {
    fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    fn text(&mut self, part: &str) -> &mut Self {
        self.bytes(part.as_bytes())
    }

    fn maybe(&mut self, part: Option<&str>) -> &mut Self {
        self.text(if part.is_some() { "some" } else { "none" }).text(part.unwrap_or_default())
    }

    fn file(&mut self, file: Option<&FileState>) -> &mut Self {
        match file {
            None => self.text("none"),
            Some(FileState { contents, mode, uid, gid }) => {
                self.text(&format!("file {mode} {uid} {gid}")).bytes(contents.expose())
            }
        }
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::WriteFile { path, was, file, confidential: _ } => {
                self.text("write").text(path).file(was.as_ref()).file(Some(file))
            }
            Change::SetSysctl { key: _, path, was, value } => {
                self.text("sysctl").text(path).maybe(was.as_deref()).text(value)
            }
            Change::LoadModule { name } => self.text("module").text(name),
            Change::RefreshTrust { store, missing } => self.text("trust").text(store.bundle).text(&missing.join(" ")),
            Change::Restart { service, reads, running } => {
                self.text("restart").text(service).text(&reads.join("\0")).text(&running.to_string())
            }
        };
    }

    fn act(&mut self, verb: &str, act: &Act) {
        self.text(verb).text(&act.id());
        if let Act::Init(init) = act {
            self.text(init.file.expose()).text(&init.flags.join(" "));
        }
    }
}
