//! Captures of the files before and after one step.

use std::sync::Arc;
use std::time::Duration;

use opencode_location::location::Location;
use opencode_snapshots::{HeldTree, SnapshotError, Snapshots};
use tokio_util::sync::CancellationToken;

use super::SnapshotStores;

/// Time that all Provider Turns together wait for a capture. A slower capture continues in the
/// background. Steps have no snapshot until it has ended. Later captures are faster because of it.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(10);

/// Time that an interruption of a step waits for the capture of its changes.
const INTERRUPTED_TIMEOUT: Duration = Duration::from_millis(500);

/// Maximum number of files that one step may change to be reported and reverted: every client that
/// follows the session gets their names in one event.
const MAX_FILES: usize = 10_000;

/// The files before a step.
pub(crate) struct StepSnapshot {
    pub(crate) start: String,
    snapshots: Snapshots,
    held: HeldTree,
}

/// The files after a step.
pub(crate) struct StepChanges {
    pub(crate) end: String,
    /// Paths relative to the worktree.
    pub(crate) files: Vec<String>,
    /// Keeps the snapshot until the end of the step is recorded.
    pub(crate) held: HeldTree,
}

impl SnapshotStores {
    /// Captures the files before a step, unless the configuration disables snapshots.
    pub(crate) async fn begin_step(&self, location: &Location) -> Option<StepSnapshot> {
        if !location.configuration.settings.snapshots {
            return None;
        }
        let snapshots = self.of(location).await?;
        let remaining = remaining_time(&snapshots);
        tokio::select! {
            biased;
            captured = snapshots.capture() => match captured {
                Ok(capture) => Some(StepSnapshot {
                    start: capture.tree,
                    snapshots,
                    held: capture.held,
                }),
                Err(error) => {
                    tracing::warn!(%error, "a step goes on without a snapshot");
                    None
                }
            },
            () = self.timer.after(remaining) => {
                tracing::warn!("a step does not wait for its snapshot any longer");
                None
            }
        }
    }

    /// Returns the changes of a step. An interruption waits only briefly for them.
    pub(crate) async fn end_step(
        self: Arc<Self>,
        step: Arc<StepSnapshot>,
        stopped: CancellationToken,
    ) -> Option<StepChanges> {
        let give_up = async {
            stopped.cancelled().await;
            self.timer.after(INTERRUPTED_TIMEOUT).await;
        };
        let remaining = remaining_time(&step.snapshots);
        tokio::select! {
            biased;
            changes = step.changes() => match changes {
                Ok(changes) => Some(changes),
                Err(error) => {
                    tracing::warn!(%error, "what a step changed is not known");
                    None
                }
            },
            () = give_up => {
                tracing::warn!("what an interrupted step changed is not known");
                None
            }
            () = self.timer.after(remaining) => {
                tracing::warn!("capturing what a step changed takes too long");
                None
            }
        }
    }
}

/// Returns the time to wait for a capture, less the time that work in progress has already taken.
fn remaining_time(snapshots: &Snapshots) -> Duration {
    CAPTURE_TIMEOUT.saturating_sub(snapshots.busy_for())
}

impl StepSnapshot {
    async fn changes(&self) -> Result<StepChanges, SnapshotError> {
        let capture = self.snapshots.capture().await?;
        let (end, held) = (capture.tree, capture.held);
        let files = if end == self.start {
            Vec::new()
        } else {
            self.snapshots.files(&self.start, &end).await?
        };
        if files.len() > MAX_FILES {
            return Err(SnapshotError::TooLarge(
                "one step changed over 10,000 files",
            ));
        }
        Ok(StepChanges { end, files, held })
    }

    /// Returns the result of a step that ran no call in this Location and so changed nothing.
    pub(crate) fn unchanged(&self) -> StepChanges {
        StepChanges {
            end: self.start.clone(),
            files: Vec::new(),
            held: self.held.clone(),
        }
    }
}
