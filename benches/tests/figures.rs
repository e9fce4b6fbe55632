//! The figures that do not depend on how busy a machine is: size and memory of the static program.
use machineadm_benches::{
    Build, LARGEST_KMS_PLUGIN, LARGEST_PROGRAM, bombs, configuration, cost, static_kms_plugin, static_machineadm,
};
use std::fs;

const MEASURE: &str = env!("CARGO_BIN_EXE_measure");

#[test]
#[ignore = "long tier: links the static program as it ships"]
fn the_static_program_is_within_its_limit_and_needs_no_library() {
    let program = fs::read(static_machineadm().unwrap()).unwrap();
    assert!(program.len() <= LARGEST_PROGRAM, "{} bytes", program.len());
    assert!(!names_a_loader(&program), "it asks for a dynamic loader");
}

#[test]
#[ignore = "long tier: links the static machineadm-kms-plugin as it ships"]
fn the_static_kms_plugin_is_within_its_limit_and_needs_no_library() {
    let program = fs::read(static_kms_plugin(Build::Shipped).unwrap()).unwrap();
    assert!(program.len() <= LARGEST_KMS_PLUGIN, "{} bytes", program.len());
    assert!(!names_a_loader(&program), "it asks for a dynamic loader");
}

fn names_a_loader(program: &[u8]) -> bool {
    program.windows(15).any(|window| window == b"/lib64/ld-linux" || window.starts_with(b"/lib/ld-musl"))
}

#[test]
#[ignore = "long tier: memory of the static program as it ships"]
fn validating_64_kb_takes_at_most_8_mb_of_memory() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = configuration();
    assert!((60_000..72_000).contains(&text.len()), "{} bytes", text.len());
    fs::write(&file, text).unwrap();
    let cost =
        cost(MEASURE, 3, &static_machineadm().unwrap(), &["validate".as_ref(), "-f".as_ref(), file.path().as_os_str()]);
    let cost = cost.unwrap();
    assert_eq!(cost.exit, Some(0));
    assert!(cost.peak_mb <= 8.0, "{cost:?}");
}

#[test]
#[ignore = "long tier: memory of the static program as it ships"]
fn bombs_are_refused_within_50_mb_of_memory() {
    for (name, bytes) in bombs() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, bytes).unwrap();
        let cost = cost(
            MEASURE,
            1,
            &static_machineadm().unwrap(),
            &["validate".as_ref(), "-f".as_ref(), file.path().as_os_str()],
        );
        let cost = cost.unwrap();
        assert_eq!(cost.exit, Some(2), "{name}");
        assert!(cost.peak_mb <= 50.0, "{name}: {cost:?}");
    }
}
