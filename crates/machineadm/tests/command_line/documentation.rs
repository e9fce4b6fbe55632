//! What the docs show works: their documents are accepted, and the commands they name exist.
use crate::support::example_user_data;
use host::contract::{self, Exit};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn machineadm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_machineadm")).args(arguments).output().expect("machineadm runs")
}

fn validate(text: &str) -> Output {
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(&file, text).expect("a file");
    machineadm(&["validate", "-f", file.path().to_str().expect("a name")])
}

/// The fenced blocks of a language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(page)).expect("the page");
    let fence = format!("```{language}\n");
    let fences = text.split(&fence).skip(1);
    fences.map(|rest| rest.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_document_in_the_docs_is_accepted() {
    let mut seen = 0;
    let tasks = ["docs/tasks/registry-mirror.md", "docs/tasks/proxy.md", "docs/tasks/private-ca.md"];
    for page in ["README.md", "docs/documents.md", "docs/preflight.md"].into_iter().chain(tasks) {
        for block in blocks(page, "yaml") {
            let output = validate(&block);
            assert!(output.status.success(), "{page}: {}\n{block}", String::from_utf8_lossy(&output.stdout));
            seen += 1;
        }
    }
    assert!(seen > documents::KINDS.len(), "{seen} documents");
}

#[test]
fn every_document_of_the_task_pages_is_accepted() {
    let pages = fs::read_dir(repository().join("docs/tasks")).expect("the pages");
    let pages: Vec<_> = pages.map(|page| page.expect("a page").file_name().into_string().expect("a name")).collect();
    for page in ["audit.md", "oidc.md", "webhook.md"] {
        assert!(pages.iter().any(|name| name == page), "{page}: {pages:?}");
    }
    for page in &pages {
        let blocks = blocks(&format!("docs/tasks/{page}"), "yaml");
        assert!(!blocks.is_empty(), "{page} has nothing to copy");
        for block in blocks {
            let output = validate(&block);
            assert!(output.status.success(), "{page}: {}\n{block}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

#[test]
fn the_page_on_preflight_lists_the_checks_of_the_code() {
    let page = fs::read_to_string(repository().join("docs/preflight.md")).expect("the page");
    let table = |heading: &str| -> Vec<String> {
        let rows = page.split(heading).nth(1).unwrap_or_default().lines().skip_while(|line| !line.starts_with("|---"));
        rows.skip(1).take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
    };
    let rows = table("\n## The checks\n");
    assert_eq!(rows.len(), engine::CHECKS.len());
    for (row, check) in rows.iter().zip(engine::CHECKS) {
        let nodes = if check.role == engine::NodeRole::ControlPlane { "control plane" } else { "every node" };
        assert!(row.starts_with(&format!("| `{}` | {nodes} | {} | ", check.check.name(), check.summary)), "{row}");
    }
    let of_kubeadm = |name: &str| {
        let names = kubeadm::preflight_checks::CHECKS.iter().filter(|check| check.ours == Some(name));
        names.map(|check| format!("`{}`", check.name)).collect::<Vec<_>>().join(", ")
    };
    let rows: Vec<_> =
        engine::CHECKS.iter().map(|check| check.check.name()).filter(|name| !of_kubeadm(name).is_empty()).collect();
    let rows: Vec<_> = rows.into_iter().map(|name| format!("| `{name}` | {} |", of_kubeadm(name))).collect();
    assert_eq!(table("\nkubeadm then ignores"), rows);
}

#[test]
fn the_docs_and_the_help_say_what_a_token_is_good_for() {
    let page = fs::read_to_string(repository().join("docs/discovery.md")).expect("the page");
    assert!(page.contains("**Anyone who has a token for authentication can join as a node"));
    assert!(page.contains("limits their rate"), "anonymous discovery is public");
    let help = machineadm(&["token", "create", "--help"]);
    let help = String::from_utf8_lossy(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("A token for authentication lets anyone who has it join the cluster as a node"), "{help}");
}

#[test]
fn the_docs_and_the_help_say_why_a_token_is_a_risk_and_what_to_do_about_it() {
    let page = fs::read_to_string(repository().join("docs/discovery.md")).expect("the page");
    let help = String::from_utf8_lossy(&machineadm(&["token", "create", "--help"]).stdout).into_owned();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [&page, &help] {
        assert!(text.contains("a node can read the Secrets of its pods"), "{text}");
        assert!(text.contains("no longer needed with `machineadm token delete`"), "{text}");
    }
    assert!(help.contains("[default: 24h0m0s]"), "{help}");
    assert!(
        page.contains("should use labels and annotations of the Secret instead of data packed into the description")
    );
}

#[test]
fn the_docs_and_the_help_state_the_residual_risk_of_the_certificates_copy() {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = |name: &str| words(&fs::read_to_string(repository().join("docs").join(name)).expect("the page"));
    let (security, certificates) = (page("security.md"), page("certificates.md"));
    assert!(security.contains(
        "an attacker who steals the certificate key from the operator and reads the Secret before it is deleted has the \
         private keys of the cluster"
    ));
    assert!(security.contains("An attacker who has read the Secret can decrypt it with the key at any later time"));
    let help = words(&String::from_utf8_lossy(&machineadm(&["certs", "upload", "--help"]).stdout));
    for text in [&certificates, &help] {
        let risk = "anyone who has the certificate key and can read the Secret before it is deleted gets the private keys \
                    of the cluster";
        let later =
            "A copy of the Secret that was read before its deletion can be decrypted with the key at any later time";
        assert!(text.contains(risk) && text.contains(later), "{text}");
    }
}

/// For cloud-init: no document of machineadm's.
fn is_user_data(path: &Path) -> bool {
    path.ends_with("cloud-init.yaml") || path.ends_with("cloud-init-fetch.yaml")
}

#[test]
fn every_example_is_accepted() {
    let examples = fs::read_dir(repository().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let documents: Vec<PathBuf> =
        examples.filter(|path| path.extension().is_some_and(|ending| ending == "yaml")).collect();
    let documents: Vec<PathBuf> = documents.into_iter().filter(|path| !is_user_data(path)).collect();
    assert!(documents.len() >= 2, "{documents:?}");
    for path in documents {
        assert!(validate(&fs::read_to_string(&path).unwrap()).status.success(), "{}", path.display());
    }
}

fn example(name: &str) -> String {
    fs::read_to_string(repository().join("examples").join(name)).expect("an example")
}

/// The tool that reads the user data accepts it.
fn is_judged_good(judge: &str, file: &str) {
    let words: &[&str] = if judge == "cloud-init" { &["schema", "--config-file"] } else { &[] };
    let path = repository().join("examples").join(file);
    let judged = testbed::judges::command(judge).expect(judge).args(words).arg(path).output().expect("it runs");
    let said = [judged.stdout, judged.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(judged.status.success() && !said.to_lowercase().contains("warn"), "{file}: {said}");
}

/// The text of a file that the cloud-config for images without machineadm writes.
fn fetch_file(path: &str) -> String {
    let user_data = example("cloud-init-fetch.yaml");
    let (_, rest) = user_data.split_once(&format!("- path: {path}\n")).expect("the file");
    let (_, content) = rest.split_once("  content: |\n").expect("its content");
    let lines = content.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or_default())).collect()
}

#[test]
fn cloud_init_and_ignition_accept_the_user_data_that_fetches_machineadm_and_verifies_it() {
    testbed::needs!(Judge("cloud-init"), Judge("ignition-validate"));
    is_judged_good("cloud-init", "cloud-init-fetch.yaml");
    is_judged_good("ignition-validate", "ignition-fetch.json");
    let documents = fetch_file(contract::DELIVERED);
    let judged = validate(&documents);
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    let script = fetch_file("/etc/machineadm/fetch");
    let mut shell = Command::new("sh").arg("-n").stdin(std::process::Stdio::piped()).spawn().expect("a shell");
    std::io::Write::write_all(&mut shell.stdin.take().expect("its input"), script.as_bytes()).expect("the script");
    assert!(shell.wait().expect("a shell").success(), "{script}");

    let ignition: serde_json::Value = serde_json::from_str(&example("ignition-fetch.json")).expect("JSON");
    let [config, program] = [0, 1].map(|index| &ignition["storage"]["files"][index]);
    let source = config["contents"]["source"].as_str().expect("a source").replace("data:;base64,", "");
    let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, source).expect("base64");
    assert_eq!(String::from_utf8(bytes).expect("text"), documents);
    assert_eq!((&config["mode"], &program["mode"]), (&0o600.into(), &0o755.into()));
    // Both verify the same file, and both units are the one that images ship, but for where machineadm is.
    let hash = program["contents"]["verification"]["hash"].as_str().expect("a hash");
    let sum = hash.strip_prefix("sha256-").expect("a SHA-256");
    assert!(script.contains(&format!("\nsha256={sum}\n")), "{script}");
    let unit = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("Documentation="));
        lines.map(|line| line.replace("/usr/bin/", "/opt/bin/")).collect()
    };
    let shipped = unit(example_user_data::UNIT);
    let fetched = unit(&fetch_file("/etc/systemd/system/machineadm.service"));
    let is_own = |line: &&String| !line.starts_with("ExecStartPre=");
    let without_install = shipped.iter().take_while(|line| *line != "[Install]");
    let trimmed = |lines: Vec<&String>| lines.into_iter().filter(|line| !line.is_empty()).cloned().collect::<Vec<_>>();
    assert_eq!(trimmed(fetched.iter().filter(is_own).collect()), trimmed(without_install.collect()));
    let ignited = unit(ignition["systemd"]["units"][0]["contents"].as_str().expect("a unit"));
    assert_eq!(trimmed(ignited.iter().collect()), trimmed(shipped.iter().collect()));
}

#[test]
fn cloud_init_and_ignition_accept_the_user_data_which_deliver_the_same_valid_configuration() {
    testbed::needs!(Judge("cloud-init"), Judge("ignition-validate"));
    is_judged_good("cloud-init", "cloud-init.yaml");
    is_judged_good("ignition-validate", "ignition.json");
    let (cloud_init, ignition) = (example_user_data::CLOUD_INIT, example_user_data::IGNITION);
    let delivered = example_user_data::of_cloud_init();
    assert_eq!(delivered, example_user_data::of_ignition());
    let judged = validate(&delivered);
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    assert!(cloud_init.contains(&format!("- path: {}\n", contract::DELIVERED)), "{cloud_init}");
    assert!(cloud_init.contains("  permissions: '0600'\n") && !cloud_init.contains("path: /run"), "{cloud_init}");
    let ignition: serde_json::Value = serde_json::from_str(ignition).expect("JSON");
    let file = &ignition["storage"]["files"][0];
    assert_eq!((&file["path"], &file["mode"]), (&contract::DELIVERED.into(), &0o600.into()));
    assert_eq!(ignition["systemd"]["units"], serde_json::json!([{"name": "machineadm.service", "enabled": true}]));
}

#[test]
fn the_page_about_first_boot_shows_the_user_data_of_the_examples() {
    let page = "docs/first-boot.md";
    assert_eq!(blocks(page, "yaml"), [example_user_data::CLOUD_INIT, &example("cloud-init-fetch.yaml")]);
    assert_eq!(blocks(page, "ini"), [example_user_data::UNIT]);
}

#[test]
fn the_example_opens_as_the_demo_shows_it() {
    let (scratch, examples) = (tempfile::tempdir().expect("a directory"), repository().join("examples"));
    let at = |name: &str| scratch.path().join(name).to_str().expect("a plain name").to_owned();
    for name in ["node.yaml", "registry.yaml"] {
        let text = fs::read_to_string(examples.join(name)).unwrap();
        fs::write(at(name), text.replace("/srv/seed", scratch.path().to_str().unwrap())).unwrap();
    }
    fs::copy(examples.join("passphrase"), at("passphrase")).unwrap();
    fs::set_permissions(at("passphrase"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(at("etc")).unwrap();
    fs::write(at("etc/hostname"), "node-7\n").unwrap();
    let output = machineadm(&["validate", "--expand", "-f", &at("node.yaml"), "--root", &at("")]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("5 documents, no problems"), "{output:?}");
}

#[test]
fn every_command_that_the_readme_names_has_help_with_an_example() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let named = readme.lines().filter_map(|line| line.strip_prefix("machineadm ")?.split_whitespace().next());
    let commands: Vec<&str> = named.filter(|word| !word.starts_with('-')).collect();
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let help = machineadm(&[command, "--help"]);
        assert!(help.status.success(), "{command}");
        assert!(String::from_utf8_lossy(&help.stdout).contains("Example"), "{command} --help has no example");
    }
}

#[test]
fn the_scripts_that_the_readme_names_are_there_and_ci_calls_the_same() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    for script in ["scripts/demo", "scripts/test"] {
        assert!(readme.contains(&format!("\n{script}\n")), "{script}");
        assert!(repository().join(script).exists(), "{script}");
    }
    let ci = fs::read_to_string(repository().join(".ci/run")).unwrap();
    assert!(ci.contains("scripts/test"));
}

#[test]
fn completions_exist_for_the_shells_that_people_use() {
    for shell in ["bash", "zsh", "fish"] {
        let script = machineadm(&["completion", shell]);
        assert!(script.status.success() && String::from_utf8_lossy(&script.stdout).contains("machineadm"), "{shell}");
    }
}

/// systemd itself judges the unit; only the program's place is this test's own.
#[test]
fn systemd_accepts_the_example_unit_which_waits_for_clock_and_configuration() {
    testbed::needs!(Judge("systemd-analyze"));
    let unit = fs::read_to_string(repository().join("examples/machineadm.service")).expect("the unit");
    for order in ["After=network-online.target time-sync.target\n", "Wants=network-online.target time-sync.target\n"] {
        assert!(unit.contains(order), "{unit}");
    }
    let [delivered, saved] = [contract::DELIVERED, contract::CONFIGURATION];
    for condition in [format!("|{delivered}"), format!("|{saved}"), format!("!{}", contract::SUCCESS_KEPT)] {
        assert!(unit.contains(&format!("\nConditionPathExists={condition}\n")), "{unit}");
    }
    let success = [Exit::Locked, Exit::Reboot].map(|exit| exit.code().to_string()).join(" ");
    assert!(unit.contains(&format!("\nSuccessExitStatus={success}\n")), "{unit}");
    assert!(
        unit.contains("\nRestart=on-abnormal\n"),
        "one that was killed is continued, one that failed is not: {unit}"
    );
    let dir = tempfile::tempdir().expect("a directory");
    let program = env!("CARGO_BIN_EXE_machineadm");
    let (unit, path) = (unit.replace("/usr/bin/machineadm", program), dir.path().join("machineadm.service"));
    fs::write(&path, unit).expect("a file");
    let mut judge = testbed::judges::command("systemd-analyze").expect("systemd-analyze");
    let judged = judge.args(["verify", "--man=no"]).arg(&path).output().expect("systemd-analyze runs");
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
}
