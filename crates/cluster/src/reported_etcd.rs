//! What an API server that does not return cluster-info reports about its etcd: a hint for a text, and nothing else.
use discovery::Endpoint;
use fetch::{Client, Request, Settings};

/// More than any API server reports.
const LARGEST: usize = 64 * 1024;

/// The checks of `/readyz` that ask etcd, as an API server lists them when they have failed.
const FAILED: [&str; 2] = ["[-]etcd failed", "[-]etcd-readiness failed"];

/// Whether an API server reports that it does not reach its etcd, asked once and without credentials. Nothing of the
/// answer may be shown: often nothing has verified the server yet.
pub(crate) fn reports_etcd_failed(endpoint: &Endpoint, mut settings: Settings) -> bool {
    settings.limits.body = LARGEST;
    settings.limits.redirects = 0;
    let answer =
        Request::get(&endpoint.url("/readyz?verbose")).and_then(|request| Client::new(settings)?.send(&request));
    answer.is_ok_and(|answer| lists_etcd_as_failed(&answer.body))
}

fn lists_etcd_as_failed(report: &[u8]) -> bool {
    let mut lines = report.split(|byte| *byte == b'\n');
    lines.any(|line| FAILED.iter().any(|failed| line.starts_with(failed.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn etcd_has_failed_if_one_of_its_checks_is_listed_as_failed() {
        for report in [
            "[+]ping ok\n[-]etcd failed: reason withheld\n[+]poststarthook/start ok\nreadyz check failed\n",
            "[+]ping ok\n[+]etcd ok\n[-]etcd-readiness failed: reason withheld\nreadyz check failed\n",
        ] {
            assert!(lists_etcd_as_failed(report.as_bytes()), "{report}");
        }
        for report in [
            "[+]ping ok\n[+]etcd ok\n[+]etcd-readiness ok\nreadyz check passed\n",
            "[-]informer-sync failed: reason withheld\nreadyz check failed\n",
            "[-]poststarthook/etcd failed: reason withheld\n",
            "text [-]etcd failed\n",
            "",
        ] {
            assert!(!lists_etcd_as_failed(report.as_bytes()), "{report}");
        }
    }
}
