//! When snapshots go.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use opencode_snapshots::Snapshots;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::snapshots::SnapshotStores;
use crate::timer::Timer;

/// How often snapshots are looked through.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);
/// When that happens first, so that opening a host is not disturbed.
const FIRST_SWEEP: Duration = Duration::from_secs(60);
/// How long what a step captured is kept at least.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Looks through the snapshots once an hour, until the host closes or is dropped. What has begun then
/// ends, as a task of the host.
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

/// Removes what nobody needs any more, also of worktrees that nobody uses. What is staged may be
/// needed as long as it is staged.
async fn sweep(snapshots: &SnapshotStores) {
    let staged = snapshots
        .journal
        .store
        .read(|reader| reader.staged_snapshots())
        .await;
    let keep: Vec<_> = match staged {
        // What a log from elsewhere says may name no snapshot at all.
        Ok(keep) => keep.into_iter().filter(|it| is_id(it)).collect(),
        Err(error) => {
            tracing::warn!(%error, "the snapshots are not swept");
            return;
        }
    };
    let root = snapshots.root.clone();
    let stores = match opencode_log::spawn_blocking(move || stores(&root)).await {
        Ok(stores) => stores,
        Err(error) => {
            tracing::error!(%error, "a sweep of the snapshots did not end");
            return;
        }
    };
    for store in stores {
        let folder = store.display();
        match Snapshots::sweep(&store, RETENTION, &keep).await {
            Ok(swept) => tracing::debug!(%folder, ?swept, "the snapshots are swept"),
            Err(error) => tracing::warn!(%folder, %error, "the snapshots are not swept"),
        }
    }
    snapshots.forget_idle(snapshots.journal.now());
}

/// The folders of all stores: one for each worktree, in one for each project. Blocks on the disk.
fn stores(root: &Path) -> Vec<PathBuf> {
    let projects = entries(root).into_iter();
    projects.flat_map(|project| entries(&project)).collect()
}

/// What lies in a folder. Nothing where there is none, or where it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|it| Some(it.ok()?.path())).collect(),
        Err(error) => {
            if error.kind() != ErrorKind::NotFound {
                let folder = folder.display();
                tracing::warn!(%folder, %error, "the snapshots are not swept");
            }
            Vec::new()
        }
    }
}

fn is_id(snapshot: &str) -> bool {
    snapshot.len() == 40 && snapshot.bytes().all(|it| it.is_ascii_hexdigit())
}
