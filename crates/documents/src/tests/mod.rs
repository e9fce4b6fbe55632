//! What the crate promises as a whole, over all kinds.
mod bombs;
mod cases;
mod examples;
mod expansion;
mod fake_world;
mod foreign;
mod hostile_input;
mod hostile_storage;
mod places;
mod secrets;
