//! Values with rules of their own: durations, times, quantities and secrets.
mod duration;
mod quantity;
mod secret;
mod time;

pub use duration::Duration;
pub use quantity::Quantity;
pub use secret::Secret;
pub use time::Time;
