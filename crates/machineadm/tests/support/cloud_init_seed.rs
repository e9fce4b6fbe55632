//! What cloud-init finds at the first boot of a machine.
use crate::support::cluster::PROGRAM;
use host::contract::DELIVERED;

/// cloud-init writes the configuration to disk and calls machineadm.
pub(crate) fn user_data(documents: &str) -> String {
    let content = documents.replace('\n', "\n    ");
    format!(
        "#cloud-config\nwrite_files:\n- path: {DELIVERED}\n  owner: root:root\n  permissions: '0600'\n  content: |\n    \
         {content}\nruncmd:\n- {PROGRAM} bootstrap -f {DELIVERED}\n"
    )
}
