//! Dirty signals: how a reader of a session's log learns that there is more.
//!
//! A signal is edge-triggered with room for one: many commits before the reader looks are one
//! signal, and the rows are the truth. A slow reader therefore holds nothing and loses nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::log::Committed;

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

    pub(crate) fn signal(&self, committed: &[Committed]) {
        let tails = self.lock();
        if tails.is_empty() {
            return;
        }
        let mut last = None;
        for entry in committed {
            if last != Some(entry.aggregate) {
                last = Some(entry.aggregate);
                for signal in tails.get(&entry.aggregate).into_iter().flatten() {
                    signal.notify_one();
                }
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<i64, Vec<Arc<Notify>>>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_tail_is_forgotten() {
        let tails = Arc::new(Tails::default());
        let (first, second, other) = (tails.register(1), tails.register(1), tails.register(2));
        drop(first);
        assert_eq!(tails.lock().get(&1).map(Vec::len), Some(1));
        drop(second);
        assert!(tails.lock().keys().eq([&2]));
        drop(other);
        assert!(tails.lock().is_empty());
    }
}
