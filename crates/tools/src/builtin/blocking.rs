//! File-system work off the threads that run futures.

use std::panic::resume_unwind;

use crate::failure::ToolFailure;

/// Runs `work` where blocking is allowed. A panic in it is the caller's panic.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolFailure> {
    let outcome = opencode_log::spawn_blocking(work).await;
    outcome.map_err(|error| match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        // The runtime is shutting down and never started the work.
        Err(_) => ToolFailure::Interrupted,
    })
}
