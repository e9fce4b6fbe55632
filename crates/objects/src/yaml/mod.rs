//! From the text of one document to a tree of values, as the readers of Kubernetes' programs see it (YAML 1.1, with
//! anchors, in limits), and back.
mod block;
mod builder;
mod flow;
mod json;
mod limits;
mod scalars;
mod write;

use crate::wipe;
use builder::Builder;
use limits::SIGNS_IN_BRACKETS;
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};
use scalars::plain;
use serde_json::Value;

pub use block::{Sink, write_behind};
pub use flow::signs_in_brackets;
pub use write::{write, write_blocks, write_stream};

/// A document as a tree.
pub struct Tree {
    /// Its value.
    pub value: Value,
    /// Paths of keys that stand twice in their mapping, at most a hundred; the last of them counts.
    pub repeated: Vec<String>,
    /// Whether something follows the document that isn't empty: another document, or what is none.
    pub goes_on: bool,
}

impl Drop for Tree {
    fn drop(&mut self) {
        wipe(&mut self.value);
    }
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SyntaxError {
    /// The line of the document, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// The value of one document, YAML or JSON, as kubeadm or kubectl would see it; of a repeated key the last one counts.
pub fn value(text: &str) -> Result<Value, SyntaxError> {
    parse(text).map(|mut tree| std::mem::take(&mut tree.value))
}

/// Parses one document; what follows its end (`---` or `...`) is not read, as kubeadm does, but its presence is told.
pub fn parse(text: &str) -> Result<Tree, SyntaxError> {
    refuse_control_characters(text)?;
    match parse_yaml(text) {
        // Some JSON is no YAML for the parser, such as tabs for indentation; its own reader needs little for brackets.
        Err(NoYaml::Syntax(error) | NoYaml::Brackets(error)) if text.trim_start().starts_with('{') => {
            json::parse(text).unwrap_or(Err(error))
        }
        Err(NoYaml::Syntax(error) | NoYaml::Brackets(error) | NoYaml::Content(error)) => Err(error),
        Ok(tree) => Ok(tree),
    }
}

/// Why the YAML parser gave no tree.
enum NoYaml {
    /// It can't read the text.
    Syntax(SyntaxError),
    /// It would need too much memory for the text.
    Brackets(SyntaxError),
    /// It can, but what the text says is too much, or nothing that JSON has.
    Content(SyntaxError),
}

/// YAML forbids them, and the parser takes NUL for the end: what follows would be lost without a word.
fn refuse_control_characters(text: &str) -> Result<(), SyntaxError> {
    let is_bad = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some(at) = text.find(is_bad) else { return Ok(()) };
    let line = text[..at].matches('\n').count() + 1;
    Err(SyntaxError { line, message: "a control character is not allowed in YAML".to_owned() })
}

fn parse_yaml(text: &str) -> Result<Tree, NoYaml> {
    if text.len() > SIGNS_IN_BRACKETS && signs_in_brackets(text) > SIGNS_IN_BRACKETS {
        let message = "holds too much in `[]` and `{}`: write it as indented lines".to_owned();
        return Err(NoYaml::Brackets(SyntaxError { line: 1, message }));
    }
    let mut builder = Builder::default();
    let mut events = Parser::new_from_str(text);
    for event in events.by_ref() {
        let (event, span) = event.map_err(|error| NoYaml::Syntax(syntax_error(&error)))?;
        if event == Event::DocumentEnd {
            break;
        }
        builder.take(event, span).map_err(NoYaml::Content)?;
    }
    let goes_on = events.any(|event| event.map_or(true, |(event, _)| says_something(&event)));
    Ok(Tree { value: builder.root.unwrap_or_default(), repeated: builder.repeated.0, goes_on })
}

fn syntax_error(error: &ScanError) -> SyntaxError {
    // Fixed words, except for one text that quotes a character.
    let message = match error.info() {
        info if info.starts_with("unexpected character") => "not valid YAML: unexpected character".to_owned(),
        info => format!("not valid YAML: {info}"),
    };
    SyntaxError { line: error.marker().line(), message }
}

/// Whether an event is part of a document that isn't empty.
fn says_something(event: &Event<'_>) -> bool {
    match event {
        Event::Scalar(text, style, ..) => *style != ScalarStyle::Plain || plain(text) != Some(Value::Null),
        Event::Alias(_) | Event::SequenceStart(..) | Event::MappingStart(..) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(text: &str) -> Value {
        super::value(text).unwrap()
    }

    #[test]
    fn anchors_and_merges_are_written_out() {
        let text = "a: &a {x: 1, z: [on]}\nb: *a\nc:\n  <<: *a\n  x: 2\n";
        let a = json!({"x": 1, "z": [true]});
        assert_eq!(value(text), json!({"a": a, "b": a, "c": {"x": 2, "z": [true]}}));
    }

    #[test]
    fn json_is_read_even_with_tabs() {
        assert_eq!(value("{\n\t\"a\": [1,\n\t\t2]\n}"), json!({"a": [1, 2]}));
    }

    #[test]
    fn a_repeated_key_is_named_and_the_last_one_counts() {
        let tree = parse("a:\n- {b: 1, b: 2}\n").unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!((&tree.value, &tree.repeated[..]), (&json!({"a": [{"b": 2}]}), &["a[0].b".to_owned()][..]));
    }

    #[test]
    fn quoted_words_stay_words_and_keys_become_text() {
        assert_eq!(
            value("{a: 'yes', b: \"014\", c: !!str 5, on: x, 7: z}"),
            json!({
                "a": "yes", "b": "014", "c": "5", "true": "x", "7": "z"
            })
        );
    }

    fn message(text: &str) -> String {
        parse(text).err().map(|error| error.message).unwrap_or_default()
    }

    #[test]
    fn bombs_are_refused() {
        let mut text = String::from("a: &a [x, x, x, x, x, x, x, x, x]\n");
        for (from, to) in "abcdefgh".chars().zip("bcdefghi".chars()) {
            text.push_str(&format!("{to}: &{to} [{}]\n", vec![format!("*{from}"); 9].join(", ")));
        }
        assert_eq!(message(&text), "anchors and aliases repeat more than 4 MiB");
        assert!(parse(&"[".repeat(100_000)).is_err());
        for beginning in ["['a'', ', ", "#\r["] {
            let text = format!("{beginning}{}[]]", "[],".repeat(50_000));
            assert_eq!(message(&text), "holds too much in `[]` and `{}`: write it as indented lines");
        }
        assert_eq!(message(&"- x\n".repeat(100_001)), "too many keys and values");
    }

    #[test]
    fn a_long_text_is_not_repeated_at_will() {
        let text = format!("a: &a \"{}\"\nb:\n{}", "x".repeat(500 << 10), "- *a\n".repeat(2_000));
        assert_eq!(message(&text), "anchors and aliases repeat more than 4 MiB");
        let few = format!("a: &a \"{}\"\nb:\n{}", "x".repeat(500 << 10), "- *a\n".repeat(6));
        assert_eq!(message(&few), "");
        // Each anchor keeps all that lies below it.
        let nested: String = (0..60).map(|number| format!("{}- &a{number}\n", " ".repeat(number))).collect();
        let nested = format!("{nested}{}- \"{}\"\n", " ".repeat(60), "x".repeat(100 << 10));
        assert_eq!(message(&nested), "anchors and aliases repeat more than 4 MiB");
    }

    #[test]
    fn repeated_keys_are_told_briefly() {
        let key = "k".repeat(300);
        let text = format!("{key}:\n  {key}:\n{}", "    a: 1\n".repeat(5_000));
        let tree = parse(&text).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(tree.repeated.len(), 100);
        assert!(tree.repeated.iter().all(|path| path.len() < 510), "{}", tree.repeated[0].len());
    }

    /// The parser would take hundreds of megabytes for a megabyte of them.
    #[test]
    fn brackets_are_measured_before_they_are_parsed() {
        let text = format!("[{}]", "[],".repeat(100_000));
        assert_eq!(message(&text), "holds too much in `[]` and `{}`: write it as indented lines");
    }

    #[test]
    fn json_has_the_same_limits() {
        let many = format!("{{\"a\": [{}1]}}", "1,".repeat(100_000));
        let with_tab = many.replace("{\"", "{\t\"");
        assert_eq!([message(&many), message(&with_tab)], ["too many keys and values", "too many keys and values"]);
        let deep = format!("{{\t\"a\": {}{}}}", "[".repeat(80), "]".repeat(80));
        assert_eq!([message(&deep), message(&deep.replace('\t', " "))], ["nested more than 64 deep"; 2]);
        let large = format!("{{\"a\": [{}1]}}", "1,".repeat(60_000));
        assert_eq!(value(&large)["a"].as_array().map(Vec::len), Some(60_001));
    }

    #[test]
    fn what_follows_a_document_is_noticed() {
        let goes_on = |text: &str| parse(text).map(|tree| tree.goes_on);
        for text in ["a: 1\n", "--- \na: 1\n...\n", "a: 1\n---\n", "a: 1\n---\n# done\n---\n~\n"] {
            assert_eq!(goes_on(text), Ok(false), "{text}");
        }
        for text in ["a: 1\n---\nb: 2\n", "a: 1\n---\n---\n''\n", "a: 1\n...\n[", "a: 1\n---\n- x\n"] {
            assert_eq!(goes_on(text), Ok(true), "{text}");
        }
    }
}
