//! The crate against what real kubeadm programs and kubeadm's own types have said.
mod fields;
mod losses;
mod oracle;
mod peers;
mod reader;
mod support;
mod synth;
mod writing;
