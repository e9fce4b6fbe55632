//! From the text of one document to its tree, within limits and without YAML's surprises.
use crate::{
    findings::Problem,
    limits::{Budget, DEPTH, SIGNS_IN_BRACKETS, spend},
    stream::Piece,
    tree::{Key, Node, Place, Value},
};
use objects::yaml::signs_in_brackets;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use zeroize::Zeroizing;

/// Parses one document. It stops at the first problem: what follows a syntax error can't be judged.
pub(crate) fn parse(piece: &Piece<'_>, budget: &mut Budget) -> Result<Node, Problem> {
    refuse_control_characters(piece)?;
    if piece.text.len() > SIGNS_IN_BRACKETS && signs_in_brackets(piece.text) > SIGNS_IN_BRACKETS {
        let place = Place { line: piece.line, column: 1 };
        return Err(
            Problem::error(place, "", "has too many values inside `[]` and `{}`").hint("write it as indented lines")
        );
    }
    let mut builder = Builder { offset: piece.line - 1, open: Vec::new(), root: None, documents: 0, budget };
    for event in Parser::new_from_str(piece.text) {
        match event {
            Ok((event, span)) => builder.take(event, span)?,
            Err(error) => return Err(syntax_error(&error, builder.offset)),
        }
    }
    builder.root.ok_or_else(|| Problem::error(Place { line: piece.line, column: 1 }, "", "the document is empty"))
}

/// YAML forbids them, and the parser takes NUL for the end: what follows would be lost without a word.
fn refuse_control_characters(piece: &Piece<'_>) -> Result<(), Problem> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some(at) = piece.text.find(is_bad) else { return Ok(()) };
    let before = &piece.text[..at];
    let line = piece.line + before.matches('\n').count();
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let problem = Problem::error(Place { line, column }, "", "a control character is not allowed in YAML");
    Err(problem.hint("in double quotes write it as an escape such as `\\0`"))
}

fn syntax_error(error: &ScanError, offset: usize) -> Problem {
    let place = Place { line: offset + error.marker().line(), column: error.marker().col() + 1 };
    // The parser's texts are fixed words, except for one that quotes a character of the input.
    let message = match error.info() {
        "recursion limit exceeded" => too_deep(),
        info if info.starts_with("unexpected character") => "not valid YAML: unexpected character".to_owned(),
        info => format!("not valid YAML: {info}"),
    };
    Problem::error(place, "", message)
}

fn too_deep() -> String {
    format!("nested more than {DEPTH} deep")
}

struct Builder<'b> {
    offset: usize,
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
    budget: &'b mut Budget,
}

/// A mapping or list that has not ended yet.
enum Open {
    Sequence(Place, Vec<Node>),
    Mapping(Place, Vec<(Key, Node)>, Option<Key>),
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Problem> {
        let place = Place { line: self.offset + span.start.line(), column: span.start.col() + 1 };
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(anchor, tag) | Event::MappingStart(anchor, tag) => (*anchor, tag.is_some()),
            Event::Alias(anchor) => (*anchor, false),
            _ => (0, false),
        };
        if anchor != 0 {
            let problem = Problem::error(place, "", "anchors (`&`) and aliases (`*`) are not accepted");
            return Err(problem.hint("write the value out"));
        }
        if tag {
            let problem = Problem::error(place, "", "tags (`!`) are not accepted");
            return Err(problem.hint("leave it out, or quote the text"));
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let text = Zeroizing::new(text.into_owned());
                self.scalar(place, text, style == ScalarStyle::Plain)
            }
            Event::SequenceStart(..) => self.open(place, Open::Sequence(place, Vec::new())),
            Event::MappingStart(..) => self.open(place, Open::Mapping(place, Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::DocumentStart(_) => self.document(place),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Alias(_) => Ok(()),
        }
    }

    fn document(&mut self, place: Place) -> Result<(), Problem> {
        self.documents += 1;
        if self.documents > 1 {
            // Lines that end in a lone carriage return: a line for YAML, none for anybody else.
            return Err(
                Problem::error(place, "", "a document starts in the middle of a line").hint("end lines with LF")
            );
        }
        Ok(())
    }

    fn scalar(&mut self, place: Place, text: Zeroizing<String>, plain: bool) -> Result<(), Problem> {
        self.count(place)?;
        match self.open.last_mut() {
            Some(Open::Mapping(_, _, key @ None)) => {
                *key = Some(Key { place, text });
                Ok(())
            }
            _ => self.put(Node { place, value: Value::Scalar { text, plain } }),
        }
    }

    fn open(&mut self, place: Place, open: Open) -> Result<(), Problem> {
        self.count(place)?;
        if matches!(self.open.last(), Some(Open::Mapping(_, _, None))) {
            return Err(Problem::error(place, "", "a key must be text, not a mapping or a list"));
        }
        if self.open.len() == DEPTH {
            return Err(Problem::error(place, "", too_deep()));
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self) -> Result<(), Problem> {
        match self.open.pop() {
            Some(Open::Sequence(place, items)) => self.put(Node { place, value: Value::Sequence(items) }),
            Some(Open::Mapping(place, entries, _)) => self.put(Node { place, value: Value::Mapping(entries) }),
            None => Ok(()),
        }
    }

    fn put(&mut self, node: Node) -> Result<(), Problem> {
        match self.open.last_mut() {
            Some(Open::Sequence(_, items)) => items.push(node),
            Some(Open::Mapping(_, entries, key)) => entries.extend(key.take().map(|key| (key, node))),
            None => self.root = Some(node),
        }
        Ok(())
    }

    fn count(&mut self, place: Place) -> Result<(), Problem> {
        let full = || Problem::error(place, "", "the configuration has too many keys and values");
        spend(&mut self.budget.nodes, 1).ok_or_else(full)
    }
}
