//! What came of several tokens, one by one: lines for people, or objects one after the other.
use crate::{
    cli::Output,
    command_error::CommandError,
    show::{machine_readable, print},
};
use serde::Serialize;

/// Results on standard output, in the form that was asked for.
pub(crate) struct Stream {
    output: Option<Output>,
    is_begun: bool,
}

impl Stream {
    pub(crate) fn of(output: Option<Output>) -> Self {
        Self { output, is_begun: false }
    }

    /// The next result: `line` for people, `object` for programs.
    pub(crate) fn put(&mut self, line: &str, object: &impl Serialize) -> Result<(), CommandError> {
        let Some(output) = self.output else { return print(line) };
        if self.is_begun && output == Output::Yaml {
            print("---\n")?;
        }
        self.is_begun = true;
        machine_readable(object, output)
    }
}
