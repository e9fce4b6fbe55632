//! Every malformed token of the recorded table, posted to a real cluster today: signer, authenticator and cleaner do what
//! our rules say of each, except where the specification is stricter, row by row.
use base64::{Engine, prelude::BASE64_STANDARD};
use discovery::{BootstrapToken, usable};
use fetch::{Client, Limits, Method, Reach, Request, Settings, Trust, certificates};
use jiff::{SignedDuration, Timestamp};
use objects::Secret;
use secret::Secret as Hidden;
use serde_json::{Map, Value, json};
use std::time::Duration;
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    until,
};

const TABLE: &str = include_str!("../vectors/secret-truth-table.json");
const LIMIT: Duration = Duration::from_secs(60);
/// Upstream signs these; we do not: no client can hold such a token, or its deletion was asked for.
const SIGNED_BY_UPSTREAM_ONLY: &[&str] = &[
    "token-secret upper case",
    "token-secret trailing newline, bearer without newline",
    "bearing a finalizer, then deleted (deletionTimestamp set)",
];

/// A row, with its times moved to today.
struct Row {
    case: String,
    object: Value,
    bearer: String,
    id: String,
    finalizer: bool,
}

fn rows(now: Timestamp) -> Vec<Row> {
    let table: Value = serde_json::from_str(TABLE).expect("JSON");
    let observed: Timestamp = table["observed_at"].as_str().expect("a time").parse().expect("a time");
    let cases = table["cases"].as_array().expect("cases");
    let mismatched = [mismatched("t00007", "u00007", "t00007"), mismatched("t00010", "u00010", "u00010")];
    cases.iter().chain(&mismatched).map(|case| row(case, observed, now)).collect()
}

/// A Secret whose `token-id` is not the one in its name; somebody shows its secret half under one of the two.
fn mismatched(named: &str, token_id: &str, shown: &str) -> Value {
    let secret = "0123456789abcdef";
    json!({
        "desc": format!("token-id {token_id} in the Secret of {named}, bearer {shown}"),
        "name": format!("bootstrap-token-{named}"), "namespace": "kube-system", "type": "bootstrap.kubernetes.io/token",
        "id": shown, "bearer": format!("{shown}.{secret}"),
        "data": {
            "token-id": token_id, "token-secret": secret,
            "usage-bootstrap-signing": "true", "usage-bootstrap-authentication": "true",
        },
    })
}

fn row(case: &Value, observed: Timestamp, now: Timestamp) -> Row {
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
    let data = case["data"].as_object().expect("data").iter();
    let data = data.map(|(key, value)| {
        let value = value.as_str().expect("text");
        let value = if key == "expiration" { today(value, observed, now) } else { value.to_owned() };
        (key.clone(), Value::from(BASE64_STANDARD.encode(value)))
    });
    let finalizer = case["finalizer"] == true;
    let mut object = json!({
        "apiVersion": "v1", "kind": "Secret", "type": text("type"),
        "metadata": {"name": text("name"), "namespace": text("namespace")},
        "data": data.collect::<Map<_, _>>(),
    });
    if finalizer {
        object["metadata"]["finalizers"] = json!(["machineadm.test/held"]);
    }
    Row { case: text("desc"), object, bearer: text("bearer"), id: text("id"), finalizer }
}

/// An hour before or after the recording becomes an hour before or after now; the form stays.
fn today(text: &str, observed: Timestamp, now: Timestamp) -> String {
    for hours in [-1, 1] {
        let shift = SignedDuration::from_hours(hours);
        let second = |time: Timestamp| format!("{:.0}", time + shift).trim_end_matches('Z').to_owned();
        for joint in ["T", "t", " "] {
            let (then, wanted) = (second(observed).replace('T', joint), second(now).replace('T', joint));
            if let Some(rest) = text.strip_prefix(&then) {
                return format!("{wanted}{rest}");
            }
        }
    }
    text.to_owned()
}

/// Whom the real authenticator takes a bearer for; `None` is 401.
fn whoami(plane: &ControlPlane, bearer: &str) -> Result<Option<Value>> {
    let authority = std::fs::read(plane.pki().join("ca.crt")).expect("the cluster's authority");
    let trust = Trust::Only(certificates(&authority).expect("PEM"));
    let settings = Settings { reach: Reach::ANYWHERE, limits: Limits::default(), ..Settings::new(trust) };
    let url = format!("{}/apis/authentication.k8s.io/v1/selfsubjectreviews", plane.url(0)?);
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let request = Request::new(Method::Post, &url).expect("a URL");
    let request = request.with_header("Authorization", Hidden::new(format!("Bearer {bearer}")));
    let request = request.with_body("application/json", review.to_string().into_bytes());
    let answer = Client::new(settings).expect("a client").send(&request).expect("an answer");
    match answer.status {
        401 => Ok(None),
        201 => {
            let review: Value = serde_json::from_slice(&answer.body).expect("JSON");
            Ok(Some(review["status"]["userInfo"].clone()))
        }
        status => panic!("{status}"),
    }
}

fn get(plane: &ControlPlane, kind: &str, namespace: &str, name: &str) -> Result<Option<Value>> {
    let namespace = format!("--namespace={namespace}");
    let shown = plane.kubectl(&[&namespace, "get", kind, name, "--ignore-not-found", "--output=json"])?;
    Ok((!shown.trim().is_empty()).then(|| serde_json::from_str(&shown).expect("JSON")))
}

fn place(row: &Row) -> (&str, &str) {
    let text = |name: &str| row.object["metadata"][name].as_str().unwrap_or_default();
    (text("namespace"), text("name"))
}

/// What the cluster keeps of a row, as our rules read it: with its deletion time, if it has one.
fn kept(plane: &ControlPlane, row: &Row) -> Result<Option<Secret>> {
    let (namespace, name) = place(row);
    let live = get(plane, "secret", namespace, name)?;
    Ok(live.map(|live| serde_json::from_value(live).expect("a Secret")))
}

#[test]
fn the_real_signer_authenticator_and_cleaner_agree_with_our_rules_row_by_row() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = ControlPlane::start(&Options::default())?;
    let scratch = tempfile::tempdir().expect("a folder");
    plane.kubectl(&[
        "--namespace=kube-public",
        "create",
        "configmap",
        "cluster-info",
        "--from-literal=kubeconfig=x",
    ])?;
    let now = Timestamp::now();
    let rows = rows(now);
    assert!(rows.len() > 40, "{}", rows.len());
    let objects: Vec<_> = rows.iter().map(|row| &row.object).collect();
    let file = scratch.path().join("secrets.json");
    std::fs::write(&file, json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()).expect("a file");
    plane.kubectl(&["create", "--filename", &file.display().to_string()])?;
    for row in rows.iter().filter(|row| row.finalizer) {
        let (namespace, name) = place(row);
        plane.kubectl(&[&format!("--namespace={namespace}"), "delete", "secret", name, "--wait=false"])?;
    }

    cleaned(&plane, &rows, now)?;
    authenticated(&plane, &rows, now)?;
    signed(&plane, &rows, now)?;
    plane.down()
}

/// What we would delete is deleted, and nothing else is.
fn cleaned(plane: &ControlPlane, rows: &[Row], now: Timestamp) -> Result<()> {
    let due = |row: &Row| {
        let secret: Secret = serde_json::from_value(row.object.clone()).expect("a Secret");
        usable::cleaning(&secret, now) == usable::Cleaning::Delete
    };
    assert!(rows.iter().filter(|row| due(row)).count() > 5);
    for row in rows.iter().filter(|row| due(row)) {
        until(&format!("the cleaner deletes: {}", row.case), LIMIT, || {
            match kept(plane, row).map_err(|error| error.to_string())? {
                None => Ok(()),
                Some(_) => Err("it is there".to_owned()),
            }
        })?;
    }
    for row in rows.iter().filter(|row| !due(row)) {
        assert!(kept(plane, row)?.is_some(), "deleted, but not by our rules: {}", row.case);
    }
    Ok(())
}

fn authenticated(plane: &ControlPlane, rows: &[Row], now: Timestamp) -> Result<()> {
    let mut accepted = 0;
    for row in rows {
        let shown: Option<BootstrapToken> = row.bearer.parse().ok();
        let live = kept(plane, row)?;
        let ours = shown.zip(live).and_then(|(shown, live)| usable::authenticates(&live, &shown, now).ok());
        let theirs = whoami(plane, &row.bearer)?;
        let name = |user: &Value| user["username"].as_str().unwrap_or_default().to_owned();
        assert_eq!(ours.as_ref().map(|ours| ours.user.clone()), theirs.as_ref().map(name), "{}", row.case);
        if let Some((ours, theirs)) = ours.zip(theirs) {
            let groups = [&ours.groups[..], &["system:authenticated".to_owned()]].concat();
            assert_eq!(json!(groups), theirs["groups"], "{}", row.case);
            accepted += 1;
        }
    }
    assert!(accepted > 5, "{accepted}");
    Ok(())
}

fn signed(plane: &ControlPlane, rows: &[Row], now: Timestamp) -> Result<()> {
    // The signer has one queue: once it has signed for the last token, it has looked at all others.
    let last = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": "bootstrap-token-zzzzzz", "namespace": "kube-system"},
        "stringData": {"token-id": "zzzzzz", "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true"},
    });
    let scratch = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(scratch.path(), last.to_string()).expect("a file");
    plane.kubectl(&["create", "--filename", &scratch.path().display().to_string()])?;
    let map = until("the last token is signed", LIMIT, || {
        let map = get(plane, "configmap", "kube-public", "cluster-info").map_err(|error| error.to_string())?;
        let data = map.map(|mut map| map["data"].take()).unwrap_or_default();
        if data["jws-kubeconfig-zzzzzz"].is_string() { Ok(data) } else { Err("it is not".to_owned()) }
    })?;
    let mut count = 0;
    for row in rows {
        let theirs = map[format!("jws-kubeconfig-{}", row.id)].as_str();
        let token = kept(plane, row)?.and_then(|secret| usable::signs(&secret, now).ok());
        let ours = token.map(|token| discovery::jws::sign(&token, b"x"));
        if SIGNED_BY_UPSTREAM_ONLY.contains(&row.case.as_str()) {
            assert!(theirs.is_some() && ours.is_none(), "{}: {theirs:?} {ours:?}", row.case);
            continue;
        }
        assert_eq!(ours.as_deref(), theirs, "{}", row.case);
        count += usize::from(ours.is_some());
    }
    assert!(count > 5, "{count}");
    Ok(())
}
