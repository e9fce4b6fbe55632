//! Against a real API server.
use crate::support::connect;
use cluster::{
    ApiServer, Created, Deleted, Effect, Ensured, Error, Kubeconfig, Listed, Precondition, Replaced, Timeouts, Value,
    anonymous_cluster_info,
};
use fetch::{Reach, Settings, Trust, certificates};
use secret::Secret;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use testbed::Result;
use testbed::control_plane::{ControlPlane, Options, Part};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// How many maps are made while the server is killed.
const MANY: usize = 400;
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

fn start() -> Result<ControlPlane> {
    ControlPlane::start(&Options { controllers: Vec::new(), ..Options::default() })
}

fn map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": value}})
}

fn created(outcome: cluster::Result<Created>) -> Value {
    match outcome {
        Ok(Created::Created(object)) => object,
        other => panic!("{other:?}"),
    }
}

fn live(api: &ApiServer, name: &str) -> Option<Value> {
    api.get(&format!("{MAPS}/{name}")).expect("an answer")
}

#[test]
fn every_verb_does_what_it_says_and_a_dry_run_leaves_nothing() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = start()?;
    let api = connect(&plane);
    a_dry_run_leaves_nothing(&api);
    conflicting_writers_are_told(&api);
    only_the_one_that_was_meant_is_deleted(&api);
    ensuring_changes_what_differs_and_keeps_what_others_wrote(&api, &plane)?;
    an_immutable_role_is_named(&api);
    plane.down()
}

fn a_dry_run_leaves_nothing(api: &ApiServer) {
    assert_eq!(created(api.create(MAPS, &map("a", "1"), Effect::DryRun))["data"]["k"], "1");
    assert_eq!(live(api, "a"), None);
    let made = created(api.create(MAPS, &map("a", "1"), Effect::Real));
    assert!(matches!(api.create(MAPS, &map("a", "2"), Effect::Real), Ok(Created::Exists { maybe_ours: false })));
    let path = format!("{MAPS}/a");
    assert!(matches!(api.replace(&path, &map("a", "2"), Effect::DryRun), Ok(Replaced::Replaced(_))));
    assert_eq!(api.delete(&path, &Precondition::default(), Effect::DryRun).expect("deleted"), Deleted::Deleted);
    assert_eq!(api.ensure(MAPS, &map("b", "1"), Effect::DryRun).expect("ensured"), Ensured::Created);
    assert_eq!(api.ensure(MAPS, &map("a", "9"), Effect::DryRun).expect("ensured"), Ensured::Updated);
    assert_eq!((live(api, "a"), live(api, "b")), (Some(made), None));
}

fn conflicting_writers_are_told(api: &ApiServer) {
    let path = format!("{MAPS}/a");
    let first = live(api, "a").expect("made before");
    let mut second = first.clone();
    second["data"]["k"] = "second".into();
    assert!(matches!(api.replace(&path, &second, Effect::Real), Ok(Replaced::Replaced(_))));
    assert!(matches!(api.replace(&path, &first, Effect::Real), Ok(Replaced::Conflict)));
    assert_eq!(live(api, "a").expect("there")["data"]["k"], "second");
    assert!(matches!(api.replace(&format!("{MAPS}/none"), &map("none", "1"), Effect::Real), Ok(Replaced::Absent)));
}

fn only_the_one_that_was_meant_is_deleted(api: &ApiServer) {
    let path = format!("{MAPS}/a");
    let metadata = live(api, "a").expect("there")["metadata"].clone();
    let text = |name: &str| metadata[name].as_str().map(str::to_owned);
    let other = Precondition { uid: Some("8a7b1ea2-0000-4000-8000-000000000000".to_owned()), resource_version: None };
    let older = Precondition { uid: None, resource_version: Some("1".to_owned()) };
    for wrong in [other, older] {
        assert_eq!(api.delete(&path, &wrong, Effect::Real).expect("an answer"), Deleted::Changed);
    }
    let right = Precondition { uid: text("uid"), resource_version: text("resourceVersion") };
    assert_eq!(api.delete(&path, &right, Effect::Real).expect("an answer"), Deleted::Deleted);
    assert_eq!(api.delete(&path, &right, Effect::Real).expect("an answer"), Deleted::Absent);
}

fn ensuring_changes_what_differs_and_keeps_what_others_wrote(api: &ApiServer, plane: &ControlPlane) -> Result<()> {
    let ensure = |value| api.ensure(MAPS, &map("e", value), Effect::Real).expect("ensured");
    assert_eq!(ensure("1"), Ensured::Created);
    plane.kubectl(&["annotate", "configmap", "e", "by=others"])?;
    plane.kubectl(&["patch", "configmap", "e", "--patch", "{\"data\": {\"theirs\": \"x\"}}"])?;
    let before = live(api, "e");
    assert_eq!(ensure("1"), Ensured::Unchanged);
    assert_eq!(live(api, "e"), before, "an unchanged object was written");
    assert_eq!(ensure("2"), Ensured::Updated);
    let after = live(api, "e").expect("there");
    assert_eq!(after["data"], json!({"k": "2", "theirs": "x"}));
    assert_eq!(after["metadata"]["annotations"]["by"], "others");
    Ok(())
}

fn an_immutable_role_is_named(api: &ApiServer) {
    let binding = |role: &str, group: &str| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "Group", "name": group}]})
    };
    let ensure = |role, group| api.ensure(BINDINGS, &binding(role, group), Effect::Real);
    assert_eq!(ensure("view", "g").expect("ensured"), Ensured::Created);
    assert_eq!(
        ensure("view", "g").expect("ensured"),
        Ensured::Unchanged,
        "the server's own defaults look like changes"
    );
    assert_eq!(ensure("view", "h").expect("ensured"), Ensured::Updated);
    match ensure("edit", "h") {
        Err(Error::Immutable { object, member: "roleRef" }) => assert_eq!(object, "ClusterRoleBinding b"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_long_list_comes_in_pieces_one_by_one() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = start()?;
    let api = connect(&plane);
    let names: BTreeSet<_> = (0..1200).map(|number| format!("m-{number:04}")).collect();
    for name in &names {
        let mut map = map(name, "v");
        map["metadata"]["labels"] = json!({"list": "long"});
        created(api.create(MAPS, &map, Effect::Real));
    }
    let mut found = Vec::new();
    let mut each = |listed: Listed<Value>| match listed {
        Listed::Item(item) => found.push(item["metadata"]["name"].as_str().expect("a name").to_owned()),
        Listed::Restarted => found.clear(),
    };
    api.list(MAPS, &[("labelSelector", "list=long")], &mut each).expect("a list");
    assert_eq!((found.len(), found.into_iter().collect::<BTreeSet<_>>()), (1200, names));
    plane.down()
}

/// Makes many maps, one after the other, and says which it is at and what it waits for.
fn write_many(kubeconfig: Kubeconfig, at: Sender<usize>, waits: Sender<String>) -> cluster::Result<()> {
    let timeouts = Timeouts { total: Duration::from_secs(120), ..Timeouts::default() };
    let api = ApiServer::connect(kubeconfig, timeouts)?;
    let api = api.telling(move |waiting| drop(waits.send(waiting.last.to_string())));
    for number in 0..MANY {
        at.send(number).expect("somebody listens");
        let done = api.ensure(MAPS, &map(&format!("m-{number}"), "1"), Effect::Real)?;
        assert_eq!(done, Ensured::Created, "m-{number}");
    }
    Ok(())
}

#[test]
fn a_server_killed_in_the_middle_is_waited_for_and_nothing_is_lost() -> Result<()> {
    testbed::needs!(ControlPlane);
    let mut plane = start()?;
    let api = connect(&plane);
    assert_eq!(live(&api, "m-0"), None);
    let kubeconfig = Kubeconfig::load(&plane.kubeconfig()).expect("a kubeconfig");
    let ((at, places), (told, waits)) = (channel(), channel());
    let working = std::thread::spawn(move || write_many(kubeconfig, at, told));
    assert!(places.iter().any(|number| number == MANY / 4), "it ended early");
    plane.kill(Part::ApiServer(0))?;
    let first = waits.recv().expect("it goes on while nobody answers");
    assert!(first.contains("did not answer"), "{first}");
    plane.restart(Part::ApiServer(0))?;
    working.join().expect("it ends").expect("all are made");
    // The connection from before is dead, and made again without a word.
    let missing: Vec<_> = (0..MANY).filter(|number| live(&api, &format!("m-{number}")).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    plane.down()
}

#[test]
fn who_may_not_is_told_so_and_cluster_info_is_for_everybody() -> Result<()> {
    testbed::needs!(ControlPlane);
    let plane = start()?;
    let with = |authorization: Option<&str>| {
        let kubeconfig = Kubeconfig::load(&plane.kubeconfig()).expect("a kubeconfig");
        let authorization = authorization.map(|text| Secret::new(text.to_owned()));
        let stranger = Kubeconfig { identity: None, authorization, ..kubeconfig };
        ApiServer::connect(stranger, Timeouts::default()).expect("an API").get(&format!("{MAPS}/a"))
    };
    assert!(matches!(with(Some("Bearer abcdef.0123456789abcdef")), Err(Error::Unauthorized { .. })));
    match with(None) {
        Err(Error::Forbidden { message }) => assert!(message.contains("system:anonymous"), "{message}"),
        other => panic!("{other:?}"),
    }
    let roots = certificates(&std::fs::read(plane.pki().join("ca.crt")).expect("a file")).expect("certificates");
    let settings = Settings { reach: Reach::ANYWHERE, ..Settings::new(Trust::Only(roots)) };
    let url = plane.url(0)?;
    let ask = || anonymous_cluster_info(&url, settings.clone());
    assert!(matches!(ask(), Err(Error::Forbidden { .. })));
    let namespace = "--namespace=kube-public";
    plane.kubectl(&[namespace, "create", "role", "info", "--verb=get", "--resource=configmaps"])?;
    plane.kubectl(&[namespace, "create", "rolebinding", "info", "--role=info", "--user=system:anonymous"])?;
    let allowed =
        testbed::until("anonymous may read", Duration::from_secs(30), || ask().map_err(|error| error.to_string()))?;
    assert_eq!(allowed, None);
    plane.kubectl(&[namespace, "create", "configmap", "cluster-info", "--from-literal=kubeconfig=x"])?;
    assert_eq!(ask().expect("an answer").expect("a map").data["kubeconfig"], "x");
    let unverified = Settings { reach: Reach::ANYWHERE, ..Settings::new(Trust::Unverified) };
    assert!(anonymous_cluster_info(&url, unverified).expect("an answer").is_some());
    plane.down()
}
