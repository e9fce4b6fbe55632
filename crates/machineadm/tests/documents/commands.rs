//! Commands on the live system, in a sandbox: how often they run, how they end, and who sees their secrets.
use crate::support::{documents::document, run_output::RunOutput, sandbox::Sandbox};
use serde_json::Value;
use std::{fs, process::Stdio, time::Duration};

fn commands(spec: &str) -> String {
    document("CommandsConfig", &format!("\n  commands:{spec}"))
}

fn done(ran: &RunOutput) {
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
}

fn failure(sandbox: &Sandbox) -> Value {
    let outcome = sandbox.text("/var/lib/machineadm/outcome.json").expect("a run leaves its outcome");
    let outcome: Value = serde_json::from_str(&outcome).expect("an outcome is JSON");
    outcome["failure"].clone()
}

/// Whether a process with these words runs inside.
fn runs(sandbox: &Sandbox, words: &str) -> bool {
    let processes = fs::read_dir(sandbox.at("/proc")).expect("/proc can be listed");
    let lines = processes.filter_map(|process| fs::read(process.ok()?.path().join("cmdline")).ok());
    lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " ")).any(|line| line.trim() == words)
}

fn soon(condition: impl Fn() -> bool) -> bool {
    let look = || if condition() { Ok(()) } else { Err("it does not hold".to_owned()) };
    testbed::until("a condition", Duration::from_secs(60), look).is_ok()
}

#[test]
fn each_command_runs_as_often_as_it_should() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let documents = commands(
        "
  - {name: once, argv: [sh, -c, echo >> /srv/once]}
  - {name: always, shell: echo >> /srv/always, run: always}
  - {name: creates, shell: echo >> /srv/creates, creates: /srv/creates}
  - {name: unless, shell: echo >> /srv/unless; touch /srv/flag, unless: test -e /srv/flag}
  - {name: never, shell: 'false', unless: 'true'}
  - {name: spaces, argv: [sh, -c, 'printf \"%s|\" \"$@\" > /srv/words', sh, 'a b', '', '*', '$HOME']}
  - {name: reads, shell: 'cat > /srv/input; echo after >> /srv/input'}",
    );
    let lines = |name: &str| sandbox.text(&format!("/srv/{name}")).map_or(0, |text| text.lines().count());
    let counts = || ["once", "always", "creates", "unless"].map(lines);
    done(&sandbox.bootstrap(&documents));
    assert_eq!(counts(), [1, 1, 1, 1]);
    assert_eq!(sandbox.text("/srv/words").as_deref(), Some("a b||*|$HOME|"));
    assert_eq!(sandbox.text("/srv/input").as_deref(), Some("after\n"), "a script must not be its own input");
    done(&sandbox.bootstrap(&documents));
    assert_eq!(counts(), [1, 2, 1, 1]);
    sandbox.sh("rm /srv/creates /srv/flag");
    done(&sandbox.bootstrap(&documents));
    assert_eq!(counts(), [1, 3, 1, 2], "what is gone is made again, the others stay");
}

#[test]
fn a_script_stops_at_its_first_failing_line() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let ran = sandbox.bootstrap(&commands(
        "
  - name: stops
    shell: |
      echo first
      false
      touch /srv/never",
    ));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert_eq!(failure(&sandbox)["step"], "run stops");
    assert_eq!(failure(&sandbox)["output"], serde_json::json!(["first"]));
    assert_eq!(sandbox.text("/srv/never"), None);
}

#[test]
fn when_its_time_is_over_a_command_goes_with_all_it_started() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let ran = sandbox.bootstrap(&commands(
        "
  - name: slow
    shell: |
      sleep 986543 &
      (trap '' TERM; while :; do sleep 986544; done) &
      wait
    timeout: 1s",
    ));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(failure(&sandbox)["cause"].as_str().unwrap().contains("did not end within 1s"));
    let is_gone = || !runs(&sandbox, "sleep 986543") && !runs(&sandbox, "sleep 986544");
    assert!(soon(is_gone), "something of it still runs");
}

#[test]
fn a_command_that_talks_without_end_has_no_more_time_than_others() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let script = "timeout 60 machineadm bootstrap -f /srv/configuration.yaml > /dev/null 2>&1 || echo $?";
    fs::write(sandbox.at("/srv/configuration.yaml"), commands("\n  - {name: flood, argv: ['yes'], timeout: 1s}"))
        .unwrap();
    assert_eq!(sandbox.sh(script), "1\n", "124 would be the test's own patience");
    assert!(failure(&sandbox)["cause"].as_str().unwrap().contains("did not end within 1s"));
}

#[test]
fn a_killed_run_takes_its_command_along_with_all_it_started() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    for command in ["argv: [sleep, '986545']", "shell: 'sleep 986546 & sleep 986545'"] {
        let documents = commands(&format!("\n  - {{name: long, {command}}}"));
        fs::write(sandbox.at("/srv/configuration.yaml"), documents).unwrap();
        let mut command = sandbox.command(&["machineadm", "bootstrap", "-f", "/srv/configuration.yaml"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(soon(|| runs(&sandbox, "sleep 986545")), "the command did not start");
        sandbox.sh("kill -9 $(sed 's/.*process \\([0-9]*\\).*/\\1/' /run/machineadm/lock)");
        child.wait().unwrap();
        let is_gone = || !runs(&sandbox, "sleep 986545") && !runs(&sandbox, "sleep 986546");
        assert!(soon(is_gone), "something outlived its run");
        let status = sandbox.machineadm(&["status"]);
        assert!(status.stdout.contains("INTERRUPTED at CommandsConfig"), "{}", status.stdout);
    }
}

#[test]
fn the_end_of_a_failed_commands_output_is_kept_without_secrets() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let ran = sandbox.bootstrap(&commands(
        "
  - name: talks
    shell: |
      for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29; do echo line $i; done
      echo the password is $PASSWORD, kubeadm join --token abcdef.0123456789abcdef
      echo stderr too: $PASSWORD >&2
      exit 7
    environment: {PASSWORD: canary-in-the-environment}",
    ));
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let failure = failure(&sandbox);
    let output: Vec<&str> = failure["output"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(output.len(), 20);
    assert_eq!(output[17], "line 29");
    assert_eq!(output[18], "the password is [redacted], kubeadm join --token [redacted]");
    assert_eq!(output[19], "stderr too: [redacted]");
    assert!(failure["cause"].as_str().unwrap().contains("exit code 7"));
    let status = sandbox.machineadm(&["status"]).stdout;
    assert!(status.contains("| stderr too: [redacted]") && !status.contains("canary"), "{status}");
    assert!(!ran.stderr.contains("canary") && !ran.stderr.contains("0123456789abcdef"), "{}", ran.stderr);
}

#[test]
fn a_secret_that_the_cut_of_a_long_output_divides_is_not_shown_in_part() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    for separator in ["", "\\n"] {
        let ran = sandbox.bootstrap(&commands(&format!(
            "
  - name: floods
    shell: |
      i=0; while [ $i -lt 2000 ]; do printf \"$PASSWORD{separator}\"; i=$((i+1)); done
      exit 1
    environment: {{PASSWORD: begin-of-a-canary-and-its-end}}"
        )));
        assert_eq!(ran.code, Some(1));
        for text in [&ran.stderr, &failure(&sandbox).to_string()] {
            assert!(!text.contains("canary") && !text.contains("its-end") && !text.contains("begin-of"), "{text}");
        }
    }
}

#[test]
fn a_private_key_that_a_command_prints_is_shown_nowhere() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    // The second time its first lines are cut off the kept end of the output.
    for lines_after in [1, 11] {
        let ran = sandbox.bootstrap(&commands(&format!(
            "
  - name: prints-a-key
    shell: |
      openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -quiet 2> /dev/null | tee /srv/key
      for i in $(seq {lines_after}); do printf '%0660d\\n' 0; done
      echo the end
      exit 1"
        )));
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        let (key, failure) = (sandbox.text("/srv/key").unwrap(), failure(&sandbox).to_string());
        assert!(failure.contains("the end") && ran.stderr.contains("the end"), "{failure}");
        for line in key.lines().filter(|line| !line.starts_with("-----")) {
            assert!(!ran.stderr.contains(line) && !failure.contains(line), "{}{failure}", ran.stderr);
        }
    }
}

#[test]
fn no_argument_and_no_other_environment_holds_a_commands_secrets() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let spy = "
      echo script-canary > /dev/null
      for process in /proc/[0-9]*; do
        for file in cmdline environ; do
          { echo; echo \"$process $(tr '\\0' ' ' < $process/cmdline)\"; tr '\\0' '\\n' < $process/$file; } >> /srv/$file || :
        done
      done";
    let documents = commands(&format!(
        "
  - name: first
    shell: |
      setsid sleep 986546 < /dev/null > /dev/null 2>&1 &
    environment: {{FIRST: first-canary}}
  - name: spy
    shell: |{spy}
    environment: {{SECOND: second-canary}}
  - name: third
    argv: [sh, -c, 'tr \"\\\\0\" \"\\\\n\" < /proc/self/environ > /srv/third; cat /proc/$PPID/cmdline >> /srv/third']
    environment: {{THIRD: third-canary}}"
    ));
    done(&sandbox.bootstrap(&documents));
    let [arguments, environments, third] = ["cmdline", "environ", "third"].map(|name| {
        let bytes = fs::read(sandbox.at(&format!("/srv/{name}"))).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    assert!(arguments.contains("sleep 986546") && arguments.contains("bootstrap"), "{arguments}");
    assert!(!arguments.contains("canary"), "{arguments}");
    for block in environments.split("\n\n") {
        let (is_first, is_spy) = (block.contains("sleep 986546"), block.contains("_machineadm_script"));
        assert!(!block.contains("first-canary") || is_first, "{block}");
        assert!(!block.contains("second-canary") || is_spy || block.contains(" tr "), "{block}");
        assert!(!block.contains("third-canary") && !block.contains("script-canary"), "{block}");
    }
    assert!(environments.contains("first-canary") && environments.contains("second-canary"), "{environments}");
    assert!(third.contains("third-canary") && !third.contains("first-") && !third.contains("second-"), "{third}");
}

#[test]
fn a_command_neither_dumps_core_nor_inherits_the_passphrase() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let look = "
  - {name: look, shell: 'cat /proc/self/limits > /srv/limits; if cat <&3; then exit 1; fi'}";
    fs::write(sandbox.at("/srv/plain.yaml"), commands(look)).unwrap();
    sandbox.sh(
        "umask 077; echo correct horse battery staple > /srv/passphrase
         seal() { machineadm encrypt --provider descriptor --passphrase-uri fd:3 -f /srv/plain.yaml 3< /srv/passphrase; }
         seal > /srv/node.yaml
         ulimit -c unlimited
         cat /srv/passphrase | (machineadm bootstrap -f /srv/node.yaml 3<&0 < /dev/null) 2>&1",
    );
    let limits = sandbox.text("/srv/limits").unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core")).unwrap();
    assert_eq!(core.split_whitespace().collect::<Vec<_>>()[4..6], ["1", "1"], "{limits}");
}

#[test]
fn a_command_inherits_nothing_that_machineadm_was_given() {
    testbed::needs!(Root);
    let sandbox = Sandbox::new();
    let look = "
  - {name: look, shell: 'for number in 3 4 9; do if cat <&$number; then exit 1; fi; done; ls /proc/self/fd > /srv/open'}";
    fs::write(sandbox.at("/srv/plain.yaml"), commands(look)).unwrap();
    sandbox.sh("echo correct horse battery staple > /srv/passphrase
         cat /srv/passphrase | (machineadm bootstrap -f /dev/fd/4 3<&0 4< /srv/plain.yaml 9< /srv/passphrase) 2>&1");
    // The fourth is the directory that is listed.
    assert_eq!(sandbox.text("/srv/open").unwrap().split_whitespace().collect::<Vec<_>>(), ["0", "1", "2", "3"]);
}
