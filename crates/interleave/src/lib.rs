//! What threads and tasks share state with, under a scheduler that chooses who goes next at every
//! use of it.
//!
//! Only tests depend on it. A module made for many threads takes its primitives from `super::sync`.
//! Its crate puts the real ones there. A test module includes the same file once more and puts
//! these there instead, so the code that is checked is the code that runs:
//!
//! ```text
//! use opencode_interleave as sync;
//!
//! #[path = "events.rs"]
//! mod events;
//! ```
//!
//! What such a module takes from `tokio` directly (answers, tokens) works here too, in one piece:
//! nobody else comes in between. [`check`] runs a story under many schedules; one in which everybody
//! waits for somebody else fails.

use shuttle::sync::atomic::{AtomicBool, Ordering};

pub use shuttle::future::{block_on, spawn, yield_now};
pub use shuttle::sync::atomic::AtomicU64;
pub use shuttle::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};
pub use shuttle::thread;

/// Schedules of each kind that a story is run under.
const SCHEDULES: usize = 250;
/// Moments at which the worst thing happens, at most.
const PREEMPTIONS: usize = 3;

/// Runs a story under schedules of two kinds: any order at random, and few interruptions at the
/// worst of moments. A failure prints the schedule with which `shuttle::replay` repeats it.
pub fn check(story: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(story, SCHEDULES);
    shuttle::check_pct(story, SCHEDULES, PREEMPTIONS);
}

/// The signal of `tokio`, with a chance for others before each use.
#[derive(Debug, Default)]
pub struct Notify {
    signal: tokio::sync::Notify,
    /// Looking at it is the chance.
    turn: AtomicBool,
}

impl Notify {
    /// A signal that nobody has given yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes one who waits, or the next who comes.
    pub fn notify_one(&self) {
        self.turn.load(Ordering::SeqCst);
        self.signal.notify_one();
    }

    /// Wakes those who wait.
    pub fn notify_waiters(&self) {
        self.turn.load(Ordering::SeqCst);
        self.signal.notify_waiters();
    }

    /// Waits for the signal; for `notify_waiters` from now on.
    pub fn notified(&self) -> tokio::sync::futures::Notified<'_> {
        self.turn.load(Ordering::SeqCst);
        self.signal.notified()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_signal_waits_for_who_comes_later() {
        check(|| {
            let signal = Arc::new(Notify::new());
            let giver = Arc::clone(&signal);
            let gives = thread::spawn(move || giver.notify_one());
            block_on(signal.notified());
            gives.join().unwrap();
        });
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_signal_that_may_be_missed_is_found() {
        check(|| {
            let signal = Arc::new(Notify::new());
            let giver = Arc::clone(&signal);
            let gives = thread::spawn(move || giver.notify_waiters());
            block_on(signal.notified());
            gives.join().unwrap();
        });
    }
}
