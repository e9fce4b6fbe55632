//! The signer's and the cleaner's decisions over 10,000 tokens: CPU time of the pure functions, in this process.
use discovery::{
    BootstrapToken, TokenSettings,
    bootstrap_signer::{self, Signing},
    cluster_info::{KUBECONFIG_KEY, NAME, NAMESPACE},
    token_cleaner,
};
use jiff::Timestamp;
use nix::sys::{
    resource::{UsageWho, getrusage},
    time::TimeValLike,
};
use objects::{ConfigMap, ObjectMeta, Secret};

const TOKENS: u32 = 10_000;
const RUNS: u32 = 20;

fn main() -> Result<(), String> {
    let now: Timestamp = "2026-11-15T12:00:00Z".parse().map_err(|error| format!("{error}"))?;
    let secrets = secrets(now)?;
    // As long as one with a root of 2048 bits is.
    let data = [(KUBECONFIG_KEY.to_owned(), "x".repeat(1650))].into();
    let unsigned = ConfigMap::new(ObjectMeta::named_in(NAMESPACE, NAME), data);
    let decision = bootstrap_signer::decide(Some(&unsigned), &secrets, now);
    let Some(signed) = decision.applied(&unsigned) else { return Err("nothing was signed".to_owned()) };
    expect(matches!(&decision, Signing::Write { set, .. } if set.len() == 9_000), "9,000 tokens sign")?;
    expect(
        matches!(bootstrap_signer::decide(Some(&signed), &secrets, now), Signing::Done { .. }),
        "nothing is left to sign",
    )?;
    expect(token_cleaner::decide(&secrets, now).delete.len() == 1_000, "1,000 tokens have ended")?;

    println!("| decisions over {TOKENS} tokens (target: under 50 ms) | CPU |\n|---|---|");
    row("sign all of them", || _ = bootstrap_signer::decide(Some(&unsigned), &secrets, now))?;
    row("see that all are signed", || _ = bootstrap_signer::decide(Some(&signed), &secrets, now))?;
    row("find those that have ended", || _ = token_cleaner::decide(&secrets, now))
}

/// Every tenth has ended.
fn secrets(now: Timestamp) -> Result<Vec<Secret>, String> {
    let one = |number: u32| {
        let token: BootstrapToken = format!("{number:06}.{number:016}").parse().map_err(|error| format!("{error}"))?;
        let hours = if number.is_multiple_of(10) { -1 } else { 24 };
        let end = now + jiff::SignedDuration::from_hours(hours);
        let usages = ["signing", "authentication"].map(str::to_owned).into();
        let groups = vec!["system:bootstrappers:kubeadm:default-node-token".to_owned()];
        let settings = TokenSettings { expires: Some(end.into()), usages, groups, ..TokenSettings::new(token) };
        Ok(settings.secret())
    };
    (0..TOKENS).map(one).collect()
}

fn row(name: &str, mut decide: impl FnMut()) -> Result<(), String> {
    let before = cpu_ms()?;
    (0..RUNS).for_each(|_| decide());
    println!("| {name} | {:.2} ms |", (cpu_ms()? - before) / f64::from(RUNS));
    Ok(())
}

/// CPU time of this process so far, user and system.
fn cpu_ms() -> Result<f64, String> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).map_err(|error| error.to_string())?;
    Ok((usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1000.0)
}

/// A decision that is wrong measures nothing.
fn expect(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("not so: {what}")) }
}
