//! The live stream: sends all events of this host to the current subscribers.
//!
//! It stores and replays nothing. Each subscriber has a bounded queue. A subscriber that does not keep up is cut, and
//! can distinguish this loss from the end of the stream.

mod announcer;
mod events;

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;

pub(crate) use self::announcer::Announcer;
use self::events::LiveEvents;
pub use self::events::{LiveBatch, LiveSubscription};
use crate::sync;
