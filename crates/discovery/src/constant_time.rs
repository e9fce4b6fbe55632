//! Comparison in a time that doesn't tell where two values differ.
use aws_lc_rs::constant_time::verify_slices_are_equal;

/// Whether both are the same.
pub(crate) fn equal(one: &[u8], other: &[u8]) -> bool {
    verify_slices_are_equal(one, other).is_ok()
}
