//! The first control plane node of a cluster, by one command.
use crate::support::cluster::{Authority, ends_well, with_program};
use crate::support::control_plane::first_of_several;
use host::contract::DELIVERED;
use testbed::{Bed, Machine, Profile, Result};

/// A cluster of one control plane node that others can join: its token is there, and its certificates are uploaded.
pub(crate) fn first_with_token(bed: &Bed, ca: &Authority) -> Result<(Machine, String)> {
    let first = with_program(bed.machine("cp1", &Profile::node())?)?;
    let endpoint = format!("{}:6443", first.address());
    first.boot()?;
    first.write(DELIVERED, first_of_several(ca, &endpoint), 0o600)?;
    ends_well(&first, &["bootstrap"])?;
    Ok((first, endpoint))
}
