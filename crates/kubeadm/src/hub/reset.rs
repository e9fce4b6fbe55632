//! What `kubeadm reset` needs.
use super::Timeouts;
use crate::shape::shape;

shape! {
    /// What `kubeadm reset` needs; since v1beta4.
    pub struct ResetConfiguration {
        /// Whether kubeadm's temporary directory is emptied.
        pub cleanup_tmp_dir: Option<bool>,
        /// Where certificates and keys lie.
        pub certificates_dir: Option<String>,
        /// The container runtime's socket.
        pub cri_socket: Option<String>,
        /// Only show what would be done.
        pub dry_run: Option<bool>,
        /// Do not ask.
        pub force: Option<bool>,
        /// Preflight checks whose failure is only a warning.
        pub ignore_preflight_errors: Vec<String>,
        /// Phases to leave out.
        pub skip_phases: Vec<String>,
        /// How directories are unmounted.
        pub unmount_flags: Vec<String>,
        /// How long to wait for what.
        pub timeouts: Option<Timeouts>,
    }
}
