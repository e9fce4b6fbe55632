//! `decrypt` of a 64 KB EncryptedConfig beside the same PBKDF2 and GCM work by the openssl program.
//!
//! openssl's `enc` knows no GCM, so `cms -decrypt` of AuthEnvelopedData with a raw key does that part. It is a program of
//! its own beside `kdf`; what it costs to start one is measured too and taken off once, so that each side starts once.
use base64::{Engine, prelude::BASE64_STANDARD};
use machineadm_benches::{configuration, cost, static_machineadm};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

const MEASURE: &str = env!("CARGO_BIN_EXE_measure");
const PASSPHRASE: &str = "correct horse battery staple";
/// Any key will do for GCM's part.
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OPENSSL: &str = "/usr/bin/openssl";
const ROUNDS: u32 = 10;
const RUNS: u32 = 10;

fn main() -> Result<(), String> {
    let machineadm = static_machineadm()?;
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let made = make(&machineadm, scratch.path())?;
    let salt = format!("hexsalt:{}", made.salt);
    let pass = format!("pass:{PASSPHRASE}");
    let kdf = ["kdf", "-keylen", "32", "-kdfopt", "digest:SHA512", "-kdfopt", &pass, "-kdfopt", &salt];
    let kdf = [&kdf[..], &["-kdfopt", "iter:50000", "PBKDF2"]].concat();
    let cms = ["cms", "-decrypt", "-binary", "-inform", "DER", "-secretkey", KEY, "-secretkeyid", "01"];
    let cms = [&cms[..], &["-in", &made.enveloped]].concat();
    let openssl = Path::new(OPENSSL);
    let programs: [(&str, &Path, &[&str]); 4] = [
        ("machineadm decrypt", &machineadm, &["decrypt", "-f", &made.sealed]),
        ("openssl kdf PBKDF2, 50,000 rounds", openssl, &kdf),
        ("openssl cms -decrypt, AES-256-GCM", openssl, &cms),
        ("openssl version, which is its start", openssl, &["version"]),
    ];
    println!("| decrypting 64 KB | CPU per run | peak memory |\n|---|---|---|");
    let [ours, kdf, gcm, start] = least(&programs)?;
    let theirs = kdf + gcm - start;
    println!("\nratio: {:.2} (target: at most 1.1), beside PBKDF2 alone {:.2}", ours / theirs, ours / kdf);
    Ok(())
}

/// The least CPU time of each program over rounds that take turns, so that all see the same machine.
fn least<const N: usize>(programs: &[(&str, &Path, &[&str]); N]) -> Result<[f64; N], String> {
    let mut least = [f64::INFINITY; N];
    let mut peak = [0.0_f64; N];
    for _ in 0..ROUNDS {
        for (index, (name, program, arguments)) in programs.iter().enumerate() {
            let cost = cost(MEASURE, RUNS, program, arguments)?;
            if cost.exit != Some(0) {
                return Err(format!("{name} failed: exit code {:?}", cost.exit));
            }
            (least[index], peak[index]) = (least[index].min(cost.cpu_ms), peak[index].max(cost.peak_mb));
        }
    }
    for (index, (name, ..)) in programs.iter().enumerate() {
        println!("| {name} | {:.2} ms | {:.1} MB |", least[index], peak[index]);
    }
    Ok(least)
}

/// The same documents, sealed by either.
struct Made {
    sealed: String,
    enveloped: String,
    /// In hexadecimal.
    salt: String,
}

fn make(machineadm: &Path, dir: &Path) -> Result<Made, String> {
    let [plain, passphrase, sealed, enveloped] =
        ["plain", "passphrase", "sealed", "enveloped"].map(|name| dir.join(name));
    write(&plain, configuration().as_bytes())?;
    write(&passphrase, PASSPHRASE.as_bytes())?;
    let uri = format!("file://{}", passphrase.display());
    let mut command = Command::new(machineadm);
    command.args(["encrypt", "--passphrase-uri", &uri, "-f"]).arg(&plain);
    let text = output(&mut command)?;
    write(&sealed, &text)?;
    let mut command = Command::new(OPENSSL);
    command.args(["cms", "-encrypt", "-aes-256-gcm", "-secretkey", KEY, "-secretkeyid", "01", "-binary"]);
    output(command.args(["-outform", "DER", "-in"]).arg(&plain).arg("-out").arg(&enveloped))?;
    let salt = salt(&String::from_utf8_lossy(&text)).ok_or("the sealed document has no salt")?;
    Ok(Made { sealed: name(&sealed), enveloped: name(&enveloped), salt })
}

fn salt(document: &str) -> Option<String> {
    let line = document.lines().find_map(|line| line.trim().strip_prefix("salt: "))?;
    let bytes = BASE64_STANDARD.decode(line.trim_matches('"')).ok()?;
    Some(objects::hex::encode(&bytes))
}

fn write(path: &PathBuf, bytes: &[u8]) -> Result<(), String> {
    let private = fs::Permissions::from_mode(0o600);
    fs::write(path, bytes).and_then(|()| fs::set_permissions(path, private)).map_err(|error| error.to_string())
}

fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
