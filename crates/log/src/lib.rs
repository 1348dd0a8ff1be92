//! The log of a host: what it says, where it says it, and how its tasks and threads carry it.
//!
//! Several hosts run in one process, on the same threads. Each has a [`Log`] of its own, a `tracing`
//! dispatcher that is the default while code of that host runs. A task or a thread gets the log of
//! the code that starts it, as long as it is started by a function of this crate.

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

/// The log of one host. A clone is the same log.
#[derive(Clone, Debug)]
pub struct Log {
    filter: Arc<Filter>,
    queue: Arc<Queue>,
    dispatch: Dispatch,
}

impl Log {
    /// A log that takes what the filter lets through, and where its entries come out.
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

    /// A log that takes nothing and costs nothing.
    #[must_use]
    pub fn off() -> Self {
        Self::new(Filter::off()).0
    }

    /// What `tracing` hands spans and events of this host to.
    #[must_use]
    pub fn dispatch(&self) -> Dispatch {
        self.dispatch.clone()
    }

    /// Runs a function, and everything that it starts, with this log.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        tracing::dispatcher::with_default(&self.dispatch, work)
    }

    /// Takes an entry that does not come from `tracing`, if the filter lets it through.
    pub fn record(&self, entry: Entry) {
        if self.filter.takes(&entry.target, entry.level) {
            self.queue.push(entry);
        }
    }

    /// Takes nothing more. [`Entries`] ends after what was taken before.
    pub fn end(&self) {
        self.queue.end();
    }
}
