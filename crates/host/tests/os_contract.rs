//! The contract's page says what the code does: the same paths, the same codes.
use machineadm_host::contract::{Exit, PATHS, PROXY_DROP_IN};
use std::{collections::BTreeSet, fs, path::Path};

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/os-contract.md");
    fs::read_to_string(page).expect("the page is there")
}

/// The first cell of every row of the table below a heading.
fn first_cells(page: &str, heading: &str) -> BTreeSet<String> {
    let section = page.split(heading).nth(1).expect("the heading is there").split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.filter_map(|row| row.split('|').nth(1)).map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
}

#[test]
fn the_page_lists_exactly_the_paths_of_the_code() {
    let paths: BTreeSet<String> =
        PATHS.iter().filter(|path| **path != PROXY_DROP_IN).map(|path| (*path).to_owned()).collect();
    assert_eq!(first_cells(&page(), "\n## Paths\n"), paths);
    assert!(page().contains(&format!("<unit>.service.d/{PROXY_DROP_IN}")));
}

#[test]
fn the_page_lists_exactly_the_exit_codes_of_the_code() {
    let codes: BTreeSet<String> = Exit::ALL.iter().map(|exit| exit.code().to_string()).collect();
    assert_eq!(first_cells(&page(), "\n## Exit codes\n"), codes);
}
