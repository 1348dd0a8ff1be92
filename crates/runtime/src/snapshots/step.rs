//! The files around one step.

use std::sync::Arc;
use std::time::Duration;

use opencode_location::location::Location;
use opencode_snapshots::{SnapshotError, Snapshots};
use tokio_util::sync::CancellationToken;

use super::SnapshotStores;

/// How long Provider Turns wait for a capture, all of them together. What takes longer goes on in the
/// background: until it has ended steps go on without a snapshot, and later ones are the quicker for it.
const CAPTURE_PATIENCE: Duration = Duration::from_secs(10);

/// How long somebody who interrupts a step waits for what it did to be captured.
const INTERRUPTED_PATIENCE: Duration = Duration::from_millis(500);

/// Files that one step may have changed to be told and to be reverted: every client that follows the
/// session gets their names in one event.
const MAX_FILES: usize = 10_000;

/// The files as a step found them.
pub(crate) struct StepSnapshot {
    pub(crate) start: String,
    snapshots: Snapshots,
}

/// What a step left of the files.
pub(crate) struct StepChanges {
    pub(crate) end: String,
    /// Paths relative to the worktree.
    pub(crate) files: Vec<String>,
}

impl SnapshotStores {
    /// Captures the files as a step finds them, unless configuration switches that off.
    pub(crate) async fn begin_step(&self, location: &Location) -> Option<StepSnapshot> {
        if !location.configuration.settings.snapshots {
            return None;
        }
        let snapshots = self.of(location).await?;
        let patience = patience(&snapshots);
        tokio::select! {
            biased;
            captured = snapshots.capture() => match captured {
                Ok(capture) => Some(StepSnapshot {
                    start: capture.tree,
                    snapshots,
                }),
                Err(error) => {
                    tracing::warn!(%error, "a step goes on without a snapshot");
                    None
                }
            },
            () = self.timer.after(patience) => {
                tracing::warn!("a step does not wait for its snapshot any longer");
                None
            }
        }
    }

    /// What a step changed. Whoever interrupts it does not wait long for this.
    pub(crate) async fn end_step(
        self: Arc<Self>,
        step: Arc<StepSnapshot>,
        stopped: CancellationToken,
    ) -> Option<StepChanges> {
        let impatience = async {
            stopped.cancelled().await;
            self.timer.after(INTERRUPTED_PATIENCE).await;
        };
        let patience = patience(&step.snapshots);
        tokio::select! {
            biased;
            changes = step.changes() => match changes {
                Ok(changes) => Some(changes),
                Err(error) => {
                    tracing::warn!(%error, "what a step changed is not known");
                    None
                }
            },
            () = impatience => {
                tracing::warn!("what an interrupted step changed is not known");
                None
            }
            () = self.timer.after(patience) => {
                tracing::warn!("capturing what a step changed takes too long");
                None
            }
        }
    }
}

/// What is left of the time to wait, where somebody else's capture is under way.
fn patience(snapshots: &Snapshots) -> Duration {
    CAPTURE_PATIENCE.saturating_sub(snapshots.busy_for())
}

impl StepSnapshot {
    async fn changes(&self) -> Result<StepChanges, SnapshotError> {
        let end = self.snapshots.capture().await?.tree;
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
        Ok(StepChanges { end, files })
    }

    /// A step that ran nothing here changed nothing.
    pub(crate) fn unchanged(&self) -> StepChanges {
        StepChanges {
            end: self.start.clone(),
            files: Vec::new(),
        }
    }
}
