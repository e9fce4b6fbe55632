//! `machineadm control-plane` on whole machines: two control planes by kubeadm alone, a leftover learner, a lost quorum.
use crate::support::{
    binary::run,
    cluster::{LIMIT, PROGRAM, with_program},
};
use serde_json::Value;
use std::time::Duration;
use testbed::{
    Bed, Machine, Output, Profile, Result,
    kubeadm::{self, Invitation, Part},
    until,
};

/// A peer that nobody has started.
const NOBODY: &str = "https://10.255.255.9:2380";

fn control_plane(machine: &Machine, words: &[&str]) -> Result<Output> {
    machine.run_within(&[&[PROGRAM, "control-plane"], words].concat(), Duration::from_secs(60))
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn listed(machine: &Machine) -> Result<Value> {
    let output = control_plane(machine, &["list", "-o", "json"])?;
    assert_eq!(output.code, 0, "{output:?}");
    Ok(json(&output))
}

/// Adds a member that no machine has, as a join leaves it that was killed.
fn add_learner(machine: &Machine) -> Result<()> {
    let pki = "/etc/kubernetes/pki/etcd";
    let add = format!(
        "curl --silent --fail-with-body --cacert {pki}/ca.crt --cert {pki}/healthcheck-client.crt --key \
         {pki}/healthcheck-client.key --data '{{\"peerURLs\": [\"{NOBODY}\"], \"isLearner\": true}}' \
         https://127.0.0.1:2379/v3/cluster/member/add"
    );
    // etcd refuses while its members have known each other for less than five seconds.
    until("a learner added", LIMIT, || machine.shell(&add).map_err(|error| error.to_string())).map(drop)
}

#[test]
fn nothing_is_asked_without_a_kubeconfig_or_without_somebody_who_confirms() {
    for (words, text) in [
        (&["list"][..], "remedy: run this command as root on a control plane node that kubeadm set up"),
        (&["remove", "cp2", "--yes"], "/srv/no.conf"),
        (&["remove", "cp2", "--dry-run"], "/srv/no.conf"),
        (&["remove", "cp2"], "confirmation is required, and standard input and standard error are not a terminal"),
    ] {
        let ran = run(["control-plane", "--kubeconfig", "/srv/no.conf"].iter().chain(words).copied());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(text), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn members_are_listed_and_removed_and_a_lost_quorum_is_named() -> Result<()> {
    testbed::needs!(Nodes);
    let bed = Bed::new()?;
    let [first, second, new] = ["cp1", "cp2", "new"].map(|name| with_program(bed.machine(name, &Profile::node())?));
    let (first, second, new) = (first?, second?, new?);
    first.boot()?;
    second.boot()?;
    new.boot()?;
    let invitation = kubeadm::init(&first)?;
    kubeadm::join(&second, &invitation, Part::ControlPlane)?;
    first.wait_for_nodes(&["cp1", "cp2"])?;

    both_are_listed(&first, &second)?;
    what_runs_and_what_is_unknown_is_refused(&first)?;
    a_leftover_learner_is_removed(&first)?;
    an_interrupted_removal_is_finished(&first)?;
    the_quorum_is_lost(&first, &second)?;
    a_join_without_a_quorum_names_etcd_and_starts_nothing(&new, &invitation)?;
    the_quorum_heals(&first, &second)?;
    bed.down()
}

fn both_are_listed(first: &Machine, second: &Machine) -> Result<()> {
    let table = control_plane(first, &["list"])?;
    assert_eq!((table.code, table.stderr.as_str()), (0, ""), "{table:?}");
    for machine in [first, second] {
        let row = table.stdout.lines().find(|line| line.starts_with(machine.name())).expect("a row");
        let words: Vec<_> = row.split_whitespace().collect();
        let url = format!("https://{}:2380", machine.address());
        assert_eq!(words[2..], ["voter", "answers", url.as_str(), "Ready"], "{row}");
    }
    assert!(table.stdout.ends_with("\nquorum: 2 of 2 voters answer, 2 needed; none of them may fail\n"), "{table:?}");
    // Each of them sees the same.
    let (seen, other) = (listed(first)?, listed(second)?);
    assert_eq!((&seen["members"], &seen["quorum"]), (&other["members"], &other["quorum"]));
    assert_eq!(
        seen["quorum"],
        serde_json::json!({
            "state": "held", "voters": 2, "answering": 2, "needed": 2, "mayFail": 0,
        })
    );
    assert_eq!((&seen["etcd"], &seen["nodesUnknown"]), (&"stacked".into(), &Value::Null));
    let yaml = control_plane(first, &["list", "-o", "yaml"])?;
    assert!(yaml.code == 0 && yaml.stdout.contains("etcd: \"stacked\"\n"), "{yaml:?}");
    Ok(())
}

fn what_runs_and_what_is_unknown_is_refused(first: &Machine) -> Result<()> {
    let before = listed(first)?;
    for (words, code, text) in [
        (
            &["remove", "cp1", "--yes", "--force"][..],
            6,
            "cp1 is this machine; nothing was removed\nremedy: run `machineadm reset`",
        ),
        (&["remove", "cp2", "--yes"], 6, "cp2 still runs: its etcd member answers; nothing was removed"),
        (&["remove", "cp2", "--dry-run"], 6, "machineadm reset"),
        (&["remove", "cp7", "--yes"], 1, "neither an etcd member nor a Node is called cp7\nremedy: etcd members: cp"),
        (&["remove", "cp2", "--force"], 2, "pass --yes to confirm"),
        (&["list", "--kubeconfig", "/srv/none"], 2, "/srv/none"),
    ] {
        let refused = control_plane(first, words)?;
        assert_eq!((refused.code, refused.stdout.as_str()), (code, ""), "{words:?}: {refused:?}");
        assert!(refused.stderr.contains(text), "{words:?}: {refused:?}");
    }
    let planned = control_plane(first, &["remove", "cp2", "--force", "--dry-run"])?;
    assert_eq!(planned.code, 0, "{planned:?}");
    for text in
        ["voter, answers", "quorum now   2 of 2 voters", "afterwards   1 of 1 voters", "Node         cp2, Ready"]
    {
        assert!(planned.stdout.contains(text), "{text}: {planned:?}");
    }
    assert_eq!(listed(first)?, before, "nothing was changed");
    Ok(())
}

fn a_leftover_learner_is_removed(first: &Machine) -> Result<()> {
    add_learner(first)?;
    let seen = listed(first)?;
    let learner = seen["members"].as_array().expect("members").iter().find(|member| member["peerURLs"][0] == NOBODY);
    let learner = learner.expect("the learner is listed");
    assert_eq!(
        (&learner["role"], &learner["state"], &learner["name"]),
        (&"learner".into(), &"notStarted".into(), &"".into())
    );
    // On a terminal, a person decides.
    let on_terminal =
        |answer: &str| {
            first.run(&["sh", "-c", &format!(
            "echo {answer} | script --quiet --return --command '{PROGRAM} control-plane remove {NOBODY}' /dev/null"
        )])
        };
    let declined = on_terminal("n")?;
    assert!(declined.code == 1 && declined.stdout.contains("not confirmed: nothing was changed"), "{declined:?}");
    assert!(declined.stdout.contains(&format!("Remove {NOBODY}? [y/N]")), "{declined:?}");
    assert_eq!(listed(first)?["members"], seen["members"]);
    let agreed = on_terminal("y")?;
    assert!(agreed.code == 0 && agreed.stdout.contains(&format!("etcd member {NOBODY} (")), "{agreed:?}");
    assert_eq!(listed(first)?["members"].as_array().map(Vec::len), Some(2));

    add_learner(first)?;
    let removed = control_plane(first, &["remove", NOBODY, "--yes", "-o", "json"])?;
    assert_eq!(removed.code, 0, "{removed:?}");
    let removed = json(&removed);
    assert_eq!((&removed["name"], &removed["dryRun"], &removed["node"]), (&NOBODY.into(), &false.into(), &Value::Null));
    assert_eq!((&removed["member"]["role"], &removed["quorumAfter"]["voters"]), (&"learner".into(), &2.into()));
    assert_eq!(listed(first)?["members"].as_array().map(Vec::len), Some(2));
    Ok(())
}

/// As it is after the member was removed and before the Node was deleted.
fn an_interrupted_removal_is_finished(first: &Machine) -> Result<()> {
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"lost","labels":{"node-role.kubernetes.io/control-plane":""}}}"#;
    first.write("/srv/node.json", node, 0o600)?;
    first.kubectl(&["create", "--filename=/srv/node.json"])?;
    let table = control_plane(first, &["list"])?;
    let row = table.stdout.lines().find(|line| line.starts_with("lost")).expect("a row");
    assert!(row.contains("no etcd member") && row.ends_with("NotReady"), "{row}");
    let removed = control_plane(first, &["remove", "lost", "--yes"])?;
    assert_eq!((removed.code, removed.stdout.as_str()), (0, "Node lost deleted\n"), "{removed:?}");
    let again = control_plane(first, &["remove", "lost", "--yes"])?;
    assert_eq!(again.code, 1, "{again:?}");
    Ok(())
}

/// With two voters, none may fail.
fn the_quorum_is_lost(first: &Machine, second: &Machine) -> Result<()> {
    second.kill()?;
    let lost = until("the quorum lost", LIMIT, || {
        let lost = control_plane(first, &["list"]).map_err(|error| error.to_string())?;
        if lost.code == 1 { Ok(lost) } else { Err(format!("{lost:?}")) }
    })?;
    assert!(lost.stderr.contains("error: etcd has no quorum: ") && lost.stderr.contains("remedy: start"), "{lost:?}");
    assert!(lost.stdout.contains("does not answer: ") && lost.stdout.contains("quorum lost: "), "{lost:?}");
    let refused = control_plane(first, &["remove", "cp2", "--yes", "--force"])?;
    assert_eq!((refused.code, refused.stdout.as_str()), (6, ""), "{refused:?}");
    assert!(
        refused.stderr.contains("etcd has no quorum: ") && refused.stderr.contains("nothing was removed"),
        "{refused:?}"
    );
    Ok(())
}

/// The API server accepts connections and does not return cluster-info in time.
fn a_join_without_a_quorum_names_etcd_and_starts_nothing(new: &Machine, invitation: &Invitation) -> Result<()> {
    let tolerated = ["--ignore-preflight-errors=SystemVerification"];
    let control_plane = ["--control-plane=true", "--certificate-key", invitation.certificate_key()];
    let join = |words: &[&str]| {
        let words = [&[PROGRAM, "join"], &invitation.words()[..], &tolerated, words].concat();
        new.run_within(&words, Duration::from_secs(60))
    };
    let files = "find /etc/kubernetes /var/lib/kubelet /var/lib/etcd -type f 2>/dev/null | sort";
    let before = new.shell(files)?;
    let planned = join(&[&control_plane[..], &["--dry-run=true"]].concat())?;
    assert_eq!(planned.code, 0, "{planned:?}");
    let refused = join(&[&control_plane[..], &["--timeout", "20s"]].concat())?;
    assert_eq!(refused.code, 1, "{refused:?}");
    for text in ["the API server answers, and reports that its etcd does not", "machineadm control-plane list"] {
        assert!(refused.stderr.contains(text), "{text}: {refused:?}");
    }
    assert!(!refused.stderr.contains("check the address"), "{refused:?}");
    assert_eq!(new.shell(files)?, before, "nothing was started");
    Ok(())
}

fn the_quorum_heals(first: &Machine, second: &Machine) -> Result<()> {
    second.boot()?;
    until("the quorum held", LIMIT, || {
        let held = control_plane(first, &["list", "-o", "json"]).map_err(|error| error.to_string())?;
        let has_both = held.code == 0 && json(&held)["quorum"]["answering"] == 2;
        if has_both { Ok(()) } else { Err(format!("{held:?}")) }
    })
}
