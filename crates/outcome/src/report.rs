//! The report of a run: where it stands, in one document that is small enough to be sent at every step. Programs read it;
//! its form is versioned.
use crate::{FailureOutcome, Mode, Outcome, State, Transfer, TurnOutcome};
use jiff::Timestamp;
use objects::MACHINEADM_API_VERSION as API_VERSION;
use serde::{Deserialize, Serialize};

const KIND: &str = "Report";
/// The size of a report at most, in bytes.
pub const LARGEST_REPORT: usize = 16 << 10;
/// Of a report that is too large without any output, each text is cut to this many characters. JSON writes a character
/// with up to 6 bytes, and a report has nine texts.
const SHORT: usize = 256;

/// Where a run stands. It is made from the outcome, and holds no more than the outcome does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// `machineadm.cluster.x-k8s.io/v1alpha1`.
    pub api_version: String,
    /// `Report`.
    pub kind: String,
    /// machineadm's version.
    pub version: String,
    /// The machine's name.
    pub machine: String,
    /// The mode.
    pub mode: Mode,
    /// How the run ended, or that it has not.
    pub state: State,
    /// The turn at work: a document's kind and name, or what the engine adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The place of its document in the stream after expansion, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<usize>,
    /// The step at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// How far the download of that step has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<Transfer>,
    /// How many turns are done.
    pub progress: TurnProgress,
    /// When the run started.
    pub started: Timestamp,
    /// How long it took so far.
    pub seconds: f64,
    /// Why the machine needs a reboot, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reboot: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureOutcome>,
}

/// How many turns of a run are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnProgress {
    /// Turns that are done.
    pub done: usize,
    /// All turns.
    pub total: usize,
}

impl RunReport {
    /// The report of a run as its outcome has it now.
    pub fn of(outcome: &Outcome, now: Timestamp) -> Self {
        // A restart is done for turns that are through.
        let at_work = outcome.phases.iter().find(|turn| turn.running_step().is_some());
        let at_work = at_work.or_else(|| outcome.phases.iter().find(|turn| turn.state == State::Running));
        let took = outcome.finished.unwrap_or(now).duration_since(outcome.started);
        Self {
            api_version: API_VERSION.into(),
            kind: KIND.into(),
            version: outcome.version.clone(),
            machine: outcome.machine.clone(),
            mode: outcome.mode,
            state: outcome.state,
            phase: at_work.map(|turn| turn.name.clone()),
            document: at_work.and_then(|turn| turn.document),
            step: at_work.and_then(TurnOutcome::running_step).map(|step| step.what.clone()),
            transfer: at_work.and_then(TurnOutcome::running_step).and_then(|step| step.transfer),
            progress: TurnProgress {
                done: outcome.phases.iter().filter(|turn| turn.state == State::Succeeded).count(),
                total: outcome.phases.len(),
            },
            started: outcome.started,
            seconds: took.as_secs_f64().max(0.0),
            reboot: outcome.reboot.clone(),
            failure: outcome.failure.clone(),
        }
    }

    /// The bytes to store and to send, [`LARGEST_REPORT`] at most. What does not fit is left out: first the output, from
    /// its start on, then the ends of texts.
    pub fn bytes(mut self) -> Vec<u8> {
        let mut bytes = self.whole();
        while bytes.len() > LARGEST_REPORT {
            match self.failure.as_mut().filter(|failure| !failure.output.is_empty()) {
                Some(failure) => _ = failure.output.remove(0),
                None => {
                    self.shorten();
                    return self.whole();
                }
            }
            bytes = self.whole();
        }
        bytes
    }

    fn whole(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn shorten(&mut self) {
        let Self { version, machine, phase, step, reboot, failure, .. } = self;
        let mut texts = vec![version, machine];
        texts.extend([phase, step, reboot].into_iter().flatten());
        if let Some(FailureOutcome { phase, step, cause, advice, .. }) = failure {
            texts.extend([phase, cause]);
            texts.extend([step, advice].into_iter().flatten());
        }
        for text in texts {
            if let Some((end, _)) = text.char_indices().nth(SHORT) {
                text.truncate(end);
                text.push('…');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reason, StepOutcome};

    const STARTED: &str = "2026-11-16T12:00:00Z";

    fn time(seconds: i64) -> Timestamp {
        Timestamp::from_second(STARTED.parse::<Timestamp>().unwrap().as_second() + seconds).unwrap()
    }

    fn step(state: State, transfer: Option<Transfer>) -> StepOutcome {
        StepOutcome { what: "install a".to_owned(), state, started: None, seconds: 0.0, transfer }
    }

    fn outcome() -> Outcome {
        let mut outcome = Outcome::new("1.2.3", "node-7".into(), Mode::Prepare, time(0));
        outcome.phases = vec![
            TurnOutcome::not_reached("KernelModulesConfig a", Some(1)),
            TurnOutcome::not_reached("preflight", None),
        ];
        outcome
    }

    fn failed(cause: &str) -> Outcome {
        let failure = FailureOutcome {
            step: Some("run x".into()),
            ..FailureOutcome::new("discovery", Reason::AnotherCluster, cause)
        };
        Outcome { state: State::Failed, finished: Some(time(5)), failure: Some(failure), ..outcome() }
    }

    #[test]
    fn a_report_names_the_turn_and_the_step_at_work() {
        let mut outcome = outcome();
        let report = RunReport::of(&outcome, time(1));
        assert_eq!((report.version.as_str(), report.machine.as_str(), report.mode), ("1.2.3", "node-7", Mode::Prepare));
        assert_eq!((report.phase, report.step, report.state), (None, None, State::Running));
        assert_eq!((report.progress, report.seconds), (TurnProgress { done: 0, total: 2 }, 1.0));
        (outcome.phases[0].state, outcome.phases[1].state) = (State::Succeeded, State::Running);
        let report = RunReport::of(&outcome, time(3));
        assert_eq!((report.phase.as_deref(), report.document, report.step), (Some("preflight"), None, None));
        assert_eq!(report.progress, TurnProgress { done: 1, total: 2 });
        let transfer = Some(Transfer { received: 1, total: None });
        outcome.phases[1].steps = vec![step(State::Succeeded, None), step(State::Running, transfer)];
        let report = RunReport::of(&outcome, time(4));
        assert_eq!((report.step.as_deref(), report.transfer), (Some("install a"), transfer));
    }

    #[test]
    fn a_restart_for_a_turn_that_is_through_is_what_is_at_work() {
        let mut outcome = outcome();
        (outcome.phases[0].state, outcome.phases[1].state) = (State::Succeeded, State::Running);
        outcome.phases[0].steps = vec![step(State::Running, None)];
        let report = RunReport::of(&outcome, time(1));
        assert_eq!((report.phase.as_deref(), report.document), (Some("KernelModulesConfig a"), Some(1)));
    }

    #[test]
    fn a_report_of_the_end_has_the_time_of_the_end() {
        let mut outcome = outcome();
        (outcome.state, outcome.finished) = (State::Succeeded, Some(time(5)));
        outcome.reboot = Some("x needs one".to_owned());
        let report = RunReport::of(&outcome, time(60));
        assert_eq!((report.state, report.started, report.seconds), (State::Succeeded, time(0), 5.0));
        assert_eq!((report.reboot.as_deref(), report.failure), (Some("x needs one"), None));
    }

    #[test]
    fn a_clock_that_was_set_back_gives_no_negative_time() {
        assert_eq!(RunReport::of(&outcome(), time(-60)).seconds, 0.0);
    }

    #[test]
    fn a_report_is_read_back_as_it_was_written() {
        let report = RunReport::of(&failed("the cause"), time(5));
        let bytes = report.clone().bytes();
        assert_eq!(serde_json::from_slice::<RunReport>(&bytes).unwrap(), report);
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((&value["apiVersion"], &value["kind"]), (&API_VERSION.into(), &"Report".into()));
        assert_eq!(value["failure"]["cause"], "the cause");
        assert!(bytes.ends_with(b"}\n"));
    }

    #[test]
    fn a_large_report_loses_the_start_of_the_output_first() {
        let mut outcome = failed("the cause");
        outcome.failure.as_mut().unwrap().output = (0..20).map(|line| format!("{line} {}", "x".repeat(1000))).collect();
        let bytes = RunReport::of(&outcome, time(5)).bytes();
        assert!(bytes.len() <= LARGEST_REPORT && bytes.len() > LARGEST_REPORT - 1200, "{}", bytes.len());
        let report: RunReport = serde_json::from_slice(&bytes).unwrap();
        let failure = report.failure.unwrap();
        assert_eq!(failure.cause, "the cause");
        assert!(failure.output.last().unwrap().starts_with("19 ") && !failure.output[0].starts_with("0 "));
    }

    #[test]
    fn a_report_of_the_largest_size_is_whole() {
        let size = |length: usize| {
            let mut outcome = failed("the cause");
            outcome.failure.as_mut().unwrap().output = vec!["first".to_owned(), "x".repeat(length)];
            let report = RunReport::of(&outcome, time(5));
            (report.whole().len(), report.bytes())
        };
        let (base, _) = size(0);
        let (whole, bytes) = size(LARGEST_REPORT - base);
        assert_eq!((whole, bytes.len()), (LARGEST_REPORT, LARGEST_REPORT));
        let (whole, bytes) = size(LARGEST_REPORT - base + 1);
        assert!(whole == LARGEST_REPORT + 1 && !String::from_utf8(bytes).unwrap().contains("first"));
    }

    #[test]
    fn the_largest_texts_fit_as_well() {
        let long = || "\u{1}".repeat(50_000);
        let mut outcome = failed(&long());
        (outcome.machine, outcome.version, outcome.reboot) = (long(), long(), Some(long()));
        let failure = outcome.failure.as_mut().unwrap();
        (failure.output, failure.phase) = (vec![long()], long());
        (failure.step, failure.advice) = (Some(long()), Some("ä".repeat(50_000)));
        (failure.kubeadm_phase, outcome.phases[0].name) = (Some("preflight".to_owned()), long());
        (outcome.phases[0].state, outcome.phases[0].steps) = (State::Running, vec![step(State::Running, None)]);
        outcome.phases[0].steps[0].what = long();
        let bytes = RunReport::of(&outcome, time(5)).bytes();
        assert!(bytes.len() <= LARGEST_REPORT, "{}", bytes.len());
        let report: RunReport = serde_json::from_slice(&bytes).unwrap();
        let shortened = format!("{}…", "\u{1}".repeat(SHORT));
        assert_eq!(
            (&report.version, &report.machine, report.phase.as_ref()),
            (&shortened, &shortened, Some(&shortened))
        );
        assert_eq!((report.step.as_ref(), report.reboot.as_ref()), (Some(&shortened), Some(&shortened)));
        let failure = report.failure.unwrap();
        assert_eq!((&failure.phase, &failure.cause, failure.step.as_ref()), (&shortened, &shortened, Some(&shortened)));
        assert_eq!(failure.advice, Some(format!("{}…", "ä".repeat(SHORT))));
    }
}
