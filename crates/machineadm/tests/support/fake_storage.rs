//! A fake storage: an https server on loopback that answers each path as it was told.
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};
use testbed::fake::{FakeServer, answer};

type Answers = Arc<Mutex<BTreeMap<String, VecDeque<(u16, String)>>>>;

pub(crate) struct FakeStorage {
    pub(crate) server: FakeServer,
    answers: Answers,
}

impl FakeStorage {
    pub(crate) fn new() -> Self {
        let answers = Answers::default();
        let served = Arc::clone(&answers);
        let server = FakeServer::start(move |seen, tls| {
            let path = seen.path().split('?').next().unwrap_or_default();
            let (status, body) = next(&served, path);
            answer(tls, &format!("{status} X"), "", &body)
        });
        Self { server, answers }
    }

    /// Answers a path with these in turn, and with the last for ever.
    pub(crate) fn put(&self, path: &str, answers: &[(u16, &str)]) {
        let answers = answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        self.answers.lock().expect("a lock").insert(path.to_owned(), answers);
    }

    pub(crate) fn uri(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The authority's certificate as a YAML string.
    pub(crate) fn authority(&self) -> String {
        format!("\"{}\"", self.server.authority().pem().replace('\n', "\\n"))
    }
}

fn next(answers: &Answers, path: &str) -> (u16, String) {
    let mut answers = answers.lock().expect("a lock");
    match answers.get_mut(path) {
        Some(queue) if queue.len() > 1 => queue.pop_front().unwrap_or_default(),
        Some(queue) => queue.front().cloned().unwrap_or_default(),
        None => (404, String::new()),
    }
}
