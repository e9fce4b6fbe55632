//! The machine, seen through two traits.
