//! Compaction at the request of a caller.

use opencode_schema::id::SessionID;
use opencode_schema::message::CompactionReason;
use tokio_util::sync::CancellationToken;

use super::sample::Sampled;
use super::services::Services;
use crate::compaction::{CompactionInput, Outcome};
use crate::error::{DrainError, RuntimeError};
use crate::provider::Fence;
use crate::sessions::check_directory;

/// Name of the operation in failures.
const SERVICE: &str = "session.compact";

impl Services {
    #[tracing::instrument(
        level = "error",
        name = "compaction",
        skip_all,
        fields(session_id = %id, location = tracing::field::Empty),
    )]
    pub(crate) async fn compact_now(
        &self,
        id: &SessionID,
        stopped: &CancellationToken,
    ) -> Result<(), RuntimeError> {
        self.reverts.commit_staged_revert(id).await?;
        let fence = Fence::of(&self.journal, id).await?;
        let session = fence.session().clone();
        tracing::Span::current().record("location", &session.info.location.directory);
        check_directory(&session.info)?;
        let opened = self.locations.get(&session.info.location.directory).await;
        let location = opened.map_err(|error| unavailable(error.to_string()))?;
        let configured = location.configuration.settings.compaction.keep_tokens;
        let tolerates = self.unknown_agents.are_tolerated(&session.info.id);
        let sampled = Sampled::of(&session, location, tolerates, None);
        let resolved = sampled.resolve();
        let input = resolved
            .map(|it| CompactionInput::of(&fence, &sampled, &it, &self.compactor.provider.windows));
        let keep = input.as_ref().map_or(configured, |input| input.keep);
        let selected = self
            .compactor
            .select(&session, keep)
            .await
            .map_err(failed)?;
        // No model is needed if there is nothing to compact.
        let Some(selection) = selected else {
            return Ok(());
        };
        let input = input.map_err(|error| unavailable(sampled.explain(&error).to_string()))?;
        let reason = CompactionReason::Manual;
        let made = self
            .compactor
            .checkpoint(&input, selection, reason, stopped);
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
