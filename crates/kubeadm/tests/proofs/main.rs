//! The crate against what real kubeadm programs and kubeadm's own types have said.
mod fields;
mod losses;
mod oracle;
mod peers;
mod random;
mod reader;
mod robust;
mod round_trip;
mod support;
mod synth;
mod validate;
mod writing;
