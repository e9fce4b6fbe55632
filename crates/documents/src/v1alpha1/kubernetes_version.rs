//! The Kubernetes versions that an InitConfig can name.

/// The first minor version whose kubeadm has an API that machineadm writes (v1beta1).
const FIRST_MINOR: u16 = 13;
/// The newest minor version that this machineadm is tested with.
const NEWEST_MINOR: u16 = 37;
/// Kubernetes serves a beta API for at least three minor versions after its successor is there, so that the kubeadm of
/// these versions still reads what is written for the newest one.
/// <https://kubernetes.io/docs/reference/using-api/deprecation-policy/>
const LAST_MINOR: u16 = NEWEST_MINOR + 3;

/// What is to be said about a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Supported,
    /// Newer than what machineadm is tested with.
    Untested(String),
    Refused(String),
}

/// Judges a version such as `v1.36.4` or `1.37.0-rc.1`.
pub(crate) fn judge(text: &str) -> Verdict {
    let Some((major, minor)) = major_and_minor(text) else {
        return Verdict::Refused("must be a complete version, such as `v1.36.4`".to_owned());
    };
    match (major, minor) {
        (1, FIRST_MINOR..=NEWEST_MINOR) => Verdict::Supported,
        (1, ..=LAST_MINOR) if minor > NEWEST_MINOR => {
            Verdict::Untested(format!("is newer than 1.{NEWEST_MINOR}, the newest version that this machineadm knows"))
        }
        _ => Verdict::Refused(format!("unsupported version: from 1.{FIRST_MINOR} to 1.{LAST_MINOR}")),
    }
}

/// The minor version of a version that is not refused.
pub(crate) fn minor(text: &str) -> Option<u32> {
    let (_, minor) = major_and_minor(text)?;
    (!matches!(judge(text), Verdict::Refused(_))).then_some(u32::from(minor))
}

/// Major and minor of a version by the rules of Semantic Versioning, with or without a leading `v`.
fn major_and_minor(text: &str) -> Option<(u16, u16)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (release, pre_release) = text.split_once('-').map_or((text, None), |(text, pre)| (text, Some(pre)));
    let numbers: Vec<u16> = release.split('.').map(number).collect::<Option<_>>()?;
    let [major, minor, _] = numbers[..] else { return None };
    [build, pre_release].into_iter().flatten().all(is_suffix).then_some((major, minor))
}

fn number(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

fn is_suffix(text: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    text.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_people_write_them_are_supported() {
        for good in ["v1.36.4", "1.36.99", "v1.37.0-rc.1", "1.31.0+build", "v1.31.0-rc.1+vmware.2", "1.13.0"] {
            assert_eq!(judge(good), Verdict::Supported, "{good}");
        }
    }

    #[test]
    fn a_version_that_kubeadm_never_had_is_refused() {
        for bad in ["1.99.0", "3.0.0", "0.9.0", "v1.12.10", "v1.0.0", "2.0.0", "1.41.0"] {
            assert!(matches!(judge(bad), Verdict::Refused(message) if message.contains("unsupported")), "{bad}");
        }
        for bad in
            ["v1.36", "stable-1", "v1.36.x", "", "vv1.36.4", "v1.14.0-", "1.36.4+", "1.36.+4", "01.36.4", "1.36.4-a b"]
        {
            assert!(matches!(judge(bad), Verdict::Refused(message) if message.contains("complete version")), "{bad}");
        }
    }

    #[test]
    fn the_fields_of_the_newest_version_are_known() {
        assert_eq!(u32::from(NEWEST_MINOR), objects::component_fields::NEWEST_MINOR);
    }

    #[test]
    fn only_a_version_that_is_not_refused_has_a_minor_version() {
        assert_eq!(
            (minor("v1.36.4"), minor("1.40.0"), minor("1.99.0"), minor("1.36")),
            (Some(36), Some(40), None, None)
        );
    }

    #[test]
    fn a_version_that_is_a_little_newer_is_only_a_warning() {
        assert!(matches!(judge("v1.38.0"), Verdict::Untested(_)) && matches!(judge("1.40.3"), Verdict::Untested(_)));
    }
}
