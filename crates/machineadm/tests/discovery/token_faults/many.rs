//! 5,000 tokens, in the long tier 50,000, with some that are none among them: all are listed, in order, and each that is
//! none is named.
use super::{
    bed::{SECRETS, begin, completing, connect, dies_in_the_middle, port, run, text, through},
    holding::{Hold, Holding},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use cluster::{Created, Effect};
use serde_json::{Map, Value, json};
use std::process::Command;
use testbed::{
    Result,
    control_plane::{ControlPlane, Options},
    programs::KUBERNETES,
};

/// Every so many is no token.
const EVERY: usize = 500;
/// Who write at the same time.
const WRITERS: usize = 4;

fn id(number: usize) -> String {
    format!("{number:06}")
}

/// A Secret: a token, or, now and then, something that is none.
fn secret(number: usize) -> Value {
    let (id, half, far) = (id(number), format!("{number:016}"), "2099-01-01T00:00:00Z".to_owned());
    let data = match (number % EVERY, number / EVERY % 4) {
        (0, 0) => vec![("token-id", id.clone()), ("token-secret", half.to_uppercase() + "X")],
        (0, 1) => vec![("token-id", id.clone())],
        (0, 2) => vec![("token-id", "zzzzzz".to_owned()), ("token-secret", half)],
        (0, _) => vec![("token-id", id.clone()), ("token-secret", half), ("expiration", "tomorrow".to_owned())],
        _ => vec![("token-id", id.clone()), ("token-secret", half), ("expiration", far)],
    };
    let data = data.into_iter().map(|(key, value)| (key.to_owned(), BASE64_STANDARD.encode(value).into()));
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": format!("bootstrap-token-{id}"), "namespace": "kube-system"},
        "data": data.collect::<Map<_, Value>>(),
    })
}

fn make_all(plane: &ControlPlane, many: usize) {
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let api = connect(&plane.kubeconfig());
                for number in (writer..many).step_by(WRITERS) {
                    let made = api.create(SECRETS, &secret(number), Effect::Real).unwrap();
                    assert!(matches!(made, Created::Created(_)), "{number}: {made:?}");
                }
            });
        }
    });
}

#[test]
fn five_thousand_tokens_are_listed_in_order_and_those_that_are_none_are_named() -> Result<()> {
    testbed::needs!(ControlPlane);
    all_are_listed(5000)
}

#[test]
#[ignore = "long tier: ten times as many tokens, which an API server returns in a hundred pieces"]
fn fifty_thousand_tokens_are_listed_in_order_and_those_that_are_none_are_named() -> Result<()> {
    testbed::needs!(ControlPlane);
    all_are_listed(50_000)
}

fn all_are_listed(many: usize) -> Result<()> {
    let mut plane = ControlPlane::start(&Options { controllers: Vec::new(), ..Options::default() })?;
    make_all(&plane, many);
    // Named like a token, but of another type: nobody's business.
    plane.kubectl(&["--namespace=kube-system", "create", "secret", "generic", "bootstrap-token-999999"])?;
    let template = "jsonpath={.token}{\"\\n\"}";
    let listed = run(&plane.kubeconfig(), &["token", "list", "-o", template]);
    assert_eq!(listed.status.code(), Some(0), "{}", text(&listed.stderr));
    let good = (0..many).filter(|number| number % EVERY != 0);
    let expected: String = good.map(|number| format!("{}.{number:016}\n", id(number))).collect();
    assert_eq!(text(&listed.stdout), expected);

    let reasons = [
        "its token-secret is not 16 lower-case letters or digits",
        "it has no token-secret",
        "its token-id is not the one in its name",
        "its expiration is not a time such as 2035-01-02T03:04:05Z",
    ];
    let bad = (0..many).step_by(EVERY).zip(reasons.iter().cycle());
    let named = bad.map(|(number, reason)| {
        format!("warning: Secret bootstrap-token-{} is not a valid token: {reason}\n", id(number))
    });
    assert_eq!(text(&listed.stderr), named.collect::<String>());

    let table = text(&run(&plane.kubeconfig(), &["token", "list"]).stdout);
    assert_eq!(table.lines().count(), 1 + many - many / EVERY);
    let mut kubeadm = Command::new(KUBERNETES.ensure()?.judge("kubeadm")?);
    kubeadm.args(["token", "list", "-o", template, "--kubeconfig"]).arg(plane.kubeconfig());
    assert_eq!(text(&kubeadm.output().unwrap().stdout), expected, "kubeadm lists others");
    let interrupted = listed_while_the_server_dies(&mut plane, &["token", "list", "-o", template])?;
    assert!(interrupted == expected, "a list that was interrupted is another");
    plane.down()
}

/// Some of the pieces have come, the next request never arrives, and the server is another when it is sent again.
fn listed_while_the_server_dies(plane: &mut ControlPlane, words: &[&str]) -> Result<String> {
    let scratch = tempfile::tempdir().unwrap();
    let relay = Holding::before(port(plane)?, Hold::Requests(6));
    let kubeconfig = through(&relay, plane, &scratch.path().join("kubeconfig"))?;
    let listing = begin(&kubeconfig, words);
    let died = dies_in_the_middle(plane, std::slice::from_ref(&relay));
    let output = listing.wait_with_output().unwrap();
    died?;
    assert!(output.status.success() || output.stdout.is_empty(), "a list that failed printed a part of it");
    Ok(text(&completing(&output, &plane.kubeconfig(), words).stdout))
}
