//! Time and identifiers that a test controls. The store has one writer thread, which reads the time
//! when it makes an identifier. So a test can hold the writer inside a transaction.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use opencode_runtime::Timer;
use opencode_schema::clock::{Clock, Millis};
use opencode_schema::id::IdSource;
use tokio::sync::{Notify, watch};

/// The start time of every test: 2026-11-20T12:55:02.007Z.
const START: Millis = 1_795_179_302_007;

/// Name of the thread that writes to the database.
const WRITER: &str = "opencode-store";

/// A clock that changes only when the test advances it.
pub struct FakeClock {
    now: watch::Sender<Millis>,
    /// The moment of the start time.
    start: Instant,
    /// The sum of the steps of the wall clock.
    steps: AtomicI64,
    panics: AtomicBool,
    writer: Arc<WriterGate>,
}

#[derive(Default)]
struct WriterGate {
    /// Number of times that the writer may still read the time. `None` if the writer is not held.
    left: Mutex<Option<u32>>,
    opened: Condvar,
    reached: Notify,
}

impl Default for FakeClock {
    fn default() -> Self {
        Self {
            now: watch::Sender::new(START),
            start: Instant::now(),
            steps: AtomicI64::new(0),
            panics: AtomicBool::new(false),
            writer: Arc::default(),
        }
    }
}

impl FakeClock {
    /// Advances the time and completes the timers that are due.
    pub fn advance(&self, by: Millis) {
        self.now.send_modify(|now| *now += by);
    }

    /// Changes the wall clock alone, as a user or a time server does. Timers do not notice it.
    pub fn step(&self, by: Millis) {
        self.steps.fetch_add(by, Ordering::Relaxed);
    }

    /// Number of timers that wait.
    pub fn waiting(&self) -> usize {
        self.now.receiver_count()
    }

    /// Makes the next read of the time outside the writer panic. This simulates a bug in the middle
    /// of an operation.
    pub fn panic_once(&self) {
        self.panics.store(true, Ordering::Relaxed);
    }

    /// Holds the writer immediately before it makes its `nth` identifier from now on, counted from 0.
    pub fn hold_writer(&self, nth: u32) -> WriterHold {
        *self.writer.left() = Some(nth);
        WriterHold(Arc::clone(&self.writer))
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Millis {
        if std::thread::current().name() == Some(WRITER) {
            self.writer.pass();
        } else if self.panics.swap(false, Ordering::Relaxed) {
            panic!("the clock was told to panic");
        }
        *self.now.borrow() + self.steps.load(Ordering::Relaxed)
    }
}

impl Timer for FakeClock {
    fn after(&self, wait: Duration) -> BoxFuture<'static, ()> {
        let mut now = self.now.subscribe();
        let end = *now.borrow() + wait.as_millis() as Millis;
        Box::pin(async move {
            // Without its clock, a timer never completes.
            if now.wait_for(|now| *now >= end).await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    fn now(&self) -> Instant {
        let passed = u64::try_from(*self.now.borrow() - START).unwrap_or_default();
        self.start + Duration::from_millis(passed)
    }
}

/// Holds the writer until the value is dropped.
pub struct WriterHold(Arc<WriterGate>);

impl WriterHold {
    pub(crate) async fn reached(&self) {
        self.0.reached.notified().await;
    }
}

impl Drop for WriterHold {
    fn drop(&mut self) {
        *self.0.left() = None;
        self.0.opened.notify_all();
    }
}

impl WriterGate {
    fn pass(&self) {
        let mut left = self.left();
        match &mut *left {
            None => return,
            Some(0) => self.reached.notify_one(),
            Some(more) => {
                *more -= 1;
                return;
            }
        }
        while left.is_some() {
            left = self
                .opened
                .wait(left)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn left(&self) -> MutexGuard<'_, Option<u32>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Identifiers that are equal in every run of a test.
#[must_use]
pub fn fake_ids(clock: Arc<FakeClock>) -> Arc<IdSource> {
    let made = AtomicU64::new(0);
    Arc::new(IdSource::with_random(clock, move |bytes| {
        let number = made.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        bytes[6..].copy_from_slice(&number);
    }))
}
