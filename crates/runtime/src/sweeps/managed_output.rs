//! Deletion of old Managed Tool Output Files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use opencode_schema::clock::{Clock, Millis};
use opencode_tools::sweep_managed_output;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::timer::Timer;

/// Interval of the sweeps. The first sweep starts at once, because many hosts live only for seconds.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// Sweeps the files once an hour, until the host closes or is dropped. A sweep is a task of the host, and a running
/// sweep ends early when the host closes.
pub(crate) async fn sweep_regularly(
    directory: Arc<Path>,
    timer: Arc<dyn Timer>,
    clock: Arc<dyn Clock>,
    tasks: TaskTracker,
    closing: CancellationToken,
) {
    let sweeping = async {
        loop {
            sweep(&tasks, &directory, clock.now(), &closing).await;
            timer.after(SWEEP_EVERY).await;
        }
    };
    closing.run_until_cancelled(sweeping).await;
}

async fn sweep(
    tasks: &TaskTracker,
    directory: &Arc<Path>,
    now: Millis,
    closing: &CancellationToken,
) {
    let (place, closing) = (Arc::clone(directory), closing.clone());
    let sweep = opencode_log::spawn_blocking_tracked(tasks, move || {
        sweep_managed_output(&place, now, &closing)
    });
    match sweep.await {
        Ok(Ok(0)) => {}
        Ok(Ok(files)) => tracing::debug!(files, "old Managed Tool Output Files are deleted"),
        Ok(Err(error)) => {
            let directory = directory.display();
            tracing::warn!(%error, %directory, "Managed Tool Output Files are not swept");
        }
        Err(error) => tracing::error!(%error, "a sweep of Managed Tool Output Files panicked"),
    }
}
