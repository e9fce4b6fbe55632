//! `machineadm reset`: undoes what machineadm and kubeadm did on this machine.
use super::{confirm, run::lock, small_file};
use crate::{
    api_servers::ApiServers,
    cli::Output,
    command_error::CommandError,
    context::{machine, silent_machine},
    downloads::HttpsDownloads,
    interrupt,
    runtimes::Runtimes,
    show,
};
use clap::{
    ArgAction, Args,
    builder::{OsStringValueParser, TypedValueParser},
};
use cluster::Kubeconfig;
use engine::{
    MemberQuestion, PlanError, ResetError, ResetPlan, ResetRequest, ResetScope, ResetView, World, outcome::chain,
};
use host::{Inspect, Linux, contract::Exit, linux::input::Care};
use kubeadm::KubernetesVersion;
use objects::one_line;
use secret::Secret;
use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

/// How long a reset waits for an etcd that may be starting.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same for `--dry-run`.
const BRIEFLY: Duration = Duration::from_secs(3);
const CERTIFICATES: &str = objects::kubernetes_paths::PKI;
/// The first minor version whose kubeadm has `reset --cleanup-tmp-dir`.
const CLEANUP_TMP_DIR: u32 = 26;
const AGAIN: &str = "interrupted; to continue: machineadm reset";

#[derive(Debug, Args)]
pub(crate) struct Reset {
    /// Do not ask for confirmation
    #[arg(short, long, alias = "yes", short_alias = 'y', value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) force: bool,
    /// Show what would be undone, and change nothing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) dry_run: bool,
    /// Leave what documents wrote: undo only what made this machine a node
    #[arg(long)]
    pub(crate) node_only: bool,
    /// The etcd member of this machine was removed on another node: delete its data also if etcd does not answer
    #[arg(long)]
    pub(crate) etcd_member_removed: bool,
    /// Socket of the container runtime. Default: kubeadm looks for it
    #[arg(long, value_name = "SOCKET")]
    pub(crate) cri_socket: Option<String>,
    /// Kubeconfig to ask the cluster for its etcd servers. Default: /etc/kubernetes/admin.conf
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Directory of kubeadm's certificates; kubeadm deletes everything in it
    #[arg(long, value_name = "DIRECTORY", default_value = CERTIFICATES)]
    pub(crate) cert_dir: String,
    /// Also delete the content of /etc/kubernetes/tmp; kubeadm 1.26 or newer
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value_t = false, default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub(crate) cleanup_tmp_dir: bool,
    /// Passed on to kubeadm; may be repeated or a list with commas
    #[arg(long, value_name = "CHECK", value_delimiter = ',')]
    pub(crate) ignore_preflight_errors: Vec<String>,
    /// Not supported: the fields of a ResetConfiguration are flags here
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) config: Option<String>,
    /// Not supported: a reset that leaves parts of a node out cannot be continued
    #[arg(long, value_name = "PHASE", value_delimiter = ',', hide = true)]
    pub(crate) skip_phases: Vec<String>,
    /// Output format
    #[arg(short, long, value_enum)]
    pub(crate) output: Option<Output>,
}

/// Only the running system is a node: there is no `--root`.
pub(crate) fn run(asked: &Reset) -> Result<Exit, CommandError> {
    check(asked)?;
    let root = Path::new("/");
    let seen = silent_machine(root)?;
    let request = request(asked, &seen)?;
    if asked.dry_run {
        return dry_run(&request, asked.output, &seen);
    }
    if !asked.force {
        confirm::on_terminal("--force")?;
    }
    let _lock = lock(&seen, "machineadm reset")?;
    let plan = ResetPlan::new(&request, &seen, &ApiServers).map_err(refused)?;
    let mut view = ResetView::new(seen.name(), &plan, request.scope, &seen)?;
    if plan.is_empty() {
        return print(&view, asked.output);
    }
    if !asked.force {
        confirm::ask(&show::reset::text(&view), "\nReset this machine?")?;
    }
    interrupt::advise(AGAIN.to_owned());
    let mut linux = machine(root, Box::new(|line| tell!("  | {}", one_line(line))))?;
    let downloads = HttpsDownloads { transferred: &|_| () };
    let mut world = World {
        host: &mut linux,
        cluster: &ApiServers,
        runtime: &Runtimes,
        downloads: &downloads,
        patience: request.patience,
    };
    engine::reset(&request, &plan, &mut world, &mut |part| tell!("{part}")).map_err(refused)?;
    view.is_done = true;
    print(&view, asked.output)
}

/// What is not supported is refused before anything is looked at.
fn check(asked: &Reset) -> Result<(), CommandError> {
    // As with kubeadm, an empty value is none.
    if asked.config.as_ref().is_some_and(|name| !name.is_empty()) {
        return Err(CommandError::invalid("--config: a ResetConfiguration is not supported").with_remedy(
            "pass its fields as flags: force as --force, dryRun as --dry-run, certificatesDir as --cert-dir, criSocket as \
             --cri-socket, cleanupTmpDir as --cleanup-tmp-dir, ignorePreflightErrors as --ignore-preflight-errors",
        ));
    }
    if let Some(phase) = asked.skip_phases.iter().find(|phase| !phase.is_empty()) {
        return Err(CommandError::invalid(format!(
            "--skip-phases {}: a reset that leaves parts of a node out cannot be continued",
            one_line(phase)
        ))
        .with_remedy(
            "leave it out: machineadm removes the etcd member itself, before kubeadm runs. To keep what documents wrote, \
             pass --node-only",
        ));
    }
    Ok(())
}

fn request(asked: &Reset, linux: &Linux) -> Result<ResetRequest, CommandError> {
    let mut flags = Vec::new();
    let certificates = certificates(&asked.cert_dir)?;
    if certificates != CERTIFICATES {
        flags.push(format!("--cert-dir={certificates}"));
    }
    let ignored: Vec<&str> =
        asked.ignore_preflight_errors.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
    // kubeadm refuses others beside it, and the etcd member is removed by then.
    let ignored = if ignored.iter().any(|name| name.eq_ignore_ascii_case("all")) { vec!["all"] } else { ignored };
    if !ignored.is_empty() {
        flags.push(format!("--ignore-preflight-errors={}", ignored.join(",")));
    }
    if asked.cleanup_tmp_dir {
        check_cleanup_tmp_dir(linux)?;
        flags.push("--cleanup-tmp-dir".to_owned());
    }
    let named_kubeconfig = asked.kubeconfig.as_deref().filter(|path| !path.as_os_str().is_empty());
    let socket = |socket: &String| socket.strip_prefix("unix://").unwrap_or(socket).to_owned();
    Ok(ResetRequest {
        runtime_socket: asked.cri_socket.as_ref().filter(|socket| !socket.is_empty()).map(socket),
        certificates,
        kubeconfig: named_kubeconfig.map(kubeconfig).transpose()?,
        flags,
        question: if asked.etcd_member_removed { MemberQuestion::IsRemoved } else { MemberQuestion::IsAsked },
        scope: if asked.node_only { ResetScope::NodeOnly } else { ResetScope::Machine },
        patience: if asked.dry_run { BRIEFLY } else { PATIENCE },
    })
}

/// The certificates directory. kubeadm deletes everything in it: `$DIRECTORY/` in a script that has not set that variable would
/// be the whole system.
fn certificates(given: &str) -> Result<String, CommandError> {
    // As with kubeadm, an empty value is none.
    if given.is_empty() {
        return Ok(CERTIFICATES.to_owned());
    }
    let path = std::path::absolute(given).ok().map(|path| path.components().collect::<PathBuf>());
    let is_below_root =
        |path: &PathBuf| path.parent().is_some() && !path.components().any(|part| part == Component::ParentDir);
    path.filter(is_below_root).and_then(|path| path.to_str().map(str::to_owned)).ok_or_else(|| {
        let text = format!("--cert-dir {} is the root directory, or has `..` in it", one_line(given));
        CommandError::invalid(text).with_remedy("pass the certificates directory: kubeadm deletes everything in it")
    })
}

/// A kubeconfig that no other user can write: it says which servers are trusted to list the members of etcd.
fn kubeconfig(path: &Path) -> Result<Secret<Vec<u8>>, CommandError> {
    // An absolute name, since `-` is no standard input here.
    let name = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut bytes = small_file::bytes(&name.to_string_lossy(), Care::Applying)?;
    let invalid = |error: cluster::Error| CommandError::invalid(format!("{}: {}", name.display(), chain(&error)));
    // As it is read later on, by `ApiServers`.
    let kubeconfig = Kubeconfig::read(&bytes, Path::new(objects::kubernetes_paths::KUBERNETES)).map_err(invalid)?;
    match kubeconfig.exec {
        None => Ok(Secret::new(std::mem::take(&mut *bytes))),
        Some(_) => {
            Err(CommandError::invalid(format!("{} has an exec plugin, which a reset does not start", name.display()))
                .with_remedy("pass a kubeconfig with a client certificate or a token"))
        }
    }
}

/// An older kubeadm would fail only after the etcd member is removed.
fn check_cleanup_tmp_dir(linux: &Linux) -> Result<(), CommandError> {
    let printed = linux.output(&["kubeadm", "version", "-o", "short"], Duration::from_secs(60))?.unwrap_or_default();
    let version = printed.trim().parse::<KubernetesVersion>();
    match version {
        Ok(version) if version.minor < CLEANUP_TMP_DIR => Err(CommandError::invalid(format!(
            "--cleanup-tmp-dir requires kubeadm 1.{CLEANUP_TMP_DIR} or newer, and this one is {}",
            one_line(printed.trim())
        ))
        .with_remedy("leave it out, and delete the content of /etc/kubernetes/tmp")),
        _ => Ok(()),
    }
}

fn dry_run(request: &ResetRequest, output: Option<Output>, linux: &Linux) -> Result<Exit, CommandError> {
    if let Some(holder) = linux.lock_holder()? {
        return Err(CommandError::new(Exit::Locked, format!("a run is in progress: {}", one_line(&holder.0)))
            .with_remedy("wait until that run has ended"));
    }
    linux.state().check()?;
    let plan = ResetPlan::new(request, linux, &ApiServers).map_err(refused)?;
    print(&ResetView::new(linux.name(), &plan, request.scope, linux)?, output)?;
    if output.is_none() {
        tell!("\nNothing was changed.");
    }
    Ok(Exit::Done)
}

fn print(view: &ResetView, output: Option<Output>) -> Result<Exit, CommandError> {
    match output {
        Some(output) => show::machine_readable(view, output)?,
        None => show::print_text(&show::reset::text(view))?,
    }
    Ok(Exit::Done)
}

/// Why the machine is not reset, and what to do about it.
fn refused(error: ResetError) -> CommandError {
    match error {
        ResetError::Machine(error) => error.into(),
        ResetError::Documents(error) => CommandError::from(&error),
        ResetError::Restore(failure) => match *failure.cause {
            PlanError::Look(error) => error.into(),
            error => CommandError::from(&error),
        },
        ResetError::MemberUnknown(_) => CommandError::manual_action(chain(&error)).with_remedies([
            "start the control plane of this machine (systemctl start kubelet), then run: machineadm reset",
            "if the cluster has another certificates directory (certificatesDir), pass it: --cert-dir DIRECTORY; kubeadm \
             deletes everything in it",
            "or, on another control plane node, run: machineadm control-plane remove NODE; then here: machineadm reset \
             --etcd-member-removed",
        ]),
        ResetError::MemberListed(_) => CommandError::manual_action(chain(&error))
            .with_remedy("leave --etcd-member-removed out: machineadm reset then removes the member itself"),
        ResetError::MemberNeeded(_) => CommandError::manual_action(chain(&error)).with_remedy(
            "start control plane nodes that are down, or remove those that are lost (machineadm control-plane remove \
             NODE), or wait until a machine that is joining has joined; then run: machineadm reset",
        ),
        ResetError::MemberNotRemoved(_) => {
            CommandError::failed(chain(&error)).with_remedy("run it again: machineadm reset")
        }
        ResetError::NoKubeadm => CommandError::failed(chain(&error))
            .with_remedy("install kubeadm in the version of this machine's kubelet, then run: machineadm reset"),
        ResetError::MembersChanged => {
            CommandError::manual_action(chain(&error)).with_remedy("see what it does now: machineadm reset --dry-run")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, FromArgMatches};

    fn asked(words: &[&str]) -> ResetRequest {
        let command = Reset::augment_args(Command::new("reset"));
        let matches = command.get_matches_from([&["reset"][..], words].concat());
        let scratch = tempfile::tempdir().unwrap();
        request(&Reset::from_arg_matches(&matches).unwrap(), &silent_machine(scratch.path()).unwrap()).unwrap()
    }

    /// As a script gives a variable that is not set: kubeadm would fail when the etcd member is removed already.
    #[test]
    fn an_empty_value_is_none() {
        let empty = asked(&["--cri-socket", "", "--cert-dir", "", "--ignore-preflight-errors", "", "--kubeconfig", ""]);
        assert!(empty.kubeconfig.is_none());
        assert_eq!((empty.runtime_socket, empty.certificates.as_str(), empty.flags), (None, CERTIFICATES, vec![]));
        let given =
            asked(&["--cri-socket", "unix:///run/a.sock", "--cert-dir=/srv/pki", "--ignore-preflight-errors=A,B"]);
        assert_eq!((given.runtime_socket.as_deref(), given.certificates.as_str()), (Some("/run/a.sock"), "/srv/pki"));
        assert_eq!(given.flags, ["--cert-dir=/srv/pki", "--ignore-preflight-errors=A,B"]);
        assert_eq!(asked(&["--cert-dir", "/etc/kubernetes//pki/"]).flags, [""; 0]);
        assert_eq!(asked(&["--ignore-preflight-errors", "Swap,All"]).flags, ["--ignore-preflight-errors=all"]);
    }
}
