//! The log of a host: its entries, its filter and its propagation to tasks and threads.
//!
//! Several hosts run in one process, on the same threads. Each host has its own [`Log`], a
//! `tracing` dispatcher that is the default while code of that host runs. A task or a thread
//! inherits the log of the code that starts it, if a function of this crate starts it.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod carry;
mod collect;
mod entry;
mod filter;
mod queue;

pub use carry::{
    spawn, spawn_blocking, spawn_blocking_tracked, spawn_on, spawn_thread, spawn_tracked, within,
};
pub use entry::{Entry, EntryLocation, Level};
pub use filter::{Filter, TARGETS};
pub use queue::{Entries, MAX_BATCH, MAX_WAITING};

use std::sync::Arc;

use tracing::Dispatch;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::collect::Collect;
use crate::queue::Queue;

/// The log of one host. Clones share the same log.
#[derive(Clone, Debug)]
pub struct Log {
    filter: Arc<Filter>,
    queue: Arc<Queue>,
    dispatch: Dispatch,
}

impl Log {
    /// Creates a log with a filter, and the receiver of its entries.
    #[must_use]
    pub fn new(filter: Filter) -> (Self, Entries) {
        let (queue, entries) = queue::new();
        let filter = Arc::new(filter);
        let collect = Collect::new(Arc::clone(&filter), Arc::clone(&queue));
        let dispatch = match filter.is_off() {
            true => Dispatch::none(),
            false => Dispatch::new(tracing_subscriber::registry().with(collect)),
        };
        let log = Self {
            filter,
            queue,
            dispatch,
        };
        (log, entries)
    }

    /// A log that ignores all entries and has no cost.
    #[must_use]
    pub fn off() -> Self {
        Self::new(Filter::off()).0
    }

    /// Returns the dispatcher that receives the `tracing` spans and events of this host.
    #[must_use]
    pub fn dispatch(&self) -> Dispatch {
        self.dispatch.clone()
    }

    /// Runs a function with this log. Tasks and threads that the function starts inherit the log.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        tracing::dispatcher::with_default(&self.dispatch, work)
    }

    /// Adds an entry that does not come from `tracing`, if the filter accepts it.
    pub fn record(&self, entry: Entry) {
        if self.filter.takes(&entry.target, entry.level) {
            self.queue.push(entry);
        }
    }

    /// Ignores all further entries. [`Entries`] still returns the entries from before, then ends.
    pub fn end(&self) {
        self.queue.end();
    }
}
