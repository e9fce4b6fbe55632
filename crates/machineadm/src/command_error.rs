//! Why a command ended without doing what it was asked for: an exit code, the problems, and their remedies.
//!
//! Commands and everything below them return this value; [`crate::run`] prints it, once, on standard error. Nothing
//! prints while it builds one.
use engine::{PlanError, outcome::chain};
use host::contract::{self, Exit};
use objects::{shell, visible};
use serde_json::{Map, Value};
use std::{fmt, path::Path};

/// An error as the command line reports it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CommandError {
    exit: Exit,
    problems: Vec<Problem>,
}

/// One thing that went wrong, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    form: Form,
    scope: Scope,
    text: String,
    remedies: Vec<String>,
}

/// Whose paths a problem names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// Those of the command line.
    Input,
    /// Those of the machine that is worked on, which may be below a root.
    Machine,
}

/// How a problem is printed.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    /// `error: ` and the text.
    Error,
    /// The same, followed by a pointer to `--help`.
    Usage,
    /// The text as it is: its lines have their own headings.
    Report,
    /// The same for the text of an outcome, which names colours and in which everything of others is printable.
    Outcome,
    /// `note: ` and the text.
    Note,
}

impl CommandError {
    /// One problem.
    pub(crate) fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self::of(exit, Form::Error, text.into())
    }

    /// Something did not work, although the input is valid.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::new(Exit::Failed, text)
    }

    /// The input is invalid and nothing was changed.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(Exit::Input, text)
    }

    /// The input is invalid in several ways, all of which are listed.
    pub(crate) fn invalid_input(problems: impl IntoIterator<Item = String>) -> Self {
        let problem = |text| Problem { form: Form::Error, scope: Scope::Input, text, remedies: Vec::new() };
        Self { exit: Exit::Input, problems: problems.into_iter().map(problem).collect() }
    }

    /// The command cannot be used like this; the text names what is valid.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::of(Exit::Input, Form::Usage, text.into())
    }

    /// Manual action is required; the text says which.
    pub(crate) fn manual_action(text: impl Into<String>) -> Self {
        Self::new(Exit::Person, text)
    }

    /// A text that lists problems under headings of its own, such as that of a [`documents::Report`].
    pub(crate) fn report(exit: Exit, text: impl Into<String>) -> Self {
        Self::of(exit, Form::Report, text.into())
    }

    /// The outcome of a run that failed, as `status` shows it.
    pub(crate) fn outcome(exit: Exit, text: String) -> Self {
        Self::of(exit, Form::Outcome, text)
    }

    fn of(exit: Exit, form: Form, text: String) -> Self {
        Self { exit, problems: vec![Problem { form, scope: Scope::Input, text, remedies: Vec::new() }] }
    }

    /// The same with another exit code.
    pub(crate) fn with_exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Adds a remedy for the last problem.
    pub(crate) fn with_remedy(self, remedy: impl Into<String>) -> Self {
        self.with_remedies([remedy])
    }

    /// Adds remedies for the last problem; an `Option` is none or one.
    pub(crate) fn with_remedies<T: Into<String>>(mut self, remedies: impl IntoIterator<Item = T>) -> Self {
        if let Some(last) = self.problems.last_mut() {
            last.remedies.extend(remedies.into_iter().map(Into::into));
        }
        self
    }

    /// Both errors. Different exit codes together are [`Exit::Failed`]: every other code promises something, such as
    /// that nothing was changed, which then holds for one of them only.
    pub(crate) fn and(mut self, other: Self) -> Self {
        if self.exit != other.exit {
            self.exit = Exit::Failed;
        }
        for problem in other.problems {
            // Standard output that takes nothing fails for each of several results.
            if !self.problems.contains(&problem) {
                self.problems.push(problem);
            }
        }
        self
    }

    /// A fault of the machine: paths in the text and in remedies are that machine's.
    pub(crate) fn of_machine(text: impl Into<String>) -> Self {
        let mut error = Self::failed(text);
        error.problems.iter_mut().for_each(|problem| problem.scope = Scope::Machine);
        error
    }

    /// The same for a file of the command line.
    pub(crate) fn of_input(mut self) -> Self {
        self.problems.iter_mut().for_each(|problem| problem.scope = Scope::Input);
        self
    }

    /// The same for a machine below a root: a remedy that is pasted into a shell must not act on the running system.
    pub(crate) fn below(mut self, root: &Path) -> Self {
        if root == Path::new("/") {
            return self;
        }
        let outside = |text: &str| {
            let place = |own: &str| shell::quoted(&format!("{}{own}", root.to_string_lossy().trim_end_matches('/')));
            [contract::STATE_DIR, contract::RUN_DIR]
                .iter()
                .fold(text.to_owned(), |text, own| text.replace(own, &place(own)))
        };
        let mut is_of_machine = false;
        for problem in self.problems.iter_mut().filter(|problem| problem.scope == Scope::Machine) {
            is_of_machine = true;
            problem.text = outside(&problem.text);
            problem.remedies.iter_mut().for_each(|remedy| *remedy = outside(remedy));
        }
        if is_of_machine {
            let note = format!("other paths of the machine are below {}", root.display());
            self.problems.push(Problem { form: Form::Note, scope: Scope::Input, text: note, remedies: Vec::new() });
        }
        self
    }

    /// The exit code that the program ends with.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// What a log in JSON has beside the message.
    pub(crate) fn members(&self) -> Map<String, Value> {
        [("exitCode".to_owned(), Value::from(self.exit.code()))].into_iter().collect()
    }

    /// The first problem, without its remedies.
    pub(crate) fn text(&self) -> &str {
        self.problems.first().map(|problem| problem.text.as_str()).unwrap_or_default()
    }
}

/// A fault of the machine, with its causes and its remedy.
impl From<host::Error> for CommandError {
    fn from(error: host::Error) -> Self {
        Self::from(&PlanError::Look(error))
    }
}

/// Why nothing can be planned, with its causes and its remedy.
impl From<&PlanError> for CommandError {
    fn from(error: &PlanError) -> Self {
        let remedy = error.of_host().and_then(host::Error::advice);
        Self::of_machine(chain(error)).with_exit(exit_of(error)).with_remedies(remedy)
    }
}

/// The exit code of a run that stopped, or of a plan.
pub(crate) const fn exit_of(error: &PlanError) -> Exit {
    match error {
        PlanError::Look(host::Error::Untrusted { .. }) => Exit::Input,
        _ if error.needs_operator() => Exit::Person,
        _ => Exit::Failed,
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Problem { form, text, remedies, .. } in &self.problems {
            match form {
                Form::Error => writeln!(out, "error: {}", visible(text))?,
                Form::Usage => writeln!(out, "error: {}\n\nFor more information, try '--help'.", visible(text))?,
                Form::Report => write!(out, "{}", visible(text))?,
                Form::Outcome => write!(out, "{text}")?,
                Form::Note => writeln!(out, "note: {}", visible(text))?,
            }
            for remedy in remedies {
                writeln!(out, "remedy: {}", visible(remedy))?;
            }
        }
        Ok(())
    }
}

/// All errors among these results together.
pub(crate) fn all_succeeded(results: impl IntoIterator<Item = Result<(), CommandError>>) -> Result<(), CommandError> {
    results.into_iter().filter_map(Result::err).reduce(CommandError::and).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_is_followed_by_its_own_remedies() {
        let first = CommandError::failed("a").with_remedies(["b", "c"]);
        let error = first.and(CommandError::report(Exit::Failed, "d:\n  e\n")).and(CommandError::usage("f"));
        let printed = "error: a\nremedy: b\nremedy: c\nd:\n  e\nerror: f\n\nFor more information, try '--help'.\n";
        assert_eq!(error.to_string(), printed);
    }

    #[test]
    fn a_machine_fault_brings_its_cause_and_its_remedy() {
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let error = CommandError::from(host::Error::System { doing: "open /a".into(), source });
        assert_eq!(error.to_string(), "error: cannot open /a: permission denied\nremedy: run as root\n");
        assert_eq!(error.exit(), Exit::Failed);
    }

    #[test]
    fn errors_together_keep_an_exit_code_that_all_of_them_have() {
        let invalid = || Err(CommandError::invalid("a"));
        let together = |second| all_succeeded([invalid(), Ok(()), second]).map_err(|error| error.exit());
        assert_eq!(together(Err(CommandError::usage("b"))), Err(Exit::Input));
        assert_eq!(together(Err(CommandError::failed("b"))), Err(Exit::Failed));
        assert_eq!(together(Ok(())), Err(Exit::Input));
        assert_eq!(all_succeeded([Ok(())]), Ok(()));
    }

    #[test]
    fn the_same_problem_is_printed_once() {
        let lost = || Err(CommandError::failed("a"));
        assert_eq!(all_succeeded([lost(), lost()]).map_err(|error| error.to_string()), Err("error: a\n".to_owned()));
    }
}
