//! What a real API server does only on a bad day.
use crate::support::{FakeApiServer, Reply};
use cluster::{Created, Deleted, Effect, Ensured, Error, Listed, Precondition, Replaced, Value};
use serde_json::json;
use std::time::Duration;

const MAPS: &str = "/api/v1/namespaces/n/configmaps";

fn status(code: u16, reason: &str) -> String {
    json!({"kind": "Status", "code": code, "reason": reason, "message": format!("{reason}, it said")}).to_string()
}

#[test]
fn a_list_whose_place_is_forgotten_begins_again_once() {
    let server = FakeApiServer::start(|number, _| match number {
        0 => Reply::of("200 OK", r#"{"metadata":{"continue":"here/&1"},"items":[{"a":1},{"a":2}]}"#),
        1 => Reply::of("410 Gone", &status(410, "Expired")),
        _ => Reply::of("200 OK", r#"{"kind":"ConfigMapList","items":[{"a":1},{"a":3}],"metadata":{}}"#),
    });
    let mut items: Vec<Value> = Vec::new();
    let mut each = |listed| match listed {
        Listed::Item(item) => items.push(item),
        Listed::Restarted => items.clear(),
    };
    server.connect().list(MAPS, &[("fieldSelector", "type=x/y")], &mut each).expect("a list");
    assert_eq!(items, [json!({"a": 1}), json!({"a": 3})]);
    let asked: Vec<_> = server.seen().into_iter().map(|(line, _)| line).collect();
    let beginning = format!("GET /prefix{MAPS}?fieldSelector=type%3Dx%2Fy&limit=500");
    assert_eq!(asked, [beginning.clone(), format!("{beginning}&continue=here%2F%261"), beginning]);
}

#[test]
fn a_list_that_is_always_gone_ends_with_the_server_s_words() {
    let server = FakeApiServer::start(|number, _| match number % 2 {
        0 => Reply::of("200 OK", r#"{"metadata":{"continue":"x"},"items":null}"#),
        _ => Reply::of("410 Gone", &status(410, "Expired")),
    });
    let error = server.connect().list::<Value>(MAPS, &[], &mut |_| {}).expect_err("gone");
    assert!(matches!(&error, Error::Status { code: 410, reason, .. } if reason == "Expired"), "{error:?}");
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn a_busy_server_is_asked_again_when_it_says() {
    let busy = ["429 Too Many Requests", "503 Unavailable", "504 Timeout"];
    for first in busy {
        let server = FakeApiServer::start(move |number, _| match number {
            0 => Reply::Answer { status: first, headers: "Retry-After: 1\r\n", body: "busy".to_owned() },
            _ => Reply::of("200 OK", r#"{"kind":"ConfigMap"}"#),
        });
        assert_eq!(server.connect().get(MAPS).expect("an answer"), Some(json!({"kind": "ConfigMap"})));
        assert_eq!(server.seen().len(), 2, "{first}");
    }
    let seconds = r#"{"kind":"Status","code":500,"reason":"ServerTimeout","details":{"retryAfterSeconds":1}}"#;
    let server = FakeApiServer::start(move |number, _| match number {
        0 => Reply::of("500 Oops", seconds),
        _ => Reply::of("200 OK", "{}"),
    });
    assert!(server.connect().get(MAPS).is_ok());
}

#[test]
fn a_wish_beyond_the_deadline_is_told() {
    let headers = "Retry-After: 3600\r\n";
    let server =
        FakeApiServer::start(move |_, _| Reply::Answer { status: "503 Unavailable", headers, body: "busy".to_owned() });
    let error = server.connect().get(MAPS).expect_err("busy").to_string();
    assert!(error.contains("asks to come back in 3600 s, for which too little time is left"), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_server_that_stays_away_is_given_up_with_what_it_did_last() {
    let server = FakeApiServer::start(|_, _| Reply::HangUp);
    let told = std::rc::Rc::new(std::cell::Cell::new(0));
    let counter = std::rc::Rc::clone(&told);
    let api = server.connect_for(Duration::from_secs(3)).telling(move |waiting| counter.set(waiting.attempts));
    let error = api.get(MAPS).expect_err("no answer");
    let Error::Unreachable { attempts, source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(told.get(), attempts - 1, "{error}");
    // On a busy machine even the first try may have no time to see the server hang up.
    let hung_up = matches!(source, fetch::Error::EndedEarly { .. });
    assert!(hung_up || (matches!(source, fetch::Error::Timeout { .. }) && *attempts == 1), "{error:?}");
}

#[test]
fn what_time_does_not_heal_is_asked_once() {
    for (line, reason) in [
        ("401 Unauthorized", ""),
        ("403 Forbidden", "Forbidden"),
        ("422 Unprocessable", "Invalid"),
        ("500 Oops", "InternalError"),
    ] {
        let server = FakeApiServer::start(move |_, _| Reply::of(line, &status(0, reason)));
        let error = server.connect().create(MAPS, &json!({"data": "s3cret"}), Effect::Real).expect_err("refused");
        let text = format!("{error} {error:?}");
        assert_eq!(server.seen().len(), 1, "{text}");
        assert!(!text.contains("s3cret"), "{text}");
        match (&line[..3], error) {
            ("401", Error::Unauthorized { .. }) | ("403", Error::Forbidden { .. }) => {}
            ("422" | "500", Error::Status { reason: found, .. }) => assert_eq!(found, reason),
            (_, other) => panic!("{line}: {other:?}"),
        }
    }
}

/// It has not read yet who has which rights.
#[test]
fn what_a_server_that_has_just_started_refuses_is_asked_again() {
    for line in ["401 Unauthorized", "403 Forbidden"] {
        let server = FakeApiServer::start(move |number, _| match number {
            0 => Reply::HangUp,
            1 | 2 => Reply::of(line, &status(0, "Forbidden")),
            _ => Reply::of("200 OK", r#"{"kind":"ConfigMap"}"#),
        });
        assert_eq!(server.connect().get(MAPS).expect("an answer"), Some(json!({"kind": "ConfigMap"})), "{line}");
        assert_eq!(server.seen().len(), 4, "{line}");
    }
}

#[test]
fn an_object_that_a_lost_answer_may_have_made_is_told_apart() {
    let exists = |first: fn() -> Reply| {
        FakeApiServer::start(move |number, _| match number {
            0 => first(),
            _ => Reply::of("409 Conflict", &status(409, "AlreadyExists")),
        })
    };
    let created = |server: &FakeApiServer| match server.connect().create(MAPS, &json!({}), Effect::Real) {
        Ok(Created::Exists { maybe_ours }) => maybe_ours,
        other => panic!("{other:?}"),
    };
    assert!(created(&exists(|| Reply::HangUp)));
    assert!(created(&exists(|| Reply::of("504 Timeout", ""))));
    assert!(!created(&exists(|| Reply::of("429 Busy", ""))));
    assert!(!created(&exists(|| Reply::of("409 Conflict", &status(409, "AlreadyExists")))));
}

#[test]
fn what_a_lost_answer_made_counts_as_created() {
    let server = FakeApiServer::start(|number, _| match number {
        0 => Reply::of("404 Not Found", &status(404, "NotFound")),
        1 => Reply::HangUp,
        2 => Reply::of("409 Conflict", &status(409, "AlreadyExists")),
        _ => Reply::of("200 OK", r#"{"kind":"ConfigMap","metadata":{"name":"a","uid":"1"},"data":{"k":"v"}}"#),
    });
    let object = json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    assert_eq!(server.connect().ensure(MAPS, &object, Effect::Real).expect("ensured"), Ensured::Created);
    assert_eq!(server.seen()[3].0, format!("GET /prefix{MAPS}/a"));
}

#[test]
fn others_who_never_stop_writing_are_named() {
    let server = FakeApiServer::start(|_, line| match line.starts_with("GET") {
        true => Reply::of("200 OK", r#"{"metadata":{"name":"a"},"data":{"k":"other"}}"#),
        false => Reply::of("409 Conflict", &status(409, "Conflict")),
    });
    let object = json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}});
    let error = server.connect().ensure(MAPS, &object, Effect::Real).expect_err("contended");
    assert!(matches!(&error, Error::Contended { object, .. } if object == "ConfigMap a"), "{error:?}");
}

#[test]
fn replacing_and_deleting_go_on_after_a_lost_answer() {
    let server = FakeApiServer::start(|number, _| match number {
        0 => Reply::HangUp,
        _ => Reply::of("404 Not Found", &status(404, "NotFound")),
    });
    let deleted = server.connect().delete(MAPS, &Precondition::default(), Effect::DryRun).expect("an answer");
    assert_eq!(deleted, Deleted::Absent);
    assert!(matches!(server.connect().replace(MAPS, &json!({}), Effect::DryRun), Ok(Replaced::Absent)));
    assert!(server.seen().iter().all(|(line, _)| line.starts_with("DELETE") != line.ends_with("?dryRun=All")));
    assert!(server.seen().iter().all(|(_, head)| head.to_lowercase().contains("authorization: bearer s3cret")));
}

#[test]
fn what_is_no_kubernetes_is_told() {
    let server = FakeApiServer::start(|_, _| Reply::of("200 OK", "<html>s3cret</html>"));
    let api = server.connect();
    let errors = [
        api.get(MAPS).map(drop).expect_err("html"),
        api.list::<Value>(MAPS, &[], &mut |_| {}).expect_err("html"),
        api.create(MAPS, &json!({}), Effect::Real).map(drop).expect_err("html"),
    ];
    for error in errors {
        assert!(matches!(error, Error::NotKubernetes { .. }) && !format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_not_sent() {
    let server = FakeApiServer::start(|_, _| Reply::of("200 OK", "{}"));
    let api = server.connect();
    assert!(matches!(api.get(&format!("{MAPS}/../secrets/s")), Err(Error::BadName)));
    let object = json!({"metadata": {"name": "a/status"}});
    assert!(matches!(api.ensure(MAPS, &object, Effect::Real), Err(Error::BadName)));
    assert!(server.seen().is_empty());
}
