//! The files around a step: captured before its request goes out, and again once its calls have
//! settled.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::location::Location;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Runner;
use crate::snapshots::{SnapshotStores, StepChanges, StepSnapshot};

/// A capture under way. It goes on to its end even if nobody waits for it any more.
pub(super) type Capturing = BoxFuture<'static, Option<StepSnapshot>>;

/// What a step does to the files, as far as that is known.
pub(super) struct StepFiles {
    snapshots: Arc<SnapshotStores>,
    /// Where captures run, so that closing the host waits for them.
    tasks: TaskTracker,
    found: Option<Arc<StepSnapshot>>,
    left: Option<StepChanges>,
}

impl Runner {
    /// Begins to capture the files, beside what else there is to do.
    pub(super) fn begin_step(&self, location: &Arc<Location>) -> Capturing {
        let snapshots = Arc::clone(&self.services.snapshots);
        let location = Arc::clone(location);
        let capturing = async move { snapshots.begin_step(&location).await };
        let capturing = opencode_log::spawn_tracked(&self.shared.tasks, capturing);
        async move { captured(capturing.await) }.boxed()
    }
}

impl StepFiles {
    pub(super) fn new(snapshots: &Arc<SnapshotStores>, tasks: &TaskTracker) -> Self {
        Self {
            snapshots: Arc::clone(snapshots),
            tasks: tasks.clone(),
            found: None,
            left: None,
        }
    }

    /// Notes what the step finds. Returns the snapshot of it.
    pub(super) fn begin(&mut self, found: Option<StepSnapshot>) -> Option<String> {
        self.found = found.map(Arc::new);
        self.found.as_ref().map(|found| found.start.clone())
    }

    /// Notes what the step leaves, once nothing of it runs any more. Where it ran nothing in this
    /// Location, what changed meanwhile is somebody else's.
    pub(super) async fn end(&mut self, ran: bool, stopped: &CancellationToken) {
        let Some(found) = &self.found else { return };
        if !ran {
            self.left = Some(found.unchanged());
            return;
        }
        let capturing = Arc::clone(&self.snapshots).end_step(Arc::clone(found), stopped.clone());
        let capturing = opencode_log::spawn_tracked(&self.tasks, capturing);
        self.left = captured(capturing.await);
    }

    /// Snapshot and changed files, for the end of the step.
    pub(super) fn changes(&mut self) -> (Option<String>, Option<Vec<String>>) {
        let changes = self.left.take();
        changes.map_or((None, None), |it| (Some(it.end), Some(it.files)))
    }
}

/// What a capture brought; nothing where a bug ended it, which costs the step its snapshot alone.
fn captured<T>(ended: Result<Option<T>, JoinError>) -> Option<T> {
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "a capture of the files of a step did not end");
        None
    })
}
