//! What a step is, in 32 bytes: what it does and what it met, so that a reviewed plan can be told from another.
//!
//! Contents may be secret, and a plan travels: a plain digest would let whoever reads it try one guess after the other.
//! Fingerprints are made with a key that stays on the machine ([`PlanKey`]).
use crate::{Act, PlanKey, Step, plan::Condition};
use aws_lc_rs::hmac;
use host::{Change, DirectoryState, FileState, PathState, UserSettings, UserState};
use objects::hex;

impl Step {
    /// Equal for equal steps and keys only, contents and the state that was seen included.
    pub fn fingerprint(&self, key: &PlanKey) -> String {
        Parts::of(key, |parts| match self {
            Self::Ensure(change) => parts.change(change),
            Self::Run(act) => act.compares(parts.text("run")),
            Self::Redo(act) => act.compares(parts.text("redo")),
            Self::Close(act) => act.compares(parts.text("close")),
            Self::Wait(Condition::ServiceActive(service), within) => {
                parts.text("wait").text(service).text(&within.as_nanos().to_string());
            }
        })
    }
}

/// What an act is, however the journal stands.
pub(crate) fn act_fingerprint(act: &dyn Act, key: &PlanKey) -> String {
    Parts::of(key, |parts| act.compares(parts))
}

/// Parts with their lengths, so that no two lists of parts look the same.
pub struct Parts(hmac::Context);

impl Parts {
    /// The authentication code of the parts that a function adds.
    pub(crate) fn of(key: &PlanKey, add: impl FnOnce(&mut Self)) -> String {
        let mut parts = Self(key.context());
        add(&mut parts);
        hex::encode(parts.0.sign().as_ref())
    }

    /// Adds bytes.
    pub fn bytes(&mut self, part: &[u8]) -> &mut Self {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a text.
    pub fn text(&mut self, part: &str) -> &mut Self {
        self.bytes(part.as_bytes())
    }

    /// Adds a text that may be missing.
    pub fn maybe(&mut self, part: Option<&str>) -> &mut Self {
        self.text(if part.is_some() { "some" } else { "none" }).text(part.unwrap_or_default())
    }

    /// Adds a list of texts.
    pub fn list(&mut self, parts: &[String]) -> &mut Self {
        self.text(&parts.len().to_string());
        parts.iter().fold(self, |all, part| all.text(part))
    }

    fn file(&mut self, file: Option<&FileState>) -> &mut Self {
        match file {
            None => self.text("none"),
            Some(FileState { contents, mode, uid, gid }) => {
                self.text(&format!("file {mode} {uid} {gid}")).bytes(contents.expose())
            }
        }
    }

    fn directory(&mut self, directory: Option<&DirectoryState>) -> &mut Self {
        match directory {
            None => self.text("none"),
            Some(DirectoryState { mode, uid, gid }) => self.text(&format!("directory {mode} {uid} {gid}")),
        }
    }

    fn state(&mut self, state: &PathState) -> &mut Self {
        match state {
            PathState::Absent => self.text("none"),
            PathState::File(file) => self.file(Some(file)),
            PathState::LargeFile { size } => self.text("large").text(&size.to_string()),
            // Only an empty directory is deleted.
            PathState::Directory { state, entries: _ } => self.directory(Some(state)),
            PathState::Link { target } => self.text("link").text(target),
            PathState::Special => self.text("special"),
        }
    }

    fn user(&mut self, user: Option<&UserState>) -> &mut Self {
        match user {
            None => self.text("none"),
            Some(UserState { uid, gid, home, shell, groups, password }) => {
                let groups: Vec<String> = groups.iter().cloned().collect();
                self.text(&format!("user {uid} {gid}")).text(home).text(shell).list(&groups).text(password.expose())
            }
        }
    }

    fn settings(&mut self, settings: &UserSettings) -> &mut Self {
        let UserSettings { uid, group, groups, home, shell, sort } = settings;
        self.maybe(uid.map(|uid| uid.to_string()).as_deref()).maybe(group.as_deref()).list(groups);
        self.maybe(home.as_deref()).maybe(shell.as_deref()).text(&format!("{sort:?}"))
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::WriteFile { path, block, was, file, confidential: _ } => {
                self.text("write").text(path).maybe(block.as_deref()).file(was.as_ref()).file(Some(file))
            }
            Change::MakeDirectory { path, was, directory } => {
                self.text("directory").text(path).directory(was.as_ref()).directory(Some(directory))
            }
            Change::MakeLink { path, was, target } => self.text("link").text(path).maybe(was.as_deref()).text(target),
            Change::Remove { path, was } => self.text("remove").text(path).state(was),
            Change::SetSysctl { key: _, path, was, value } => {
                self.text("sysctl").text(path).maybe(was.as_deref()).text(value)
            }
            Change::LoadModule { name } => self.text("module").text(name),
            Change::RefreshTrust { store, missing } => self.text("trust").text(store.bundle).list(missing),
            Change::AddGroup { name, gid } => {
                self.text("group").text(name).maybe(gid.map(|gid| gid.to_string()).as_deref())
            }
            Change::SetUser { name, was, settings } => {
                self.text("user").text(name).user(was.as_ref()).settings(settings)
            }
            Change::SetPassword { user, hash } => self.text("password").text(user).text(hash.expose()),
            Change::AuthorizedKeys { user, path, was, contents } => {
                self.text("keys").text(user).text(path).file(was.as_ref()).bytes(contents.expose())
            }
            Change::Unit { name, action, was } => {
                self.text("unit").text(name).text(action.verb()).text(&format!("{was:?}"))
            }
            Change::Restart { service, reads, running } => {
                self.text("restart").text(service).list(reads).text(&running.to_string())
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acts::{
        Arguments, Certificates, CommandAct, DownloadCerts, KubeadmInit, KubeadmJoin, KubeadmJoinControlPlane,
        UploadCerts, proxy_variables::Variables,
    };
    use certs::{Etcd, ExternalEtcd, FileSet};
    use documents::{
        Secret,
        v1alpha1::{Command, Program, Repeat},
    };
    use host::{Enablement, Service, UnitAction, UnitState};
    use std::{collections::BTreeSet, rc::Rc, time::Duration};

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    fn command() -> Command {
        Command {
            name: "a".into(),
            program: Program::Argv(vec!["true".into()]),
            repeat: Repeat::Once,
            creates: None,
            unless: None,
            environment: [("X".to_owned(), secret("a"))].into(),
            timeout: Duration::from_secs(1),
            needs_reboot: false,
        }
    }

    fn init() -> KubeadmInit {
        KubeadmInit {
            file: secret("a"),
            flags: Vec::new(),
            environment: Variables::new(),
            addons: Vec::new(),
            api_version: "v1".into(),
            version: "v1.36.4".into(),
            runtime_socket: "/a".into(),
            certificates: None,
            etcd_data: String::new(),
            within: Duration::from_secs(1),
        }
    }

    /// No two of these steps do the same, so no two may pass for each other.
    fn assert_distinct(steps: &[Step]) {
        let mut prints = BTreeSet::new();
        for step in steps {
            let key = PlanKey::new([7; 32]);
            assert!(prints.insert(step.fingerprint(&key)), "{step:?} has the fingerprint of another");
            assert_eq!(step.fingerprint(&key), step.clone().fingerprint(&key));
            assert_ne!(step.fingerprint(&key), step.fingerprint(&PlanKey::new([8; 32])));
        }
    }

    #[test]
    fn a_command_with_any_other_member_is_another_step() {
        let argv = |words: &[&str]| Program::Argv(words.iter().map(|word| (*word).to_owned()).collect());
        let environment = |pairs: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), secret(value));
            Command { environment: pairs.iter().map(pair).collect(), ..command() }
        };
        // Whoever adds a member has to name it here, and to change it below.
        let Command {
            name: _,
            program: _,
            repeat: _,
            creates: _,
            unless: _,
            environment: _,
            timeout: _,
            needs_reboot: _,
        } = command();
        let changed = [
            command(),
            Command { name: "b".into(), ..command() },
            Command { program: argv(&["true", ""]), ..command() },
            Command { program: argv(&["tr", "ue"]), ..command() },
            Command { program: argv(&["shell", "true"]), ..command() },
            Command { program: Program::Shell(secret("true")), ..command() },
            Command { needs_reboot: true, ..command() },
            Command { repeat: Repeat::Always, ..command() },
            Command { creates: Some("/x".into()), ..command() },
            Command { creates: Some(String::new()), ..command() },
            Command { unless: Some(secret("/x")), ..command() },
            environment(&[]),
            environment(&[("X", "b")]),
            environment(&[("X", "a"), ("LD_PRELOAD", "/x.so")]),
            environment(&[("XL", "a")]),
            Command { timeout: Duration::from_millis(1001), ..command() },
        ];
        let run = changed.map(|command| Step::Run(Rc::new(CommandAct(command, Arguments::Shown))));
        let others = [Step::Redo, Step::Close].map(|step| step(Rc::new(CommandAct(command(), Arguments::Shown))));
        assert_distinct(&[&run[..], &others].concat());
    }

    #[test]
    fn a_beginning_with_any_other_member_is_another_step() {
        let flags =
            |flags: &[&str]| KubeadmInit { flags: flags.iter().map(|flag| (*flag).to_owned()).collect(), ..init() };
        // The addons, the directories and the time are those of the file.
        let KubeadmInit {
            file: _,
            flags: _,
            environment: _,
            addons: _,
            api_version: _,
            version: _,
            runtime_socket: _,
            certificates: _,
            etcd_data: _,
            within: _,
        } = init();
        let proxy = |value: &str| [("HTTPS_PROXY".to_owned(), secret(value))].into();
        let changed = [
            init(),
            KubeadmInit { file: secret("b"), ..init() },
            flags(&["--a --b"]),
            flags(&["--a", "--b"]),
            KubeadmInit { api_version: "v2".into(), ..init() },
            KubeadmInit { version: "v1.36.5".into(), ..init() },
            KubeadmInit { runtime_socket: "/b".into(), ..init() },
            KubeadmInit { environment: proxy("a"), ..init() },
            KubeadmInit { environment: proxy("b"), ..init() },
        ];
        assert_distinct(&changed.map(|init| Step::Run(Rc::new(init))));
    }

    /// Sets of which no two have the same files under the same names.
    fn file_sets() -> Vec<FileSet> {
        let [one, other] = [Some("/e/a"), Some("/e/b")];
        let sets = [[one, None, None], [None, one, None], [one, one, other], [one, other, one]];
        let external = sets.map(|paths| {
            let [ca_file, cert_file, key_file] = paths.map(|path| path.map(Into::into));
            Etcd::External(ExternalEtcd { ca_file, cert_file, key_file })
        });
        [Etcd::Stacked].iter().chain(&external).map(FileSet::new).collect()
    }

    #[test]
    fn an_upload_with_any_other_member_is_another_step() {
        let upload = || UploadCerts {
            key: "0".repeat(64).parse().unwrap(),
            directory: "/pki".into(),
            files: FileSet::new(&Etcd::Stacked),
        };
        let UploadCerts { key: _, directory: _, files: _ } = upload();
        let mut changed: Vec<_> = file_sets().into_iter().map(|files| UploadCerts { files, ..upload() }).collect();
        changed.push(UploadCerts { key: "1".repeat(64).parse().unwrap(), ..upload() });
        changed.push(UploadCerts { directory: "/pki/etcd".into(), ..upload() });
        assert_distinct(&changed.into_iter().map(|upload| Step::Run(Rc::new(upload))).collect::<Vec<_>>());
    }

    #[test]
    fn a_download_with_another_key_is_another_step() {
        let download =
            |key: Option<&str>| DownloadCerts { key: key.map(|digit| digit.repeat(64).parse().unwrap()), source: None };
        // What is discovered is not known when a plan is reviewed; the join after it compares how it is discovered.
        let DownloadCerts { key: _, source: _ } = download(None);
        let changed = [None, Some("0"), Some("1")].map(|key| Step::Run(Rc::new(download(key))));
        assert_distinct(&changed);
    }

    #[test]
    fn a_join_of_a_control_plane_node_is_another_step_than_a_workers() {
        let join = || KubeadmJoinControlPlane {
            join: worker_join(),
            facts: None,
            peer_url: "https://10.0.0.2:2380".into(),
            runtime_socket: "/a".into(),
            certificates: Certificates::Copied,
        };
        let KubeadmJoinControlPlane { join: _, facts: _, peer_url: _, runtime_socket: _, certificates: _ } = join();
        let steps: [Step; 4] = [
            Step::Run(Rc::new(worker_join())),
            Step::Run(Rc::new(join())),
            Step::Run(Rc::new(KubeadmJoinControlPlane { peer_url: "https://10.0.0.3:2380".into(), ..join() })),
            Step::Run(Rc::new(KubeadmJoinControlPlane { runtime_socket: "/b".into(), ..join() })),
        ];
        assert_distinct(&steps);
    }

    fn worker_join() -> KubeadmJoin {
        KubeadmJoin {
            file: secret("a"),
            flags: Vec::new(),
            environment: Variables::new(),
            kubelet: None,
            api_version: "v1".into(),
            version: "v1.36.4".into(),
            endpoints: "a:1".into(),
            discovery: secret("token a:1"),
            node: "w1".into(),
            cluster: None,
            token: Some("abcdef.0123456789abcdef".parse().unwrap()),
            within: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_join_with_any_other_member_is_another_step() {
        let token = |text: &str| Some(text.parse().unwrap());
        let join = worker_join;
        // What is discovered is not known when a plan is reviewed; where to look for it is part of `discovery`. The time is
        // that of the file.
        let KubeadmJoin {
            file: _,
            flags: _,
            environment: _,
            kubelet: _,
            api_version: _,
            version: _,
            endpoints: _,
            discovery: _,
            node: _,
            cluster: _,
            token: _,
            within: _,
        } = join();
        let changed = [
            join(),
            KubeadmJoin { file: secret("b"), ..join() },
            KubeadmJoin { flags: vec!["--a".into()], ..join() },
            KubeadmJoin { environment: [("NO_PROXY".to_owned(), secret("a"))].into(), ..join() },
            KubeadmJoin { kubelet: Some(secret("{}")), ..join() },
            KubeadmJoin { api_version: "v2".into(), ..join() },
            KubeadmJoin { version: "v1.36.5".into(), ..join() },
            KubeadmJoin { discovery: secret("token b:1"), ..join() },
            KubeadmJoin { node: "w2".into(), ..join() },
            KubeadmJoin { token: token("abcdef.0123456789abcdeg"), ..join() },
            KubeadmJoin { token: None, ..join() },
        ];
        assert_distinct(&changed.map(|join| Step::Run(Rc::new(join))));
    }

    #[test]
    fn a_directory_a_link_or_a_deletion_with_any_other_member_is_another_step() {
        let state = DirectoryState { mode: 0o755, uid: 0, gid: 0 };
        let directory = |path: &str, was, directory| Change::MakeDirectory { path: path.into(), was, directory };
        let link = |path: &str, was: Option<&str>, target: &str| Change::MakeLink {
            path: path.into(),
            was: was.map(str::to_owned),
            target: target.into(),
        };
        let remove = |was| Change::Remove { path: "/a".into(), was };
        let file = FileState { contents: Secret::new(b"x".to_vec()), mode: 0o644, uid: 0, gid: 0 };
        let changes = [
            directory("/a", None, state),
            directory("/b", None, state),
            directory("/a", Some(state), state),
            directory("/a", None, DirectoryState { mode: 0o700, ..state }),
            directory("/a", None, DirectoryState { uid: 1, ..state }),
            directory("/a", None, DirectoryState { gid: 1, ..state }),
            link("/a", None, "b"),
            link("/a", Some(""), "b"),
            link("/a", None, "c"),
            link("/b", None, "b"),
            remove(PathState::File(file)),
            remove(PathState::LargeFile { size: 1 }),
            remove(PathState::LargeFile { size: 2 }),
            remove(PathState::Directory { state, entries: 0 }),
            remove(PathState::Link { target: "b".into() }),
            remove(PathState::Special),
        ];
        assert_distinct(&changes.map(Step::Ensure));
    }

    #[test]
    fn a_unit_with_any_other_member_is_another_step() {
        let was = UnitState { enablement: Enablement::Disabled, activity: Service::Inactive };
        let unit = |name: &str, action, was| Step::Ensure(Change::Unit { name: name.into(), action, was });
        assert_distinct(&[
            unit("a.service", UnitAction::Enable, was),
            unit("b.service", UnitAction::Enable, was),
            unit("a.service", UnitAction::Start, was),
            unit("a.service", UnitAction::Enable, UnitState { enablement: Enablement::Static, ..was }),
            unit("a.service", UnitAction::Enable, UnitState { activity: Service::Active, ..was }),
        ]);
    }

    #[test]
    fn lists_are_no_other_lists() {
        let restart = |reads: &[&str]| {
            let reads = reads.iter().map(|read| (*read).to_owned()).collect();
            Step::Ensure(Change::Restart { service: "a".into(), reads, running: true })
        };
        assert_distinct(&[restart(&[]), restart(&[""]), restart(&["a", "b"]), restart(&["a\0b"])]);
    }
}
