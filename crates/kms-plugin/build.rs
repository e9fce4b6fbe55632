//! The messages and the server of KMS v2, from Kubernetes' own definition and without `protoc`.
use std::error::Error;

const DEFINITION: &str = "proto/api.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DEFINITION}");
    let files = protox::compile([DEFINITION], ["proto"])?;
    tonic_prost_build::configure().build_client(false).compile_fds(files)?;
    Ok(())
}
