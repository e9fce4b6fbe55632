//! Values with rules of their own: durations, times, quantities and secrets.
mod quantity;
mod secret;
mod time;

pub use objects::Duration;
pub use quantity::Quantity;
pub use secret::Secret;
pub use time::Time;
