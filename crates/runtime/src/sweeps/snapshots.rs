//! Removal of old snapshots.

use std::sync::{Arc, Weak};
use std::time::Duration;

use opencode_snapshots::Snapshots;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::snapshots::{RETENTION, SnapshotStores, is_id};
use crate::timer::Timer;

/// Interval between two sweeps.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);
/// Delay of the first sweep, so that it does not slow down the opening of a host.
const FIRST_SWEEP: Duration = Duration::from_secs(60);

/// Sweeps the snapshots once an hour, until the host closes or is dropped. A sweep in progress runs
/// to its end, as a task of the host.
pub(crate) async fn sweep_regularly(
    snapshots: Weak<SnapshotStores>,
    timer: Arc<dyn Timer>,
    tasks: TaskTracker,
    closing: CancellationToken,
) {
    let sweeping = async {
        timer.after(FIRST_SWEEP).await;
        while let Some(snapshots) = snapshots.upgrade() {
            let sweep = opencode_log::spawn_tracked(&tasks, async move { sweep(&snapshots).await });
            if let Err(error) = sweep.await {
                tracing::error!(%error, "a sweep of the snapshots panicked");
            }
            timer.after(SWEEP_EVERY).await;
        }
    };
    closing.run_until_cancelled(sweeping).await;
}

/// Removes snapshots that are no longer needed, also those of unused worktrees. Snapshots of a staged revert stay.
async fn sweep(snapshots: &SnapshotStores) {
    let staged = snapshots
        .journal
        .store
        .read(|reader| reader.staged_snapshots())
        .await;
    let keep: Vec<_> = match staged {
        // The log of an imported session may contain an invalid snapshot id.
        Ok(keep) => keep.into_iter().filter(|it| is_id(it)).collect(),
        Err(error) => {
            tracing::warn!(%error, "the snapshots are not swept");
            return;
        }
    };
    for store in snapshots.stores().await.unwrap_or_default() {
        let folder = store.display();
        match Snapshots::sweep(&store, RETENTION, &keep).await {
            Ok(swept) => tracing::debug!(%folder, ?swept, "the snapshots are swept"),
            Err(error) => tracing::warn!(%folder, %error, "the snapshots are not swept"),
        }
    }
    snapshots.forget_idle(snapshots.journal.now());
}
