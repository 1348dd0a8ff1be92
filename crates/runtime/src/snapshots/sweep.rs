//! When snapshots go.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::core::Core;

/// How often snapshots are looked through.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);
/// When that happens first, so that opening a host is not disturbed.
const FIRST_SWEEP: Duration = Duration::from_secs(60);
/// How long what a step captured is kept at least.
const RETENTION: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Looks through the snapshots once an hour, until the host closes. What has begun then ends, as a
/// task of the host.
pub(crate) async fn sweep_regularly(
    core: Arc<Core>,
    tasks: TaskTracker,
    closing: CancellationToken,
) {
    let sweeping = async {
        core.timer.after(FIRST_SWEEP).await;
        loop {
            let core = Arc::clone(&core);
            let timer = Arc::clone(&core.timer);
            // A sweep that panicked has told so, and the next one may do better.
            let _ = tasks
                .spawn(async move { core.sweep_snapshots().await })
                .await;
            timer.after(SWEEP_EVERY).await;
        }
    };
    closing.run_until_cancelled(sweeping).await;
}

impl Core {
    /// Removes what nobody needs any more of the snapshots at hand. What is staged may be needed as
    /// long as it is staged.
    async fn sweep_snapshots(&self) {
        let staged = self.store.read(|reader| reader.staged_snapshots()).await;
        let keep: Vec<_> = match staged {
            // What a log from elsewhere says may name no snapshot at all.
            Ok(keep) => keep.into_iter().filter(|it| is_id(it)).collect(),
            Err(error) => {
                tracing::warn!(%error, "the snapshots are not swept");
                return;
            }
        };
        for snapshots in self.snapshots.at_hand() {
            match snapshots.sweep(RETENTION, &keep).await {
                Ok(swept) => tracing::debug!(?swept, "the snapshots are swept"),
                Err(error) => tracing::warn!(%error, "the snapshots are not swept"),
            }
        }
        self.snapshots.forget_idle(self.now());
    }
}

fn is_id(snapshot: &str) -> bool {
    snapshot.len() == 40 && snapshot.bytes().all(|it| it.is_ascii_hexdigit())
}
