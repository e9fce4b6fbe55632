//! Everything that is wrong with an input, in its order, for people and for programs.
use crate::limits::NOTES;
use serde::Serialize;
use std::fmt;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The input can't be used.
    Error,
    /// The input may be right, but what it names could not be had.
    Unavailable,
    /// Probably not what was meant.
    Warning,
}

impl Severity {
    /// Whether one can't go on.
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::Warning)
    }
}

/// One problem: where it is, what is wrong, and what to do. It never holds a value from the input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// How bad it is.
    pub severity: Severity,
    /// The file's name, or `-`.
    pub source: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// Which document of the file, counted from 1; absent when the problem is the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// The document's kind, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The document's name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The field, as in `spec.files[0].path`; empty when the problem is the document's.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The problems of an input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// In the order of the files, at most [`NOTES`].
    pub notes: Vec<Note>,
    /// How many problems there are, those that are not listed included.
    pub total: usize,
    #[serde(skip)]
    errors: usize,
    #[serde(skip)]
    unavailable: usize,
}

impl Report {
    /// A report that lists the first of these problems, errors rather than warnings.
    pub fn new(mut notes: Vec<Note>) -> Self {
        let total = notes.len();
        let unavailable = notes.iter().filter(|note| note.severity == Severity::Unavailable).count();
        let errors = notes.iter().filter(|note| note.severity.is_error()).count();
        let mut room = (errors.min(NOTES), NOTES.saturating_sub(errors));
        notes.retain(|note| {
            let room = if note.severity.is_error() { &mut room.0 } else { &mut room.1 };
            let fits = *room > 0;
            *room = room.saturating_sub(1);
            fits
        });
        Self { notes, total, errors, unavailable }
    }

    /// Whether one can't go on.
    pub const fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether something was unavailable, and nothing is invalid in the input itself.
    pub const fn is_unavailable(&self) -> bool {
        self.unavailable > 0 && self.errors == self.unavailable
    }

    /// The first error in one line, and how many there are besides.
    pub fn cause(&self) -> Option<String> {
        let first = self.notes.iter().find(|note| note.severity.is_error())?.line();
        match self.errors - 1 {
            0 => Some(first),
            1 => Some(format!("{first}; and one more problem")),
            more => Some(format!("{first}; and {more} more problems")),
        }
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }
}

/// Longer paths than this don't push the messages of all others aside.
const WIDEST_PATH: usize = 40;

/// One section per file, as `validate` prints it.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.notes.iter().map(|note| width(&note.place())).max().unwrap_or_default();
        let paths = self.notes.iter().map(|note| width(&note.path)).filter(|width| *width <= WIDEST_PATH).max();
        for (index, notes) in self.notes.chunk_by(|a, b| a.source == b.source).enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}: {}\n", notes[0].source, counted(notes))?;
            for note in notes {
                writeln!(f, "  {}", format!("{:places$} {}", note.place(), note.title()).trim_end())?;
                let path = if note.path.is_empty() {
                    String::new()
                } else {
                    format!("{:1$}   ", note.path, paths.unwrap_or(0))
                };
                writeln!(f, "    {path}{}", note.text())?;
            }
        }
        match self.total - self.notes.len() {
            0 => Ok(()),
            more => writeln!(f, "\nand {more} more {}", if more == 1 { "problem" } else { "problems" }),
        }
    }
}

impl Note {
    /// The whole of it in one line.
    pub fn line(&self) -> String {
        let parts = [self.place(), self.title(), self.path.clone(), self.text()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    }

    fn place(&self) -> String {
        format!("{}:{}:{}", self.source, self.line, self.column)
    }

    fn title(&self) -> String {
        let Some(number) = self.document else { return String::new() };
        let kind = self.kind.as_ref().map(|kind| format!(", {kind}")).unwrap_or_default();
        let name = self.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        format!("document {number}{kind}{name}")
    }

    fn text(&self) -> String {
        let severity = if self.severity == Severity::Warning { "warning: " } else { "" };
        let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{severity}{}{hint}", self.message)
    }
}

fn counted(notes: &[Note]) -> String {
    let errors = notes.iter().filter(|note| note.severity.is_error()).count();
    let plural = |count, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    match (errors, notes.len() - errors) {
        (errors, 0) => plural(errors, "problem"),
        (0, warnings) => plural(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", plural(errors, "problem"), plural(warnings, "warning")),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(line: usize, column: usize, title: (usize, &str, Option<&str>), path: &str, message: &str) -> Note {
        Note {
            severity: Severity::Error,
            source: "node.yaml".into(),
            line,
            column,
            document: Some(title.0),
            kind: Some(title.1.into()),
            name: title.2.map(str::to_owned),
            path: path.into(),
            message: message.into(),
            hint: None,
        }
    }

    #[test]
    fn a_report_reads_as_the_experience_shows_it() {
        let mut first = note(6, 3, (1, "SysctlConfig", Some("kernel")), "spec.parametres", "unknown field");
        first.hint = Some("did you mean `parameters`?".into());
        let rounds = "12 rounds are too few: at least 1000, 50000 by default";
        let both = "`token` and `file` are both set: keep the one that this machine can trust";
        let report = Report::new(vec![
            first,
            note(19, 14, (2, "EncryptedConfig", None), "spec.iterations", rounds),
            note(31, 5, (4, "JoinConfig", None), "spec.discovery", both),
        ]);
        let expected = "\
node.yaml: 3 problems

  node.yaml:6:3   document 1, SysctlConfig kernel
    spec.parametres   unknown field; did you mean `parameters`?
  node.yaml:19:14 document 2, EncryptedConfig
    spec.iterations   12 rounds are too few: at least 1000, 50000 by default
  node.yaml:31:5  document 4, JoinConfig
    spec.discovery    `token` and `file` are both set: keep the one that this machine can trust
";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn a_cause_is_one_line_and_tells_wrong_from_unavailable() {
        let report = Report::default();
        assert_eq!((report.cause(), report.is_unavailable()), (None, false));
        let mut first = note(6, 3, (1, "RemoteConfig", Some("a")), "spec.uri", "status 503");
        first.severity = Severity::Unavailable;
        let as_severity = |severity| Note { severity, ..first.clone() };
        let line = "node.yaml:6:3: document 1, RemoteConfig a: spec.uri: status 503";
        for notes in [vec![first.clone()], vec![first.clone(), as_severity(Severity::Warning)]] {
            let report = Report::new(notes);
            assert_eq!((report.cause().as_deref(), report.is_unavailable()), (Some(line), true));
        }
        let report = Report::new(vec![first.clone(), as_severity(Severity::Error)]);
        assert_eq!(report.cause(), Some(format!("{line}; and one more problem")));
        assert!(!report.is_unavailable() && report.has_errors());
    }

    #[test]
    fn a_report_lists_the_first_hundred_problems_and_the_number_of_the_rest() {
        let problem = note(1, 1, (1, "FilesConfig", None), "spec", "required, but missing");
        let warning = Note { severity: Severity::Warning, ..problem.clone() };
        let notes = [vec![warning; 60], vec![problem; 70]].concat();
        let report = Report::new(notes);
        assert_eq!((report.notes.len(), report.total), (100, 130));
        let warnings = report.notes.iter().filter(|note| note.severity == Severity::Warning).count();
        assert_eq!(warnings, 30, "no warning takes the place of an error");
        assert!(report.to_string().ends_with("\n\nand 30 more problems\n"), "{report}");
        assert!(report.cause().is_some_and(|cause| cause.ends_with("; and 69 more problems")));
        assert_eq!(serde_json::to_value(&report).unwrap()["total"], 130);
    }

    #[test]
    fn each_file_has_its_own_heading() {
        let first = note(1, 1, (1, "ProxyConfig", None), "spec", "required, but missing");
        let mut second = Note { source: "-".into(), severity: Severity::Warning, ..first.clone() };
        second.document = None;
        second.path.clear();
        let expected = "\
node.yaml: 1 problem

  node.yaml:1:1 document 1, ProxyConfig
    spec   required, but missing

-: 1 warning

  -:1:1
    warning: required, but missing
";
        assert_eq!(Report::new(vec![first, second]).to_string(), expected);
    }
}
