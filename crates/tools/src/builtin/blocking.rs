//! Runs blocking file-system work on separate threads.

use std::panic::resume_unwind;

use crate::failure::ToolFailure;

/// Runs `work` on a thread that may block. A panic in `work` continues in the caller.
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
