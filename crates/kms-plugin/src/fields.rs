//! A strict walk over a configuration: every problem with its path, and no field that is not asked for.
use objects::nearest::did_you_mean;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Whether a field must be there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Presence {
    /// It must.
    Required,
    /// It may be absent.
    Optional,
}

/// All problems of a configuration, in the order in which they are found.
#[derive(Debug, Default)]
pub(crate) struct Problems(RefCell<Vec<String>>);

impl Problems {
    /// Notes a problem at a path.
    pub(crate) fn add(&self, path: &str, message: &str) {
        self.0.borrow_mut().push(if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") });
    }

    /// What was found.
    pub(crate) fn into_inner(self) -> Vec<String> {
        self.0.into_inner()
    }
}

/// One mapping of the configuration, and which of its fields were asked for.
pub(crate) struct Fields<'a> {
    path: String,
    map: &'a Map<String, Value>,
    known: RefCell<Vec<&'static str>>,
    problems: &'a Problems,
}

impl<'a> Fields<'a> {
    /// The fields of a value, which must be a mapping.
    pub(crate) fn of(value: &'a Value, path: &str, problems: &'a Problems) -> Option<Self> {
        let Value::Object(map) = value else {
            problems.add(path, "must be a mapping");
            return None;
        };
        Some(Self { path: path.to_owned(), map, known: RefCell::default(), problems })
    }

    /// The path of a field.
    pub(crate) fn at(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Notes a problem with a field.
    pub(crate) fn refuse(&self, name: &str, message: &str) {
        self.problems.add(&self.at(name), message);
    }

    /// The value of a field; `null` counts as absent.
    pub(crate) fn value(&self, name: &'static str) -> Option<&'a Value> {
        self.known.borrow_mut().push(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// An optional text.
    pub(crate) fn text(&self, name: &'static str) -> Option<&'a str> {
        let value = self.value(name)?;
        if value.as_str().is_none_or(str::is_empty) {
            self.refuse(name, "must be a text that is not empty");
        }
        value.as_str().filter(|text| !text.is_empty())
    }

    /// A text that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Option<&'a str> {
        if self.map.get(name).is_none_or(Value::is_null) {
            self.known.borrow_mut().push(name);
            self.refuse(name, "required");
            return None;
        }
        self.text(name)
    }

    /// An absolute path.
    pub(crate) fn absolute(&self, name: &'static str, presence: Presence) -> Option<PathBuf> {
        let text = match presence {
            Presence::Required => self.required(name),
            Presence::Optional => self.text(name),
        };
        let path = text.map(PathBuf::from);
        if path.as_ref().is_some_and(|path| !is_plain(path)) {
            self.refuse(name, "must be an absolute path without `..`");
        }
        path
    }

    /// Notes a problem with the mapping as a whole.
    pub(crate) fn refuse_all(&self, message: &str) {
        self.problems.add(&self.path, message);
    }

    /// A number from 0 on; 0 where it is absent.
    pub(crate) fn number(&self, name: &'static str) -> u64 {
        let Some(value) = self.value(name) else { return 0 };
        value.as_u64().unwrap_or_else(|| {
            self.refuse(name, "must be a whole number, 0 or more");
            0
        })
    }

    /// A span of time such as `3s` within limits, or the default.
    pub(crate) fn span(&self, name: &'static str, default: Duration, limits: [Duration; 2]) -> Duration {
        let Some(text) = self.text(name) else { return default };
        let parsed = text.parse::<objects::Duration>().ok().and_then(|span| u64::try_from(span.as_nanoseconds()).ok());
        let parsed = parsed.map(Duration::from_nanos);
        match parsed {
            Some(span) if limits[0] <= span && span <= limits[1] => span,
            _ => {
                self.refuse(name, &format!("must be a duration from {:?} to {:?}, such as 3s", limits[0], limits[1]));
                default
            }
        }
    }

    /// Notes every field that nobody asked for.
    pub(crate) fn finish(self) {
        let known = self.known.borrow();
        for name in self.map.keys().filter(|name| !known.contains(&name.as_str())) {
            let hint = did_you_mean(name, known.iter().copied()).map(|hint| format!("; {hint}")).unwrap_or_default();
            let message = format!("unknown field{hint}");
            self.problems.add(&self.at(&objects::printable(name, 60)), &message);
        }
    }
}

/// Whether a text is an https URL that a path can be added to.
pub(crate) fn is_service_url(text: &str) -> bool {
    text.starts_with("https://") && !text.contains(['?', '#', '@']) && fetch::Request::get(text).is_ok()
}

/// Whether a path is absolute and without `..`, so that two paths can be compared.
pub(crate) fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| part != Component::ParentDir)
}
