//! When this program was built: a clock that is older is wrong, and says so when a certificate's dates do not fit.
use std::time::{SystemTime, UNIX_EPOCH};

fn main() {
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo:rerun-if-changed=build.rs");
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    // What reproducible builds set, as https://reproducible-builds.org/specs/source-date-epoch/ has it.
    let given = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|seconds| seconds.parse().ok());
    println!("cargo:rustc-env=MACHINEADM_BUILT={}", given.unwrap_or_else(now));
}
