//! ResetConfiguration.
use super::Timeouts;
use crate::shape::shape;

shape! {
    pub(crate) struct ResetConfiguration {
        pub(crate) cleanup_tmp_dir: Option<bool>,
        pub(crate) certificates_dir: Option<String>,
        pub(crate) cri_socket: Option<String>,
        pub(crate) dry_run: Option<bool>,
        pub(crate) force: Option<bool>,
        pub(crate) ignore_preflight_errors: Vec<String>,
        pub(crate) skip_phases: Vec<String>,
        pub(crate) unmount_flags: Vec<String>,
        pub(crate) timeouts: Option<Timeouts>,
    }
}
