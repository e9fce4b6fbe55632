//! What the crate promises as a whole, over all kinds.
mod bombs;
mod cases;
mod examples;
mod hostile_input;
mod places;
mod secrets;
