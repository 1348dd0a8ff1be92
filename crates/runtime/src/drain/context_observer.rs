//! Separate threads that observe the System Context of sessions.
//!
//! The blocking threads of the host's runtime may all be in use, for example by tools that read
//! unresponsive files, and every session observes its System Context before every turn.

use std::io;

use opencode_context::{Observed, SystemContext};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

use crate::error::DrainError;

/// Maximum number of threads that block on files at the same time.
const MAX_BLOCKED: usize = 64;

/// Observes the System Context for the sessions of a host.
#[derive(Default)]
pub(super) struct ContextObserver {
    /// Created by the first observation. Locked only to start an observation, never across an await.
    runtime: Mutex<Option<Runtime>>,
}

impl ContextObserver {
    /// Observes all sources of a context. Aborts the observation if the future is dropped.
    ///
    /// # Errors
    ///
    /// Fails if no thread can be created, or a source panicked.
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
    /// Shuts down without waiting: a thread that blocks on an unresponsive file must not block the drop.
    fn drop(&mut self) {
        let runtime = self.runtime.get_mut();
        if let Some(runtime) = runtime.take() {
            runtime.shutdown_background();
        }
    }
}
