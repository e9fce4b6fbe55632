//! What a CommandsConfig accepts and what it refuses.
use super::{Command, DEFAULT_TIMEOUT, Program, Repeat, When};
use crate::{
    AnyDocument,
    testing::{problems, read_one, spec},
};
use std::time::Duration;

fn commands(yaml: &str) -> Vec<Command> {
    match spec("CommandsConfig", yaml) {
        AnyDocument::Commands(commands) => commands,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_runs_once_before_provisioning_unless_told_otherwise() {
    let command = commands("commands: [{name: a, argv: [/bin/true]}]").remove(0);
    assert_eq!(command.program, Program::Argv(vec!["/bin/true".into()]));
    assert_eq!((command.when, command.repeat, command.timeout), (When::Before, Repeat::Once, DEFAULT_TIMEOUT));
}

#[test]
fn every_member_is_decoded() {
    let yaml = "
commands:
- {name: a, shell: s, when: after, run: always, creates: /x, unless: u, environment: {A_1: e}, timeout: 1h30m}";
    let command = commands(yaml).remove(0);
    assert!(matches!(&command.program, Program::Shell(script) if script.expose() == "s"));
    assert_eq!(
        (command.when, command.repeat, command.timeout),
        (When::After, Repeat::Always, Duration::from_secs(5400))
    );
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
    assert_eq!(found[7..], ["spec.commands[1]", "spec.commands[2]", "spec.commands[3].argv", "spec.commands[4].shell"]);
}

#[test]
fn a_word_that_is_not_a_choice_is_refused() {
    let found = problems("CommandsConfig", "commands: [{name: a, argv: [ls], when: before-all, run: Once}]");
    assert_eq!(found, ["spec.commands[0].when", "spec.commands[0].run"]);
}
