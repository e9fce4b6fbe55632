//! Between the hub and v1: what holds arguments is converted as for v1beta4, the argument itself is the same.
use super::Arg;
use crate::shape::mirror;

mirror! {
    Arg { name, value, merge_method }
}
