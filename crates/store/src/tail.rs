//! Dirty signals: how a reader of a session's log learns that there is more.
//!
//! A signal is edge-triggered with room for one: many commits before the reader looks are one
//! signal, and the rows are the truth. A slow reader therefore holds nothing and loses nothing.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use super::sync::{Mutex, MutexGuard, Notify};

/// The signals of all readers, by aggregate.
#[derive(Default)]
pub(crate) struct Tails {
    /// Locked for a look-up; never across an await.
    by_aggregate: Mutex<HashMap<i64, Vec<Arc<Notify>>>>,
}

impl Tails {
    pub(crate) fn register(self: &Arc<Self>, aggregate: i64) -> Tail {
        let signal = Arc::new(Notify::new());
        self.lock()
            .entry(aggregate)
            .or_default()
            .push(Arc::clone(&signal));
        Tail {
            aggregate,
            signal,
            tails: Arc::clone(self),
        }
    }

    /// Signals the readers of these aggregates, to which entries were committed.
    pub(crate) fn signal(&self, aggregates: impl Iterator<Item = i64>) {
        let tails = self.lock();
        if tails.is_empty() {
            return;
        }
        let mut last = None;
        for aggregate in aggregates {
            if last != Some(aggregate) {
                last = Some(aggregate);
                for signal in tails.get(&aggregate).into_iter().flatten() {
                    signal.notify_one();
                }
            }
        }
    }

    /// Whether nobody listens.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Vec<Arc<Notify>>>> {
        self.by_aggregate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One reader's signal. Dropping it removes it.
pub struct Tail {
    aggregate: i64,
    signal: Arc<Notify>,
    tails: Arc<Tails>,
}

impl Tail {
    /// Returns once something was committed since the last return, or since the registration.
    pub async fn changed(&self) {
        self.signal.notified().await;
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let mut tails = self.tails.lock();
        if let Some(signals) = tails.get_mut(&self.aggregate) {
            signals.retain(|signal| !Arc::ptr_eq(signal, &self.signal));
            if signals.is_empty() {
                tails.remove(&self.aggregate);
            }
        }
    }
}
