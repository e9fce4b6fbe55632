//! The machineadm command.
fn main() {}
