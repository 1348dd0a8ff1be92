//! The live stream: everything that happens in this host, told to whoever listens now.
//!
//! Nothing is stored or replayed here. Each subscriber has a bounded queue; one that does not keep
//! up is cut, so that it can tell a loss from an end.

mod events;

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;

pub(crate) use self::events::LiveEvents;
pub use self::events::{LiveBatch, LiveSubscription};
use crate::sync;
