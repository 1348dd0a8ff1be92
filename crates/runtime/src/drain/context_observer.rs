//! Where the surroundings of sessions are looked at: on threads of their own.
//!
//! Those that a program lends for whatever blocks may all be taken, for example by tools whose files
//! do not answer, and every session looks around before every turn.

use std::io;

use opencode_context::{Observed, SystemContext};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

use crate::error::DrainError;

/// Threads that may stand before files at the same time.
const MAX_BLOCKED: usize = 64;

/// Looks around for the sessions of a host.
#[derive(Default)]
pub(super) struct ContextObserver {
    /// There from the first look on. Locked to begin one; never across an await.
    runtime: Mutex<Option<Runtime>>,
}

impl ContextObserver {
    /// Observes every source of a context. Dropping the future gives the look up.
    ///
    /// # Errors
    ///
    /// There is no thread to look with, or a source panicked.
    pub(super) async fn observe(&self, context: SystemContext) -> Result<Observed, DrainError> {
        let looking = self.begin(context);
        let looking = looking.map_err(|error| {
            DrainError::Context(format!("the System Context cannot be observed: {error}"))
        })?;
        let observed = AbortOnDropHandle::new(looking).await;
        observed.map_err(|error| {
            DrainError::Context(format!("observing the System Context failed: {error}"))
        })
    }

    fn begin(&self, context: SystemContext) -> io::Result<JoinHandle<Observed>> {
        let mut runtime = self.runtime.lock();
        let runtime = match &mut *runtime {
            Some(runtime) => runtime,
            none => none.insert(threads()?),
        };
        let looking = async move { context.observe().await };
        Ok(opencode_log::spawn_on(runtime.handle(), looking))
    }
}

fn threads() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(MAX_BLOCKED)
        .thread_name("opencode-context")
        .enable_all()
        .build()
}

impl Drop for ContextObserver {
    /// A thread that stands before a file which never answers keeps nobody.
    fn drop(&mut self) {
        let runtime = self.runtime.get_mut();
        if let Some(runtime) = runtime.take() {
            runtime.shutdown_background();
        }
    }
}
