//! Test access to the file operations of the store.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use opencode_runtime::{Fault, Moment, TestHook};
use tokio::sync::Notify;

/// Returns a test hook that calls a closure.
pub fn test_hook(
    at: impl Fn(Moment<'_>) -> Result<(), Fault> + Send + Sync + 'static,
) -> Arc<dyn TestHook> {
    Arc::new(CallingHook(at))
}

struct CallingHook<F>(F);

impl<F> TestHook for CallingHook<F>
where
    F: Fn(Moment<'_>) -> Result<(), Fault> + Send + Sync,
{
    fn at(&self, moment: Moment<'_>) -> Result<(), Fault> {
        (self.0)(moment)
    }
}

/// Holds threads of the store until the test opens it. Clones share one blockade.
#[derive(Clone, Default)]
pub struct Blockade(Arc<Inner>);

#[derive(Default)]
struct Inner {
    open: Mutex<bool>,
    opened: Condvar,
    reached: Notify,
}

impl Blockade {
    /// A closed blockade.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Blocks the thread until the blockade is open.
    pub fn pass(&self) {
        self.0.reached.notify_one();
        let open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = self.0.opened.wait_while(open, |open| !*open);
        drop(passed);
    }

    /// Opens the blockade for all threads, now and later.
    pub fn release(&self) {
        *self.0.open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.opened.notify_all();
    }

    pub(crate) async fn reached(&self) {
        self.0.reached.notified().await;
    }
}
