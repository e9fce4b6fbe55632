//! How long each job took when it last ran, and what each test needs: kept in the cache, so that a fresh clone knows it.
use super::job::Work;
use super::summary::TestRun;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

const FILE: &str = "test-times.json";

/// Of the last runs, by the names of jobs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct History(BTreeMap<String, Known>);

/// What is known of a job.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Known {
    seconds: f64,
    pub(super) needs: BTreeSet<String>,
}

impl Known {
    pub(super) fn took(&self) -> Duration {
        Duration::try_from_secs_f64(self.seconds).unwrap_or_default()
    }
}

impl History {
    /// Nothing, if no run has left any: then times and needs are learned anew.
    pub(super) fn load() -> Self {
        let text = testbed::cache::directory().ok().and_then(|cache| fs::read_to_string(cache.join(FILE)).ok());
        Self::read(&text.unwrap_or_default())
    }

    pub(super) fn read(text: &str) -> Self {
        let known = |(name, value): (&String, &Value)| {
            let needs = value["needs"].as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            Some((name.clone(), Known { seconds: value["seconds"].as_f64()?, needs }))
        };
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        Self(value.as_object().into_iter().flatten().filter_map(known).collect())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Known> {
        self.0.get(name)
    }

    /// With what this run has learned.
    pub(super) fn with(mut self, ended: &[TestRun]) -> Self {
        for run in ended.iter().filter(|run| run.verdict.is_good() && !matches!(run.job.work, Work::Build(_))) {
            let known = Known { seconds: run.took.as_secs_f64(), needs: run.job.needs.clone() };
            self.0.insert(run.job.name.clone(), known);
        }
        self
    }

    /// A run that cannot save it is only slower the next time, and says so.
    pub(super) fn save(&self) {
        let saved = testbed::cache::directory().map_err(|error| error.to_string()).and_then(|cache| {
            let (file, fresh) = (cache.join(FILE), cache.join(format!("{FILE}.{}", std::process::id())));
            let write = fs::create_dir_all(&cache).and_then(|()| fs::write(&fresh, self.text()));
            write.and_then(|()| fs::rename(&fresh, &file)).map_err(|error| format!("{}: {error}", file.display()))
        });
        if let Err(error) = saved {
            println!("the times of this run are not saved: {error}");
        }
    }

    fn text(&self) -> String {
        let rounded = |seconds: f64| (seconds * 100.0).round() / 100.0;
        let value = |known: &Known| json!({"seconds": rounded(known.seconds), "needs": known.needs});
        let all: BTreeMap<_, _> = self.0.iter().map(|(name, known)| (name, value(known))).collect();
        json!(all).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_read_back_and_what_is_damaged_counts_as_nothing() {
        let known = Known { seconds: 1.25, needs: ["nodes".to_owned()].into() };
        let history = History([("a b::c".to_owned(), known)].into());
        assert_eq!(History::read(&history.text()), history);
        assert_eq!(history.get("a b::c").unwrap().took(), Duration::from_millis(1250));
        for text in ["", "{", "[]", r#"{"a": 1}"#, r#"{"a": {"seconds": "x", "needs": []}}"#] {
            assert_eq!(History::read(text), History::default(), "{text}");
        }
    }
}
