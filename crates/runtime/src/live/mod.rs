//! The live stream: sends all events of this host to the current subscribers.
//!
//! It stores and replays nothing. Each subscriber has a bounded queue. A subscriber that does not keep up is cut, and
//! can distinguish this loss from the end of the stream. A subscriber may select events; an event that no subscriber
//! selects is not encoded.

mod announcer;
mod events;
mod selection;

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;

pub(crate) use self::announcer::Announcer;
use self::events::LiveEvents;
pub use self::events::{LiveBatch, LiveSubscription};
use self::selection::Topic;
pub use self::selection::{Selection, SelectionError};
use crate::sync;
