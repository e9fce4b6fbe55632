//! Files of first-boot tools and operating systems that are given to machineadm by mistake, recognised by what they hold.

/// The first line by which cloud-init knows its files.
const CLOUD_CONFIG_LINE: &str = "#cloud-config";

/// A file that is not a Kubernetes object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// A configuration of cloud-init.
    CloudConfig,
    /// A configuration of Ignition, or of Butane, which becomes one.
    Ignition,
    /// A machine configuration of Talos Linux.
    Talos,
}

/// What a document has under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Nothing.
    Absent,
    /// A mapping.
    Mapping,
    /// Anything else.
    Other,
}

impl ForeignFormat {
    /// What a document without `apiVersion` and `kind` is, by its text and its members.
    pub fn of(text: &str, member: impl Fn(&str) -> Member) -> Option<Self> {
        let has = |name: &str| member(name) != Member::Absent;
        let is_mapping = |name: &str| member(name) == Member::Mapping;
        if has("apiVersion") || has("kind") {
            return None;
        }
        if text.lines().any(|line| line.trim_end() == CLOUD_CONFIG_LINE) {
            return Some(Self::CloudConfig);
        }
        if is_mapping("ignition") || (has("variant") && has("version")) {
            return Some(Self::Ignition);
        }
        (is_mapping("machine") && has("version")).then_some(Self::Talos)
    }

    /// As in `this is an Ignition configuration`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CloudConfig => "a cloud-init configuration (#cloud-config)",
            Self::Ignition => "an Ignition configuration",
            Self::Talos => "a Talos machine configuration",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_with_a_kind_is_none_of_these_whatever_else_it_has() {
        let with = |names: &'static [&str]| {
            move |name: &str| if names.contains(&name) { Member::Mapping } else { Member::Absent }
        };
        assert_eq!(ForeignFormat::of("", with(&["ignition"])), Some(ForeignFormat::Ignition));
        assert_eq!(ForeignFormat::of("", with(&["machine", "version"])), Some(ForeignFormat::Talos));
        assert_eq!(ForeignFormat::of("#cloud-config\n", with(&[])), Some(ForeignFormat::CloudConfig));
        for names in [&["kind", "ignition"][..], &["apiVersion", "machine", "version"], &["machine"], &[]] {
            assert_eq!(
                ForeignFormat::of("", |name: &str| if names.contains(&name) {
                    Member::Mapping
                } else {
                    Member::Absent
                }),
                None
            );
        }
    }
}
