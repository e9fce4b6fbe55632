//! What a key counts, and how Prometheus reads it.
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram, in seconds.
const BOUNDS: &[f64] = &[0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];

/// The name of the histogram.
pub(crate) const OPERATIONS: &str = "machineadm_kms_operation_seconds";

/// What is counted by operation and result.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<BTreeMap<(&'static str, &'static str), Series>>);

#[derive(Debug, Default, Clone)]
struct Series {
    below: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

impl Metrics {
    /// Counts one operation with its result and time.
    pub(crate) fn count(&self, operation: &'static str, result: &'static str, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let series = all.entry((operation, result)).or_default();
        let seconds = took.as_secs_f64();
        series.count += 1;
        series.seconds += seconds;
        for (below, bound) in series.below.iter_mut().zip(BOUNDS) {
            *below += u64::from(seconds <= *bound);
        }
    }

    /// The lines of one key.
    pub(crate) fn write(&self, key: &str, text: &mut String) {
        let name = OPERATIONS;
        for ((operation, result), series) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let labels = format!("key=\"{key}\",operation=\"{operation}\",result=\"{result}\"");
            for (below, bound) in series.below.iter().zip(BOUNDS) {
                line(text, format_args!("{name}_bucket{{{labels},le=\"{bound}\"}} {below}"));
            }
            line(text, format_args!("{name}_bucket{{{labels},le=\"+Inf\"}} {}", series.count));
            line(text, format_args!("{name}_sum{{{labels}}} {}", series.seconds));
            line(text, format_args!("{name}_count{{{labels}}} {}", series.count));
        }
    }
}

/// Writes one line of text; writing into memory does not fail.
pub(crate) fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}");
}

/// Name, type and meaning of each metric.
const ALL: &[(&str, &str, &str)] = &[
    ("machineadm_kms_healthy", "gauge", "Whether the last probe of the key succeeded."),
    ("machineadm_kms_failure", "gauge", "Why the key is not healthy: 1 for the kind of its failure."),
    ("machineadm_kms_key_info", "gauge", "The key id that Status reports."),
    ("machineadm_kms_probe_age_seconds", "gauge", "Time since the last probe ended."),
    (OPERATIONS, "histogram", "Calls by operation and result, with their time."),
];

/// What comes before the lines of a metric.
pub(crate) fn head(wanted: &str) -> String {
    let of = ALL.iter().filter(|(name, ..)| *name == wanted);
    of.map(|(name, kind, about)| format!("# HELP {name} {about}\n# TYPE {name} {kind}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_docs_name_each_metric_and_no_other() {
        let docs = include_str!("../../../docs/operating/kms.md");
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        let mut named: Vec<&str> =
            docs.split(|letter| !is_name(letter)).filter(|word| word.starts_with("machineadm_kms_")).collect();
        named.sort_unstable();
        named.dedup();
        let mut all: Vec<&str> = ALL.iter().map(|(name, ..)| *name).collect();
        all.sort_unstable();
        assert_eq!(named, all);
    }
}
