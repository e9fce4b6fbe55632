//! The copy of a control plane's certificates, exchanged with real kubeadms and cut short anywhere.

// Whole machines, control planes on loopback, real programs of others.
mod certs_faults;
mod certs_live;

#[path = "../support"]
mod support {
    pub(crate) mod certs_bed;
    pub(crate) mod run_output;
    pub(crate) mod scratch;
}
