//! KernelModulesConfig: modules that are loaded now and at every boot.
use super::{
    API_VERSION,
    drop_in::{check_name, drop_in},
};
use crate::{
    Claim, Claimed,
    document::{Body, Check, Document},
    findings::Findings,
    path,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Modules that the kernel loads now and at every boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KernelModulesConfig {
    /// Names of modules, in the order in which they are loaded. `-` and `_` are the same to the kernel.
    #[schemars(length(min = 1), inner(regex(pattern = "^[A-Za-z0-9_][A-Za-z0-9_-]*$")))]
    pub modules: Vec<String>,
}

impl Document for KernelModulesConfig {
    const API_VERSION: &str = API_VERSION;
    const KIND: &str = "KernelModulesConfig";
    const SUMMARY: &str = "Kernel modules that are loaded now and at every boot.";
    const EXAMPLE: &str = "\
apiVersion: machineadm.cluster.x-k8s.io/v1alpha1
kind: KernelModulesConfig
metadata:
  name: container-network
spec:
  modules:
  - overlay
  - br_netfilter
";
}

impl Check for KernelModulesConfig {
    type Checked = Vec<String>;

    fn check(self, name: Option<&str>, findings: &mut Findings<'_>) -> Vec<String> {
        let Self { modules } = self;
        check_name(name, findings);
        if modules.is_empty() {
            findings.error("spec.modules", "must name at least one module");
        }
        let mut seen = HashSet::new();
        for (index, module) in modules.iter().enumerate() {
            let here = path::item("spec.modules", index);
            if !is_module(module) {
                findings
                    .error(&here, "invalid module name: only letters, digits, `_` and, after the first letter, `-`")
                    .hint("write it without path, ending or options");
            } else if !seen.insert(module.replace('-', "_")) {
                findings.error(&here, "is listed twice (`-` and `_` are the same in a module's name)");
            }
        }
        modules
    }
}

impl Body for Vec<String> {
    fn claims<'a>(&'a self, name: Option<&'a str>) -> Vec<Claim<'a>> {
        let claim = |(index, module): (usize, &'a String)| {
            Claim::new(path::item("spec.modules", index), Claimed::KernelModule(module))
        };
        let output = Claimed::Output { what: "modules file", name, path: Some(modules_file(name)) };
        std::iter::once(Claim::new("metadata.name", output)).chain(self.iter().enumerate().map(claim)).collect()
    }
}

/// Where the files with names of kernel modules are.
pub(super) const MODULES_DIR: &str = "/etc/modules-load.d";

/// The file that loads the modules of a document at every boot.
pub fn modules_file(name: Option<&str>) -> String {
    drop_in(MODULES_DIR, name)
}

fn is_module(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use crate::{
        AnyDocument,
        testing::{problems, spec},
    };

    #[test]
    fn modules_keep_their_order() {
        let AnyDocument::KernelModules(modules) = spec("KernelModulesConfig", "modules: [overlay, br_netfilter]")
        else {
            panic!()
        };
        assert_eq!(modules, ["overlay", "br_netfilter"]);
    }

    #[test]
    fn bad_names_and_repetitions_are_listed() {
        let found = problems("KernelModulesConfig", "modules: [br_netfilter, br-netfilter, ../x, '']");
        assert_eq!(found, ["spec.modules[1]", "spec.modules[2]", "spec.modules[3]"]);
    }

    #[test]
    fn a_module_name_that_modprobe_reads_as_an_option_is_refused() {
        assert_eq!(
            problems("KernelModulesConfig", "modules: [-r, --remove, a-r]"),
            ["spec.modules[0]", "spec.modules[1]"]
        );
    }

    #[test]
    fn an_empty_list_is_an_error() {
        assert_eq!(problems("KernelModulesConfig", "modules: []"), ["spec.modules"]);
    }
}
