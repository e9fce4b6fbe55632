//! `machineadm certs` against a real control plane.
mod support {
    pub(crate) mod certs_bed;
    pub(crate) mod ran;
    pub(crate) mod scratch;
}

use support::certs_bed::{CertsBed, KEY};
use testbed::{Result, control_plane::Options};

#[test]
fn certificates_go_from_one_control_plane_node_to_the_next() -> Result<()> {
    testbed::needs!(ControlPlane);
    let bed = CertsBed::new(&Options::default())?;
    let uploaded = bed.upload(&[]);
    eprintln!("{}", uploaded.stderr);
    assert_eq!((uploaded.code, uploaded.stdout), (Some(0), format!("{KEY}\n")), "{}", uploaded.stderr);
    let listed = bed.admin(&["certs", "list"]);
    eprintln!("{}{}", listed.stdout, listed.stderr);
    let downloaded = bed.download(&[]);
    eprintln!("{}{}", downloaded.stdout, downloaded.stderr);
    assert_eq!(downloaded.code, Some(0), "{}", downloaded.stderr);
    assert!(bed.is_copied(&bed.target()));
    let deleted = bed.admin(&["certs", "delete"]);
    eprintln!("{}{}", deleted.stdout, deleted.stderr);
    let none = bed.download(&[]);
    eprintln!("{}{}", none.stdout, none.stderr);
    bed.plane.down()
}
