//! Values with rules of their own: durations, times and quantities.
mod quantity;
mod time;

pub use objects::Duration;
pub use quantity::Quantity;
pub use time::Time;
