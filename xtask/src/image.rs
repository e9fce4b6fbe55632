//! The container image of machineadm-kms-plugin: the static program as it ships, in a tar of the OCI layout.
use std::path::Path;
use std::process::Command;

const TARGET: &str = "x86_64-unknown-linux-musl";
const PROFILE: &str = "kms-plugin";
const IMAGE: &str = "target/machineadm-kms-plugin.tar";

/// Builds the program and writes the image.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root).args(["build", "--locked", "-p", "machineadm-kms-plugin", "--target", TARGET]);
    match cargo.args(["--profile", PROFILE]).status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("cannot build the static program: {status}; run scripts/setup")),
        Err(error) => return Err(format!("cannot run cargo: {error}")),
    }
    let program = root.join("target").join(TARGET).join(PROFILE).join("machineadm-kms-plugin");
    testbed::plugin_image::write(&program, &root.join(IMAGE)).map_err(|error| error.to_string())?;
    println!("{IMAGE}: import it with `ctr images import`, or publish it with any tool that reads the OCI layout");
    Ok(())
}
