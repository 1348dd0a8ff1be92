//! Compaction that somebody asks for.

use std::sync::Arc;

use opencode_schema::id::SessionID;
use opencode_schema::message::CompactionReason;
use tokio_util::sync::CancellationToken;

use super::{Grounds, Outcome};
use crate::core::Core;
use crate::error::{DrainError, RuntimeError};
use crate::runner::Sampled;
use crate::runtime::Runtime;

/// Name of the operation in failures.
const SERVICE: &str = "session.compact";

impl Runtime {
    /// Compacts the Session History once no drain runs any more, and keeps drains from beginning
    /// meanwhile. Does nothing where there is nothing to compact.
    ///
    /// # Errors
    ///
    /// `Unavailable` says why there is no summary; the history is as it was then.
    pub async fn compact(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let (core, coordinator, id) =
            (Arc::clone(&self.core), self.coordinator.clone(), id.clone());
        let compacting = self.tasks.track_future(async move {
            core.session(&id).await?;
            let held = loop {
                coordinator.wait(&id).await;
                // Somebody may have been quicker.
                if let Some(held) = coordinator.hold(&id) {
                    break held;
                }
            };
            core.compact_now(&id, held.stopped()).await
        });
        // A task of its own goes on although nobody waits for it, and lets others run in between.
        opencode_log::spawn(compacting).await?
    }
}

impl Core {
    #[tracing::instrument(
        level = "error",
        name = "compaction",
        skip_all,
        fields(session_id = %id, location = tracing::field::Empty),
    )]
    async fn compact_now(
        self: &Arc<Self>,
        id: &SessionID,
        stopped: &CancellationToken,
    ) -> Result<(), RuntimeError> {
        self.commit_staged_revert(id).await?;
        let fence = self.fence(id).await?;
        let session = fence.session().clone();
        tracing::Span::current().record("location", &session.info.location.directory);
        let opened = self.locations.get(&session.info.location.directory).await;
        let location = opened.map_err(|error| unavailable(error.to_string()))?;
        let configured = location.configuration.settings.compaction.keep_tokens;
        let tolerates = self.unknown_agents.are_tolerated(&session.info.id);
        let sampled = Sampled::of(&session, location, tolerates);
        let resolved = sampled.resolve();
        let grounds = resolved.map(|it| Grounds::of(&fence, &sampled, &it.model));
        let keep = grounds.as_ref().map_or(configured, |grounds| grounds.keep);
        let selected = self.select(&session, keep).await.map_err(failed)?;
        // Where there is nothing to compact, no model is needed.
        let Some(selection) = selected else {
            return Ok(());
        };
        let grounds = grounds.map_err(|error| unavailable(sampled.explain(&error).to_string()))?;
        let reason = CompactionReason::Manual;
        let made = self.checkpoint(&grounds, selection, reason, stopped);
        match made.await.map_err(failed)? {
            Outcome::Completed | Outcome::Nothing => Ok(()),
            Outcome::Failed(failure) => {
                let message = format!("The history of {id} was not compacted: {}", failure.message);
                tracing::warn!("{message}");
                Err(unavailable(message))
            }
            Outcome::Outdated => Err(unavailable(format!(
                "The Location, agent or model of {id} changed while its compaction was prepared; try again"
            ))),
            Outcome::Interrupted => Err(unavailable(format!(
                "The compaction of {id} was interrupted"
            ))),
        }
    }
}

fn failed(error: DrainError) -> RuntimeError {
    match error {
        DrainError::Store(error) => error.into(),
        other => unavailable(other.to_string()),
    }
}

fn unavailable(message: String) -> RuntimeError {
    let service = SERVICE;
    RuntimeError::Unavailable { service, message }
}
