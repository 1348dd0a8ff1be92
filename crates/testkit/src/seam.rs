//! Test access to the file operations of the store.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use opencode_runtime::{Fault, Moment, Seam};
use tokio::sync::Notify;

/// A seam that calls a closure.
pub fn seam(at: impl Fn(Moment<'_>) -> Result<(), Fault> + Send + Sync + 'static) -> Arc<dyn Seam> {
    Arc::new(ScriptedSeam(at))
}

struct ScriptedSeam<F>(F);

impl<F> Seam for ScriptedSeam<F>
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
