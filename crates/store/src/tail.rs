//! Dirty signals: they notify the reader of a session's log about new entries.
//!
//! A signal is edge-triggered with capacity for one: several commits before the next read are one
//! signal, and the reader takes the data from the rows. So a slow reader uses no memory and misses
//! no entry. Each signal also has the end of the log, so that a reader can skip reads that would
//! find nothing.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::sync::{AtomicU64, Mutex, MutexGuard, Notify};

use crate::integer::{Sequence, SessionKey};

/// The signals of all readers, by aggregate.
#[derive(Default)]
pub(crate) struct Tails {
    /// Locked for a look-up; never across an await.
    by_aggregate: Mutex<HashMap<SessionKey, Vec<Arc<Signal>>>>,
    /// Notified when a reader advances or is dropped.
    progress: Notify,
}

/// No commit since the registration, and the reader has not read yet.
const UNKNOWN: u64 = u64::MAX;

/// The end of a log at some time, as a signal reported it.
#[derive(Debug, Clone, Copy)]
pub struct LogEnd(u64);

/// Returns the end of a log with this last entry.
fn end_after(last: Sequence) -> u64 {
    last.next().into()
}

/// The signal and the position of one reader. Ends are the sequences of the next entry.
struct Signal {
    more: Notify,
    /// End of the log at the last signal. `UNKNOWN` before the first signal, or 0 once the reader
    /// has reached the end without a signal.
    end: AtomicU64,
    /// End of the entries that the reader has.
    read: AtomicU64,
}

impl Signal {
    /// True if the log may contain entries that the reader does not have.
    fn may_be_behind(&self) -> bool {
        self.read.load(Ordering::SeqCst) < self.end.load(Ordering::SeqCst)
    }

    /// True if a signal reported entries that the reader does not have.
    fn is_behind(&self) -> bool {
        let end = self.end.load(Ordering::SeqCst);
        end != UNKNOWN && self.read.load(Ordering::SeqCst) < end
    }

    /// Raises the end. Only one thread calls this at a time, and the end never decreases.
    fn raise_end(&self, last: Sequence) {
        let end = self.end.load(Ordering::SeqCst);
        let known = if end == UNKNOWN { 0 } else { end };
        self.end.store(known.max(end_after(last)), Ordering::SeqCst);
        self.more.notify_one();
    }
}

impl Tails {
    pub(crate) fn register(self: &Arc<Self>, aggregate: SessionKey) -> Tail {
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

    /// Signals the readers of these aggregates. Each pair has the sequence of the last committed
    /// entry.
    pub(crate) fn signal(&self, grown: impl Iterator<Item = (SessionKey, Sequence)>) {
        let tails = self.lock();
        if tails.is_empty() {
            return;
        }
        for (aggregate, last) in grown {
            for signal in tails.get(&aggregate).into_iter().flatten() {
                signal.raise_end(last);
            }
        }
    }

    /// Returns when every reader has the entries from before its registration and all entries
    /// signalled since.
    pub(crate) async fn caught_up(&self) {
        loop {
            let progress = self.progress.notified();
            if !self.lock().values().flatten().any(|it| it.may_be_behind()) {
                return;
            }
            progress.await;
        }
    }

    /// True if there are no readers.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionKey, Vec<Arc<Signal>>>> {
        self.by_aggregate
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The signal of one reader. Dropping it removes the signal.
pub struct Tail {
    aggregate: SessionKey,
    signal: Arc<Signal>,
    tails: Arc<Tails>,
}

impl Tail {
    /// True if the reader certainly has all entries, so that a read would find nothing.
    pub fn has_all(&self) -> bool {
        !self.signal.may_be_behind()
    }

    /// Returns the minimum end of the log that a read started now reaches.
    pub fn end(&self) -> LogEnd {
        LogEnd(self.signal.end.load(Ordering::SeqCst))
    }

    /// Records that the reader has all entries up to this sequence.
    pub fn has_read(&self, sequence: Sequence) {
        self.advance_to(end_after(sequence));
    }

    /// Records that a read reached the end of the log. `end` is the value of [`end`](Self::end)
    /// before the read. Entries before it that the read did not return are not part of the reader's
    /// stream.
    pub fn has_reached_end(&self, LogEnd(end): LogEnd) {
        if end == UNKNOWN {
            // Has no effect if another commit happened in the meantime.
            let signal = &self.signal.end;
            let _ = signal.compare_exchange(UNKNOWN, 0, Ordering::SeqCst, Ordering::SeqCst);
            self.tails.progress.notify_waiters();
        } else {
            self.advance_to(end);
        }
    }

    fn advance_to(&self, end: u64) {
        self.signal.read.fetch_max(end, Ordering::SeqCst);
        self.tails.progress.notify_waiters();
    }

    /// Returns when entries after the reader's position were committed since the registration.
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
