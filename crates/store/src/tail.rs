//! Dirty signals: how a reader of a session's log learns that there is more.
//!
//! A signal is edge-triggered with room for one: many commits before the reader looks are one
//! signal, and the rows are the truth. A slow reader therefore holds nothing and loses nothing.
//! Beside the signal stands how far the log goes, which spares looks that would find nothing.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::sync::{AtomicU64, Mutex, MutexGuard, Notify};

/// The signals of all readers, by aggregate.
#[derive(Default)]
pub(crate) struct Tails {
    /// Locked for a look-up; never across an await.
    by_aggregate: Mutex<HashMap<i64, Vec<Arc<Signal>>>>,
    /// A reader has come further, or has gone away.
    progress: Notify,
}

/// Nothing was committed since the registration, and the reader has not looked yet.
const UNKNOWN: u64 = u64::MAX;

/// What one reader is told, and how far it has come. Ends are the sequences that come next.
struct Signal {
    more: Notify,
    /// The end of the log as of the last signal. Before the first it is `UNKNOWN`, until the reader
    /// has come to the end by itself; then it is 0.
    end: AtomicU64,
    /// The end of what the reader has.
    read: AtomicU64,
}

impl Signal {
    /// Whether there is more than the reader has, for all that anybody knows.
    fn may_be_behind(&self) -> bool {
        self.read.load(Ordering::SeqCst) < self.end.load(Ordering::SeqCst)
    }

    /// Whether the reader was told of more than it has.
    fn is_behind(&self) -> bool {
        let end = self.end.load(Ordering::SeqCst);
        end != UNKNOWN && self.read.load(Ordering::SeqCst) < end
    }

    /// Whoever calls this is the only one, and no end is taken back.
    fn grow(&self, last: u64) {
        let end = self.end.load(Ordering::SeqCst);
        let known = if end == UNKNOWN { 0 } else { end };
        self.end.store(known.max(last + 1), Ordering::SeqCst);
        self.more.notify_one();
    }
}

impl Tails {
    pub(crate) fn register(self: &Arc<Self>, aggregate: i64) -> Tail {
        let signal = Arc::new(Signal {
            more: Notify::new(),
            end: AtomicU64::new(UNKNOWN),
            read: AtomicU64::new(0),
        });
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

    /// Signals the readers of these aggregates, to which entries up to these sequences were committed.
    pub(crate) fn signal(&self, grown: impl Iterator<Item = (i64, u64)>) {
        let tails = self.lock();
        if tails.is_empty() {
            return;
        }
        for (aggregate, last) in grown {
            for signal in tails.get(&aggregate).into_iter().flatten() {
                signal.grow(last);
            }
        }
    }

    /// Returns once every reader has what was there when it came, and what it was told of since.
    pub(crate) async fn caught_up(&self) {
        loop {
            let progress = self.progress.notified();
            if !self.lock().values().flatten().any(|it| it.may_be_behind()) {
                return;
            }
            progress.await;
        }
    }

    /// Whether nobody listens.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, Vec<Arc<Signal>>>> {
        self.by_aggregate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One reader's signal. Dropping it removes it.
pub struct Tail {
    aggregate: i64,
    signal: Arc<Signal>,
    tails: Arc<Tails>,
}

impl Tail {
    /// Whether the reader has everything for certain, so that a look would find nothing.
    pub fn has_all(&self) -> bool {
        !self.signal.may_be_behind()
    }

    /// How far a look that begins now reaches at least.
    pub fn end(&self) -> u64 {
        self.signal.end.load(Ordering::SeqCst)
    }

    /// Remembers that the reader has everything up to this sequence.
    pub fn has_read(&self, sequence: u64) {
        self.come_to(sequence.saturating_add(1));
    }

    /// Remembers that a look came to the end of the log, and what the end was before it began. What is
    /// there all the same is not for the reader: not every entry is.
    pub fn has_come_to_the_end(&self, end: u64) {
        if end == UNKNOWN {
            // Unless more was committed meanwhile.
            let signal = &self.signal.end;
            let _ = signal.compare_exchange(UNKNOWN, 0, Ordering::SeqCst, Ordering::SeqCst);
            self.tails.progress.notify_waiters();
        } else {
            self.come_to(end);
        }
    }

    fn come_to(&self, end: u64) {
        self.signal.read.fetch_max(end, Ordering::SeqCst);
        self.tails.progress.notify_waiters();
    }

    /// Returns once entries were committed, since the registration, behind what the reader has.
    pub async fn changed(&self) {
        while !self.signal.is_behind() {
            self.signal.more.notified().await;
        }
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
        drop(tails);
        self.tails.progress.notify_waiters();
    }
}
