//! YAML for kubeadm, whose reader follows YAML 1.1: every string is quoted, so that it stays one.
pub use objects::yaml::{write as yaml, write_stream as yaml_stream};
