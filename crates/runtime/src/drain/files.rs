//! Snapshots of the files around a step: one before its request is sent, and one after its calls have
//! settled.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_location::location::Location;
use opencode_snapshots::HeldTree;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Runner;
use crate::snapshots::{SnapshotStores, StepChanges, StepSnapshot};

/// A capture in progress. It runs to its end even if the future is dropped.
pub(super) type Capturing = BoxFuture<'static, Option<StepSnapshot>>;

/// The known changes that a step makes to the files.
pub(super) struct StepFiles {
    snapshots: Arc<SnapshotStores>,
    /// Tracks captures, so that closing the host waits for them.
    tasks: TaskTracker,
    found: Option<Arc<StepSnapshot>>,
    left: Option<StepChanges>,
    /// Keeps the snapshot after the step until its end is recorded.
    held: Option<HeldTree>,
}

impl Runner {
    /// Starts to capture the files, concurrently with other work.
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
            held: None,
        }
    }

    /// Stores the state of the files before the step. Returns its snapshot.
    pub(super) fn begin(&mut self, found: Option<StepSnapshot>) -> Option<String> {
        self.found = found.map(Arc::new);
        self.found.as_ref().map(|found| found.start.clone())
    }

    /// Captures the files after the step, once none of its calls runs. If the step ran no call in this
    /// Location, other processes or sessions made the changes, and the step records none.
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

    /// Returns the snapshot and the changed files for the end of the step.
    pub(super) fn changes(&mut self) -> (Option<String>, Option<Vec<String>>) {
        let changes = self.left.take();
        changes.map_or((None, None), |it| {
            self.held = Some(it.held);
            (Some(it.end), Some(it.files))
        })
    }
}

/// Returns the result of a capture, or `None` if a panic ended it. The step then has no snapshot but continues.
fn captured<T>(ended: Result<Option<T>, JoinError>) -> Option<T> {
    ended.unwrap_or_else(|error| {
        tracing::error!(%error, "a capture of the files of a step did not end");
        None
    })
}
