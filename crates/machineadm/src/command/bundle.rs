//! `machineadm status --bundle FILE`: one archive that explains a failed run to operators who have no login.
//!
//! Every text goes through the redactor, with the secrets of the saved configuration, before it is put into the archive.
//! What cannot be collected is named in its README, with the reason.
use super::status;
use crate::{command_error::CommandError, context::silent_machine, show};
use documents::{Decoded, Source};
use engine::{Redactor, outcome::chain};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use host::{
    Inspect, Linux,
    contract::{self, Exit},
    linux::input,
};
use jiff::Timestamp;
use objects::visible;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    time::Duration,
};
use zeroize::Zeroizing;

/// The directory of the archive; its first entry is what a bundle is known by.
const DIRECTORY: &str = "machineadm-bundle";
const README: &str = "README.txt";
/// How long a program may take.
const WITHIN: Duration = Duration::from_secs(10);
const NOT_RUNNING: &str = "--root names a root file system that does not run";
/// Lines of a unit's log.
const LINES: &str = "300";

/// Where kubeadm and the kubelet have their files.
const KUBERNETES: &str = objects::kubernetes_paths::KUBERNETES;
/// The units whose state and log explain a failure.
const UNITS: [&str; 3] = ["machineadm", "kubelet", "containerd"];

/// Writes the archive; `-` is standard output.
pub(super) fn write(out: &str, root: &Path) -> Result<Exit, CommandError> {
    check_target(out)?;
    let linux = silent_machine(root)?;
    let now = Timestamp::now();
    let bytes = Bundle::collect(&linux, root)
        .archive(&linux, now)
        .map_err(|error| CommandError::failed(format!("cannot create the archive: {}", chain(&error))))?;
    match out {
        "-" => show::print(bytes)?,
        _ => {
            input::write_private(out, &bytes)?;
            show::print_text(&format!("{out}: {}, secrets removed; check it before you pass it on\n", size(&bytes)))?;
        }
    }
    Ok(Exit::Done)
}

fn size(bytes: &[u8]) -> String {
    format!("{} KiB", bytes.len().div_ceil(1 << 10))
}

/// Refuses a path at which something else than a bundle is.
fn check_target(out: &str) -> Result<(), CommandError> {
    let Ok(there) = fs::symlink_metadata(out) else { return Ok(()) };
    if out == "-" || (there.is_file() && is_bundle(out)) {
        return Ok(());
    }
    let text = format!("--bundle {out}: the path exists and is not a bundle of machineadm");
    Err(CommandError::invalid(text).with_remedy("choose another path, or delete it"))
}

fn is_bundle(path: &str) -> bool {
    let first = || -> io::Result<bool> {
        let mut archive = tar::Archive::new(GzDecoder::new(File::open(path)?));
        let Some(entry) = archive.entries()?.next() else { return Ok(false) };
        Ok(entry?.path()? == Path::new(DIRECTORY).join(README))
    };
    first().unwrap_or(false)
}

/// What is collected: texts without secrets, and the reasons of what is missing.
struct Bundle {
    redactor: Redactor,
    items: Vec<Item>,
}

struct Item {
    name: String,
    what: String,
    /// The text, or why there is none.
    text: Result<String, String>,
}

impl Bundle {
    fn collect(linux: &Linux, root: &Path) -> Self {
        let mut bundle = Self { redactor: redactor(linux), items: Vec::new() };
        bundle.add("status.txt", "what `machineadm status` prints", status::plain_text(linux, root));
        for (name, path, what) in [
            ("outcome.json", contract::OUTCOME, "what the last run did, step by step"),
            ("outcome-in-memory.json", contract::OUTCOME_FALLBACK, "the same, if the disk took nothing"),
            ("report.json", contract::REPORT, "where the last run stands, as it is reported"),
            ("journal.json", contract::JOURNAL, "which commands started, failed and ended"),
            ("os-release.txt", "/etc/os-release", "the operating system"),
        ] {
            bundle.add(name, what, file(linux, path));
        }
        bundle.add("machineadm.txt", "the version of machineadm", Ok(format!("{}\n", env!("CARGO_PKG_VERSION"))));
        bundle.add("kubernetes-files.txt", "names, modes, owners and sizes below /etc/kubernetes", listing(linux));
        for (name, argv) in [
            ("kernel.txt", &["uname", "-a"][..]),
            ("kubeadm.txt", &["kubeadm", "version", "-o", "yaml"]),
            ("kubelet.txt", &["kubelet", "--version"]),
            ("containerd.txt", &["containerd", "--version"]),
            ("containers.txt", &["crictl", "ps", "-a"]),
            ("disks.txt", &["df", "-hT"]),
            ("memory.txt", &["cat", "/proc/meminfo"]),
        ] {
            bundle.add_output(linux, name, argv);
        }
        for unit in UNITS {
            let status = ["systemctl", "status", "--no-pager", "--full", "--lines=0", unit];
            bundle.add_output(linux, &format!("{unit}.status.txt"), &status);
            let log = ["journalctl", "--no-pager", "--output=short-iso", "--lines", LINES, "--unit", unit];
            bundle.add_output(linux, &format!("{unit}.log.txt"), &log);
        }
        bundle
    }

    fn add(&mut self, name: &str, what: &str, text: Result<String, String>) {
        let text = text.map(|text| self.redactor.redact(&text)).map_err(|why| self.redactor.redact(&why));
        self.items.push(Item { name: name.to_owned(), what: what.to_owned(), text });
    }

    fn add_output(&mut self, linux: &Linux, name: &str, argv: &[&str]) {
        let printed = output(linux, argv);
        self.add(name, &format!("output of `{}`", argv.join(" ")), printed);
    }

    fn readme(&self, linux: &Linux, now: Timestamp) -> String {
        let mut text = format!(
            "Bundle of {}, created by machineadm {} at {now:.0}.\n\n\
             Secrets were removed by the values of the saved configuration, if there is one, and by patterns of tokens, \
             keys and passwords.\nPatterns can miss a secret that a program printed in another form: check the files \
             before you pass them on.\n\nContents:\n",
            visible(&linux.name()),
            env!("CARGO_PKG_VERSION"),
        );
        let width = self.items.iter().map(|item| item.name.len()).max().unwrap_or_default();
        for item in self.items.iter().filter(|item| item.text.is_ok()) {
            text.push_str(&format!("  {}  {}\n", show::padded(&item.name, width), item.what));
        }
        text.push_str("\nMissing:\n");
        for item in &self.items {
            if let Err(why) = &item.text {
                text.push_str(&format!("  {}  {}: {why}\n", show::padded(&item.name, width), item.what));
            }
        }
        text
    }

    fn archive(&self, linux: &Linux, now: Timestamp) -> io::Result<Vec<u8>> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
        let mut append = |name: &str, text: &str| {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o600);
            header.set_mtime(now.as_second().try_into().unwrap_or_default());
            archive.append_data(&mut header, format!("{DIRECTORY}/{name}"), text.as_bytes())
        };
        append(README, &self.readme(linux, now))?;
        for Item { name, text, .. } in &self.items {
            if let Ok(text) = text {
                append(name, text)?;
            }
        }
        let mut gzip = archive.into_inner()?;
        gzip.flush()?;
        gzip.finish()
    }
}

/// Knows the secrets of the configuration of a run that has not succeeded; what it encrypts or fetches, nobody asks now.
fn redactor(linux: &Linux) -> Redactor {
    let saved = linux.file(contract::CONFIGURATION).ok().flatten();
    let source = saved.map(|file| Source {
        name: contract::CONFIGURATION.into(),
        bytes: Zeroizing::new(file.contents.expose().clone()),
    });
    let read = documents::read(source.into_iter().collect());
    Redactor::new(read.documents.iter().flat_map(Decoded::secrets))
}

fn file(linux: &Linux, path: &str) -> Result<String, String> {
    let file = linux.file(path).map_err(|error| chain(&error))?;
    let file = file.ok_or_else(|| format!("{path} does not exist"))?;
    Ok(String::from_utf8_lossy(file.contents.expose()).into_owned())
}

fn listing(linux: &Linux) -> Result<String, String> {
    let listed = linux.listing(KUBERNETES).map_err(|error| chain(&error))?;
    let listed = listed.ok_or_else(|| format!("{KUBERNETES} does not exist"))?;
    let line = |one: &host::linux::Listed| {
        let (uid, gid) = one.owner;
        format!("{} {:04o} {uid}:{gid} {:>10} {KUBERNETES}/{}\n", one.sort, one.mode, one.size, visible(&one.path))
    };
    Ok(listed.iter().map(line).collect())
}

/// What a program prints. One that fails, such as `systemctl status` of a failed unit, may say most.
fn output(linux: &Linux, argv: &[&str]) -> Result<String, String> {
    if !linux.live() {
        return Err(NOT_RUNNING.to_owned());
    }
    let printed = linux.transcript(argv, WITHIN).map_err(|error| chain(&error))?;
    let printed = printed.ok_or_else(|| format!("{} is not installed", argv[0]))?;
    match (printed.text.expose().trim(), printed.failure) {
        ("", Some(failure)) => Err(format!("{} {failure}", argv[0])),
        (_, Some(failure)) => Ok(format!("{}\n({} {failure})\n", printed.text.expose().trim_end(), argv[0])),
        (_, None) => Ok(printed.text.expose().clone()),
    }
}
