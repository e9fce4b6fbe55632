//! What kubeadm's documents become, and what is said of each field that does not.
mod every_field;
mod hub;
mod init;
mod join;
mod node;
mod whole;
