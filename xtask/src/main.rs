//! Work on the repository itself.
fn main() {}
