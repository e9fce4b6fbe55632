//! CommandsConfig: what else has to be run, and how to see that it has been.
use super::{API_VERSION, absolute_path::path_problem, duration};
use crate::{
    Claim, Claimed, Secret,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// A command of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// `<document>/<command>`, or the command's name alone where the document has none; unique in a configuration.
    pub name: String,
    /// What to run.
    pub program: Program,
    /// Once, or at every run.
    pub repeat: Repeat,
    /// The command is done when this path exists.
    pub creates: Option<String>,
    /// The command is done when this shell command succeeds.
    pub unless: Option<Secret<String>>,
    /// Variables for this command only.
    pub environment: BTreeMap<String, Secret<String>>,
    /// When to give up.
    pub timeout: Duration,
    /// Whether the machine needs a reboot once the command has run.
    pub needs_reboot: bool,
}

/// What a command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments, no shell between.
    Argv(Vec<String>),
    /// A script for `/bin/sh -e`; it may hold secrets, so it never becomes an argument.
    Shell(Secret<String>),
}

/// How often a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Repeat {
    /// Until the command has succeeded once.
    #[default]
    Once,
    /// At every run, unless `creates` or `unless` shows that it is done.
    Always,
}

/// What to do about a member of earlier versions.
const WHEN: &str = "the document's position decides: put it before or after the InitConfig or JoinConfig";

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30 * 60);
const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Commands that are run on the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandsConfig {
    /// The commands, run in this order.
    #[schemars(length(min = 1))]
    pub commands: Vec<CommandEntry>,
}

/// One command. Exactly one of `argv` and `shell`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("oneOf" = [{"required": ["argv"]}, {"required": ["shell"]}]), extend("x-machineadm-removed" = {"when": WHEN}))]
pub struct CommandEntry {
    /// Name of the command in plans and reports: lower-case letters, digits, `-` and `.`.
    #[schemars(length(max = 63), regex(pattern = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"))]
    pub name: String,
    /// A program and its arguments, run without a shell. The program is an absolute path, or a name found in PATH.
    /// Every user of the machine can see the arguments: put secrets into `environment` or `shell`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub argv: Option<Vec<String>>,
    /// A script for `/bin/sh -e`, passed on standard input. It is never shown.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub shell: Option<Secret<String>>,
    /// `once`: until the command has succeeded once on this machine. It is another command, which runs again, when the
    /// name of the command or of its document, `argv`, `shell`, `creates` or `unless` changes; a change of `environment`,
    /// `timeout` or `needsReboot` does not run it again. `always`: at every run. Neither runs while `creates` or `unless`
    /// shows that the command is done.
    #[serde(default)]
    #[schemars(extend("default" = "once"))]
    pub run: Repeat,
    /// The command is not run if this path exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^/.*[^/]$"))]
    pub creates: Option<String>,
    /// The command is not run if this shell command succeeds. It is never shown.
    /// It must end within 60s in a run and 5s in a plan, whatever `timeout` is; when it does not, a run fails, and a
    /// plan shows the command as not checked.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub unless: Option<Secret<String>>,
    /// Variables for this command only. Their values are never shown.
    #[serde(serialize_with = "secret::exposed", skip_serializing_if = "Option::is_none")]
    pub environment: Option<BTreeMap<String, Secret<String>>>,
    /// Timeout such as `90s`, `10m` or `1h30m`, from 1s to 24h.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = duration::PATTERN), extend("default" = "30m"))]
    pub timeout: Option<String>,
    /// The machine needs a reboot after this command has run; machineadm then ends with exit code 5.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub needs_reboot: bool,
}

impl Document for CommandsConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "CommandsConfig";
    const SUMMARY: &str = "Commands that run on the machine, once or at every run, in the order of the documents.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: CommandsConfig
metadata:
  name: storage
spec:
  commands:
  - name: make-filesystem
    argv: [mkfs.ext4, -q, /dev/disk/by-label/data]
    unless: blkid /dev/disk/by-label/data
    timeout: 10m
  - name: register
    shell: |
      curl --fail --header \"Authorization: Bearer $TOKEN\" https://inventory.example.com/register
      touch /var/lib/registered
    environment:
      TOKEN: replace-me
    creates: /var/lib/registered
";
}

impl Check for CommandsConfig {
    type Checked = Vec<Command>;

    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> Vec<Command> {
        let Self { commands } = self;
        if commands.is_empty() {
            findings.error("spec.commands", "must contain at least one command");
        }
        let commands = commands.into_iter().enumerate();
        commands.map(|(index, entry)| command(entry, name, &path::item("spec.commands", index), findings)).collect()
    }
}

impl Body for Vec<Command> {
    fn secrets(&self) -> Vec<&[u8]> {
        self.iter().flat_map(Command::secrets).map(str::as_bytes).collect()
    }

    /// Arguments can be seen by everybody while a command runs, but what came encrypted was not meant for logs.
    fn confidential(&self) -> Vec<&[u8]> {
        self.iter().flat_map(Command::arguments).map(String::as_bytes).collect()
    }

    fn claims<'a>(&'a self, _: Option<&'a str>) -> Vec<Claim<'a>> {
        let claim = |(index, command): (usize, &'a Command)| {
            let here = path::member(&path::item("spec.commands", index), "name");
            Claim::new(here, Claimed::Command(&command.name))
        };
        self.iter().enumerate().map(claim).collect()
    }
}

impl Command {
    fn secrets(&self) -> impl Iterator<Item = &str> {
        let script = match &self.program {
            Program::Shell(script) => Some(script),
            Program::Argv(_) => None,
        };
        let secrets = script.into_iter().chain(&self.unless).chain(self.environment.values());
        secrets.map(|secret| secret.expose().as_str())
    }

    fn arguments(&self) -> &[String] {
        match &self.program {
            Program::Argv(argv) => argv.get(1..).unwrap_or_default(),
            Program::Shell(_) => &[],
        }
    }
}

fn command(entry: CommandEntry, document: Option<&str>, here: &str, findings: &mut Findings<'_>) -> Command {
    let CommandEntry { name, argv, shell, run, creates, unless, environment, timeout, needs_reboot } = entry;
    let field = |name: &str| path::member(here, name);
    if !is_command_name(&name) {
        findings.error(&field("name"), "must be lower-case letters, digits, `-` and `.`, at most 63");
    }
    let program = program(argv, shell, here, findings);
    if let Some(problem) = creates.as_deref().and_then(path_problem) {
        findings.error(&field("creates"), problem);
    }
    if unless.as_ref().is_some_and(|script| !is_script(script.expose())) {
        findings.error(&field("unless"), "must be a shell command, neither empty nor with NUL");
    }
    let environment = environment.unwrap_or_default();
    for (variable, value) in &environment {
        let here = path::member(&field("environment"), variable);
        if !is_variable(variable) {
            findings.error(&here, "invalid variable name: only letters, digits and `_`, not starting with a digit");
        }
        if value.expose().contains('\0') {
            findings.error(&here, "must not contain NUL");
        }
    }
    let timeout = match timeout.as_deref().map(duration::parse) {
        None => Some(DEFAULT_TIMEOUT),
        Some(given) => given.ok().filter(|timeout| (SHORTEST..=LONGEST).contains(timeout)),
    };
    if timeout.is_none() {
        findings.error(&field("timeout"), "must be a duration from 1s to 24h, such as `90s`, `10m` or `1h30m`");
    }
    let name = document.map_or(name.clone(), |document| format!("{document}/{name}"));
    let timeout = timeout.unwrap_or(DEFAULT_TIMEOUT);
    Command { name, program, repeat: run, creates, unless, environment, timeout, needs_reboot }
}

fn program(
    argv: Option<Vec<String>>,
    shell: Option<Secret<String>>,
    here: &str,
    findings: &mut Findings<'_>,
) -> Program {
    let problem = match (argv, shell) {
        (Some(_), Some(_)) => (here.to_owned(), "`argv` and `shell` are both set: remove one of them"),
        (None, None) => (here.to_owned(), "requires `argv` or `shell`"),
        (Some(argv), None) if is_argv(&argv) => return Program::Argv(argv),
        (None, Some(script)) if is_script(script.expose()) => return Program::Shell(script),
        (Some(_), None) => (path::member(here, "argv"), "must start with an absolute path or the name of a program"),
        (None, Some(_)) => (path::member(here, "shell"), "must be a script, neither empty nor with NUL"),
    };
    findings.error(&problem.0, problem.1);
    Program::Argv(Vec::new())
}

fn is_argv(argv: &[String]) -> bool {
    let Some(program) = argv.first() else { return false };
    let found = if program.contains('/') { path_problem(program).is_none() } else { !program.is_empty() };
    found && argv.iter().all(|argument| !argument.contains('\0'))
}

fn is_script(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\0')
}

fn is_command_name(name: &str) -> bool {
    let end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = name.bytes().next().is_some_and(end) && name.bytes().last().is_some_and(end);
    ends && name.len() <= 63 && name.bytes().all(|byte| end(byte) || byte == b'-' || byte == b'.')
}

fn is_variable(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    first && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::{Command, DEFAULT_TIMEOUT, Program, Repeat, WHEN};
    use crate::{
        AnyDocument,
        testing::{problems, read_one, read_text, spec, with_spec},
    };
    use std::time::Duration;

    fn commands(yaml: &str) -> Vec<Command> {
        match spec("CommandsConfig", yaml) {
            AnyDocument::Commands(commands) => commands,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_runs_once_and_needs_no_reboot_unless_told_otherwise() {
        let command = commands("commands: [{name: a, argv: [/bin/true]}]").remove(0);
        assert_eq!(command.program, Program::Argv(vec!["/bin/true".into()]));
        assert_eq!((command.repeat, command.timeout, command.needs_reboot), (Repeat::Once, DEFAULT_TIMEOUT, false));
    }

    #[test]
    fn every_member_is_decoded() {
        let yaml = "
    commands:
    - {name: a, shell: s, run: always, creates: /x, unless: u, environment: {A_1: e}, timeout: 1h30m, needsReboot: true}";
        let command = commands(yaml).remove(0);
        assert!(matches!(&command.program, Program::Shell(script) if script.expose() == "s"));
        let expected = (Repeat::Always, Duration::from_secs(5400), true);
        assert_eq!((command.repeat, command.timeout, command.needs_reboot), expected);
        assert_eq!((command.creates.as_deref(), command.unless.unwrap().expose().as_str()), (Some("/x"), "u"));
        assert_eq!(command.environment["A_1"].expose(), "e");
    }

    #[test]
    fn a_command_carries_its_documents_name() {
        let yaml = "metadata: {name: storage}\nspec: {commands: [{name: a, argv: [ls]}]}";
        let AnyDocument::Commands(commands) = read_one("CommandsConfig", yaml) else { panic!() };
        assert_eq!(commands[0].name, "storage/a");
    }

    #[test]
    fn every_bad_member_of_every_command_is_listed() {
        let yaml = "
    commands:
    - {name: A, argv: [./x], creates: x, unless: ' ', environment: {1A: x, B: \"a\\0b\"}, timeout: 25h}
    - {name: b, argv: [a], shell: b}
    - {name: c}
    - {name: d, argv: []}
    - {name: e, shell: ''}";
        let first = ["name", "argv", "creates", "unless", "environment.1A", "environment.B", "timeout"];
        let expected: Vec<String> = first.iter().map(|field| format!("spec.commands[0].{field}")).collect();
        let found = problems("CommandsConfig", yaml);
        assert_eq!(found[..7], expected);
        assert_eq!(
            found[7..],
            ["spec.commands[1]", "spec.commands[2]", "spec.commands[3].argv", "spec.commands[4].shell"]
        );
    }

    #[test]
    fn a_word_that_is_not_a_choice_is_refused() {
        let found = problems("CommandsConfig", "commands: [{name: a, argv: [ls], run: Once, needsReboot: maybe}]");
        assert_eq!(found, ["spec.commands[0].run", "spec.commands[0].needsReboot"]);
    }

    #[test]
    fn the_former_member_when_is_answered_with_what_decides_now() {
        let text = with_spec("CommandsConfig", "commands: [{name: a, argv: [ls], when: after}]");
        let note = read_text(&text).report.notes.remove(0);
        assert_eq!((note.path.as_str(), note.message.as_str()), ("spec.commands[0].when", "unknown field"));
        assert_eq!(note.hint.as_deref(), Some(WHEN));
    }
}
