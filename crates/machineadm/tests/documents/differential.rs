//! The same random stream of documents on a machine in memory and by the real program below a root: the same changes in
//! the order of the documents, cut anywhere, reordered, run again.
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails its test")]
use crate::support::{binary, file_tree::look, scratch::Scratch, shell};
use certs::{CertificateSet, FileName, Found};
use discovery::{ClusterInfo, Method, certificate::CaBundle};
use documents::{Secret, Source};
use engine::{
    CertificateCopy, Cluster, ContainerRuntime, Download, Downloads, Event, Line, Mode, NodeWait, Patience, PlanError,
    Prune, Run, ServerVersion, Unanswered, Wanted, World, bootstrap, turns,
};
use host::{Draft, FileState, Memory, Played};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

/// A document of a stream: its kind, its name, its spec.
type Document = (&'static str, String, String);

/// Random documents that may stand in any order below a root: none needs what another brings.
fn stream() -> impl Strategy<Value = Vec<Document>> {
    let document = |index: usize| {
        let name = format!("d{index}");
        let content = prop::sample::select(vec!["one", "two", "'with: colon'", "\"two\\nlines\""]);
        let mode = prop::sample::select(vec!["'0644'", "'0600'", "'0755'"]);
        (0..6_u8, content, mode, any::<bool>()).prop_map(move |(kind, content, mode, is_here)| {
            let place = if is_here { "there" } else { "new" };
            let (kind, spec) = match kind {
                0 => ("FilesConfig", format!("{{files: [{{path: /etc/{place}-{index}, content: {content}, mode: {mode}}}]}}")),
                1 => ("FilesConfig", format!("{{files: [{{path: /etc/hosts, block: b{index}, content: {content}}}]}}")),
                2 => ("SysctlConfig", format!("{{parameters: {{vm.max_map_count: 262144, net.core.p{index}: 1}}}}")),
                3 => ("KernelModulesConfig", format!("{{modules: [overlay, module_{index}]}}")),
                4 => ("ProxyConfig", format!("{{httpProxy: 'http://u:p@proxy-{index}:3128', services: [service-{index}]}}")),
                _ => ("CommandsConfig", format!(
                    "{{commands: [{{name: seen, argv: [/bin/sh, -c, ': > /var/seen-{index}'], creates: /var/seen-{index}}}, \
                     {{name: once, argv: [/bin/sh, -c, ': > /var/once-{index}']}}]}}"
                )),
            };
            (kind, name.clone(), spec)
        })
    };
    (1..7_usize).prop_flat_map(move |length| (0..length).map(document).collect::<Vec<_>>())
}

fn text(stream: &[Document]) -> String {
    let document = |(kind, name, spec): &Document| {
        format!(
            "---\napiVersion: machineadm.cluster.x-k8s.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {spec}\n"
        )
    };
    stream.iter().map(document).collect()
}

/// What is there before: the files that some documents change.
fn before() -> BTreeMap<String, &'static str> {
    let there = (0..7).map(|index| (format!("/etc/there-{index}"), "theirs\n"));
    there
        .chain([("/etc/hosts".to_owned(), "127.0.0.1 localhost\n"), ("/etc/hostname".to_owned(), "node-7\n")])
        .collect()
}

struct NoCluster;

/// No configuration here makes a node.
struct NoRuntime;

impl ContainerRuntime for NoRuntime {
    fn ask(&self, _: &str, _: &Patience<'_>) -> cri::Result<cri::RuntimeReport> {
        panic!("nothing here asks the container runtime")
    }
}

struct NoDownloads;

impl Downloads for NoDownloads {
    fn receive(&self, download: &Download<'_>, _: &mut dyn Draft) -> host::Result<()> {
        panic!("nothing here fetches {}", download.name)
    }
}

impl Cluster for NoCluster {
    fn has(&self, _: &[u8], _: &[&str], _: &Patience<'_>) -> Result<bool, Unanswered> {
        panic!("nothing here asks a cluster")
    }

    fn networks(&self, _: &[u8], _: &Patience<'_>) -> Result<Vec<String>, Unanswered> {
        panic!("nothing here asks a cluster")
    }

    fn delete(&self, _: &[u8], _: &str, _: &Patience<'_>) -> Result<(), Unanswered> {
        panic!("nothing here asks a cluster")
    }

    fn discover(&self, _: &Method, _: Duration) -> Result<ClusterInfo, PlanError> {
        panic!("nothing here discovers a cluster")
    }

    fn version(&self, _: &[u8], _: &Patience<'_>) -> Result<ServerVersion, Unanswered> {
        panic!("nothing here discovers a cluster")
    }

    fn wait_for_node(&self, _: &[u8], _: &NodeWait<'_>) -> Result<(), Unanswered> {
        panic!("nothing here waits for a Node")
    }

    fn live_certs(
        &self,
        _: &[u8],
        _: &CertificateCopy<'_>,
        _: &Patience<'_>,
    ) -> Result<Option<CertificateSet>, Unanswered> {
        panic!("nothing here copies certificates")
    }

    fn upload_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: BTreeMap<FileName, Found>) -> Result<(), PlanError> {
        panic!("nothing here copies certificates")
    }

    fn download_certs(&self, _: &[u8], _: &CertificateCopy<'_>, _: &CaBundle) -> Result<CertificateSet, PlanError> {
        panic!("nothing here copies certificates")
    }
}

fn in_memory() -> Memory {
    let file = |text: &str| FileState { contents: Secret::new(text.into()), mode: 0o644, uid: 0, gid: 0 };
    let mut programs = BTreeMap::new();
    for index in 0..7 {
        for kind in ["seen", "once"] {
            let path = format!("/var/{kind}-{index}");
            programs.insert(format!("/bin/sh -c : > {path}"), vec![Played::Write(path, String::new())]);
        }
    }
    let files = before().into_iter().map(|(path, text)| (path, file(text))).collect();
    Memory { live: false, files, programs, ..Memory::default() }
}

/// Every change of a run in memory, as a boot log shows them.
fn run_in_memory(stream: &[Document], host: &mut Memory) -> Vec<String> {
    let read = documents::read(vec![Source { name: "test".into(), bytes: text(stream).into_bytes().into() }]);
    assert!(!read.report.has_errors(), "{}", read.report);
    let wanted = Wanted::of(read.documents);
    let labels: Vec<String> =
        turns(Mode::Provision, &wanted, Prune::List).iter().map(|turn| turn.id.to_string()).collect();
    let mut changes = Vec::new();
    let mut watch = |event: Event<'_>| {
        if let Event::Done(turn, _, step) = event
            && step.is_change()
        {
            changes.push(format!("{}: {}", labels[turn], Line::of(step)));
        }
    };
    let run = Run {
        mode: Mode::Provision,
        wanted: &wanted,
        prune: Prune::List,
        manifests: engine::Manifests::Respected,
        reviewed: None,
    };
    let mut world =
        World { host, cluster: &NoCluster, runtime: &NoRuntime, downloads: &NoDownloads, patience: Duration::ZERO };
    bootstrap(&run, &mut world, &mut watch).expect("the run succeeds");
    changes
}

/// The change that a line of the log reports as done.
fn change(line: &str) -> Option<String> {
    let (change, _) = line.strip_prefix("machineadm: ")?.split_once(": done in ")?;
    Some(change.to_owned())
}

/// A root below which the real program works.
struct Root {
    scratch: Scratch,
    root: PathBuf,
}

impl Root {
    fn new() -> Self {
        let scratch = Scratch::new("differential");
        let root = scratch.path().join("root");
        for dir in ["etc", "var/lib", "run"] {
            fs::create_dir_all(root.join(dir)).unwrap();
        }
        shell::install(&root);
        for (path, text) in before() {
            fs::write(root.join(&path[1..]), text).unwrap();
        }
        Self { scratch, root }
    }

    fn arguments(&self, stream: &[Document]) -> [String; 5] {
        let file = self.scratch.path().join("node.yaml");
        fs::write(&file, text(stream)).unwrap();
        let [root, file] = [&self.root, &file].map(|path| path.to_str().expect("ours").to_owned());
        ["--root".into(), root, "bootstrap".into(), "-f".into(), file]
    }

    /// Every change of a run by the real program.
    fn run(&self, stream: &[Document]) -> Vec<String> {
        let ran = binary::run(self.arguments(stream));
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        ran.stderr.lines().filter_map(change).collect()
    }

    /// Kills the real program when it has reported this many changes; gives those that it reported.
    fn cut_after(&self, stream: &[Document], changes: usize) -> Vec<String> {
        let mut command = binary::command(self.arguments(stream));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let reported: Vec<String> = lines.filter_map(|line| change(&line)).take(changes).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        reported
    }

    /// The files outside of the shell and of machineadm's own state, as a machine in memory has them.
    fn files(&self) -> BTreeMap<String, (Vec<u8>, u32)> {
        let ours =
            |path: &String| ["/bin/", "/lib", "/run/", "/var/lib/machineadm/"].iter().all(|dir| !path.starts_with(dir));
        let files = look(&self.root).into_iter().filter(|(path, entry)| entry.kind == "file" && ours(path));
        files.map(|(path, entry)| (path, (entry.body, entry.mode))).collect()
    }
}

fn files_of(host: &Memory) -> BTreeMap<String, (Vec<u8>, u32)> {
    let ours = host.files.iter().filter(|(path, _)| !path.starts_with("/var/lib/machineadm/"));
    ours.map(|(path, file)| (path.clone(), (file.contents.expose().clone(), file.mode))).collect()
}

fn ownership(root: &Path) -> String {
    fs::read_to_string(root.join("var/lib/machineadm/ownership.json")).unwrap_or_default()
}

fn ownership_of(host: &Memory) -> String {
    let file = host.files.get("/var/lib/machineadm/ownership.json");
    file.map(|file| String::from_utf8(file.contents.expose().clone()).unwrap()).unwrap_or_default()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 40,
        // Beside this file; by default proptest looks beside the folder that has a `main.rs`.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("proptest-regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn memory_and_the_real_program_do_the_same_in_the_same_order(stream in stream(), cut in 0..12_usize, seed in any::<u64>()) {
        testbed::needs!(Root);
        let (mut host, real) = (in_memory(), Root::new());
        let changes = run_in_memory(&stream, &mut host);
        prop_assert!(!changes.is_empty());
        prop_assert_eq!(&real.run(&stream), &changes);
        prop_assert_eq!(real.files(), files_of(&host));
        prop_assert_eq!(ownership(&real.root), ownership_of(&host));

        // Run again, and in another order: nothing is left to do.
        let mut reordered = stream.clone();
        let at = usize::try_from(seed % stream.len() as u64).unwrap();
        reordered.rotate_left(at);
        for stream in [&stream, &reordered] {
            prop_assert_eq!(real.run(stream), Vec::<String>::new());
            prop_assert_eq!(run_in_memory(stream, &mut host), Vec::<String>::new());
        }

        // Cut after any change: the next run does the rest, in the same order, and ends in the same place.
        let killed = Root::new();
        let cut = cut % changes.len();
        let first = killed.cut_after(&stream, cut);
        prop_assert_eq!(&first[..], &changes[..cut]);
        let rest = killed.run(&stream);
        prop_assert!(changes.ends_with(&rest[..]), "{:?} is not the end of {:?}", rest, changes);
        prop_assert_eq!(killed.files(), files_of(&host));
        prop_assert_eq!(ownership(&killed.root), ownership_of(&host));
    }
}
