//! What fills the static program, by crate: the sizes of functions and data that have a name, from its symbols.
use machineadm_benches::{Build, LARGEST_PROGRAM, static_machineadm, static_program};
use std::{collections::BTreeMap, fs, process::Command};

/// Crates below this share are printed as one row.
const SMALL: u64 = 20_000;

fn main() -> Result<(), String> {
    let size = |program| fs::metadata(program).map(|found| found.len()).map_err(|error| error.to_string());
    let shipped = size(static_machineadm()?)?;
    println!("static program: {shipped} bytes of at most {LARGEST_PROGRAM}");
    let nm =
        Command::new("nm").args(["--print-size", "--demangle=auto"]).arg(static_program(Build::WithSymbols)?).output();
    let symbols = nm.map_err(|error| format!("nm of binutils: {error}"))?;
    let mut crates: BTreeMap<String, u64> = BTreeMap::new();
    for (size, name) in String::from_utf8_lossy(&symbols.stdout).lines().filter_map(symbol) {
        *crates.entry(crate_of(&name)).or_default() += size;
    }
    let named: u64 = crates.values().sum();
    let mut rows: Vec<(String, u64)> = crates.into_iter().collect();
    rows.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let (large, small): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, size)| *size >= SMALL);
    let small: u64 = small.iter().map(|(_, size)| size).sum();
    let unnamed = shipped.saturating_sub(named);
    let rest = [("crates below 20 KB each".to_owned(), small), ("data and tables without a name".to_owned(), unnamed)];
    for (name, size) in large.into_iter().chain(rest) {
        println!("{size:>9} bytes  {:>4.1} %  {name}", size as f64 * 100.0 / shipped as f64);
    }
    Ok(())
}

/// `ADDRESS SIZE TYPE NAME`; symbols without a size have three columns.
fn symbol(line: &str) -> Option<(u64, String)> {
    let mut words = line.splitn(4, ' ');
    let (_, size, _, name) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some((u64::from_str_radix(size, 16).ok()?, name.to_owned()))
}

/// The crate whose code it is: the first path of a Rust name, also in `<a::B as c::D>::e`. What has no path is C.
fn crate_of(name: &str) -> String {
    let name = name.trim_start_matches(|letter: char| "<&*([ ".contains(letter));
    let name = name.strip_prefix("mut ").or(name.strip_prefix("dyn ")).unwrap_or(name);
    match name.split_once("::") {
        Some((first, _)) if first.chars().all(|letter| letter.is_alphanumeric() || letter == '_') => first.to_owned(),
        _ if name.contains("aws_lc") => "aws-lc, in C".to_owned(),
        _ => "C and assembly (musl, AWS-LC)".to_owned(),
    }
}
