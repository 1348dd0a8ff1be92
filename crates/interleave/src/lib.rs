//! Synchronization primitives with a scheduler that chooses the next thread or task at every use of shared state.
//!
//! Only tests depend on this crate. A module for concurrent use imports its primitives from `super::sync`.
//! Its crate provides the real primitives there. A test module includes the same file a second time and
//! provides these primitives instead, so the tests check the code that runs in production:
//!
//! ```text
//! use opencode_interleave as sync;
//!
//! #[path = "events.rs"]
//! mod events;
//! ```
//!
//! Types that such a module imports directly from `tokio` (answers, tokens) work here too. Each of
//! their operations is atomic: no other thread or task runs in between. [`check`] runs a test case
//! under many schedules; a deadlock in one of them fails the test.

use shuttle::sync::atomic::{AtomicBool, Ordering};

pub use shuttle::future::{block_on, spawn, yield_now};
pub use shuttle::sync::atomic::AtomicU64;
pub use shuttle::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};
pub use shuttle::thread;

/// Number of schedules of each kind per test case.
const SCHEDULES: usize = 250;
/// Maximum number of preemptions per schedule with few preemptions.
const PREEMPTIONS: usize = 3;

/// Runs a test case under two kinds of schedules: random order, and few preemptions at random
/// points. A failure prints the schedule, which `shuttle::replay` repeats.
pub fn check(story: impl Fn() + Send + Sync + Copy + 'static) {
    shuttle::check_random(story, SCHEDULES);
    shuttle::check_pct(story, SCHEDULES, PREEMPTIONS);
}

/// `tokio::sync::Notify`, with a scheduling point before each use.
#[derive(Debug, Default)]
pub struct Notify {
    signal: tokio::sync::Notify,
    /// Reading it is the scheduling point.
    turn: AtomicBool,
}

impl Notify {
    /// Creates a `Notify` without a stored notification.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Wakes one waiting task, or the next task that waits.
    pub fn notify_one(&self) {
        self.turn.load(Ordering::SeqCst);
        self.signal.notify_one();
    }

    /// Wakes all waiting tasks.
    pub fn notify_waiters(&self) {
        self.turn.load(Ordering::SeqCst);
        self.signal.notify_waiters();
    }

    /// Waits for a notification. Of `notify_waiters`, only calls after this call count.
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
    fn a_signal_reaches_later_waiters() {
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
    fn the_checker_finds_a_missed_notify_waiters() {
        check(|| {
            let signal = Arc::new(Notify::new());
            let giver = Arc::clone(&signal);
            let gives = thread::spawn(move || giver.notify_waiters());
            block_on(signal.notified());
            gives.join().unwrap();
        });
    }
}
