//! Recovery: finds sessions whose last activity was cut off, and resumes them.
//!
//! The stored history alone decides. To resume a session means to run it, never to wake it: a wake asks the provider
//! only if there is input to promote, and the input of these sessions is already promoted.

use std::sync::Arc;

use futures::{StreamExt, stream};
use opencode_schema::clock::Millis;
use opencode_schema::event::{Retried, RetryError};
use opencode_schema::id::SessionID;
use opencode_store::{Abort, Interrupted, InterruptedState, StoreError, Transaction};
use tokio_util::sync::CancellationToken;

use crate::coordinator::Coordinator;
use crate::error::RuntimeError;
use crate::journal::{Journal, append};

/// Number of sessions that are resumed at the same time.
const SESSIONS_AT_ONCE: usize = 16;

/// Number of attempts without a finished step after which a session is not resumed again.
const ATTEMPTS: u32 = 3;

/// Action of a host, when it opens, on sessions whose last activity was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recovery {
    /// None: each session waits until a client prompts or resumes it.
    #[default]
    Manual,
    /// Resumes each of them in the background, unless the last three attempts finished no step. Sessions that carried
    /// out a task are not resumed: no caller waits for them any more, and the session that gave the task can give it
    /// again.
    Resume,
}

/// Returns the sessions whose last activity was cut off.
pub(crate) async fn interrupted(journal: &Journal) -> Result<Vec<Interrupted>, RuntimeError> {
    Ok(journal.store.read(|reader| reader.interrupted()).await?)
}

/// Records that the host resumes a session. Returns the number of the attempt, or `None` if the host may not resume
/// it: the session is not cut off any more, was tried too often, or carried out a task.
async fn record_attempt(journal: &Journal, id: SessionID) -> Result<Option<u32>, RuntimeError> {
    let now = journal.now();
    let recorded = journal
        .store
        .write(move |transaction| Ok::<_, Abort<RuntimeError>>(record(transaction, &id, now)?));
    Ok(recorded.await?)
}

/// Resumes every session whose last activity was cut off, until the host closes.
pub(crate) async fn recover(
    journal: Arc<Journal>,
    coordinator: Coordinator,
    closing: CancellationToken,
) {
    let recovered = async {
        let found = interrupted(&journal).await?;
        let sessions = stream::iter(found).map(|it| it.session_id);
        sessions
            .for_each_concurrent(SESSIONS_AT_ONCE, |id| resume(&journal, &coordinator, id))
            .await;
        Ok::<_, RuntimeError>(())
    };
    if let Some(Err(error)) = closing.run_until_cancelled(recovered).await {
        tracing::error!(%error, "interrupted sessions cannot be found");
    }
}

#[tracing::instrument(level = "error", name = "recovery", skip_all, fields(session_id = %id))]
async fn resume(journal: &Journal, coordinator: &Coordinator, id: SessionID) {
    // A caller has already started it.
    if coordinator.active().contains(&id) {
        return;
    }
    match record_attempt(journal, id.clone()).await {
        // The end of every drain is reported elsewhere.
        Ok(Some(attempt)) => {
            tracing::info!(attempt, "an interrupted session is resumed");
            drop(coordinator.run(&id).await);
        }
        Ok(None) => {}
        Err(error) => {
            tracing::error!(%error, "an interrupted session cannot be resumed");
        }
    }
}

fn record(
    transaction: &mut Transaction<'_>,
    id: &SessionID,
    now: Millis,
) -> Result<Option<u32>, StoreError> {
    let reader = transaction.reader();
    let Some(session) = reader.session(id)? else {
        return Ok(None);
    };
    if session.info.parent_id.is_some() && !session.is_fork {
        return Ok(None);
    }
    let Some(interrupted) = reader.interruption(session.key)? else {
        return Ok(None);
    };
    let attempts = reader.retries_since_progress(session.key)?;
    if attempts >= ATTEMPTS {
        let location = &session.info.location.directory;
        tracing::warn!(session_id = %id, location, attempts, "an interrupted session is left alone");
        return Ok(None);
    }
    let attempt = attempts + 1;
    let payload = Retried {
        attempt,
        error: RetryError {
            message: explain(interrupted.state).to_owned(),
            status_code: None,
            is_retryable: true,
            response_headers: None,
            response_body: None,
            metadata: None,
        },
    };
    append(transaction, &session, now, payload)?;
    Ok(Some(attempt))
}

fn explain(state: InterruptedState) -> &'static str {
    match state {
        InterruptedState::InputUnanswered => "The newest input has no answer",
        InterruptedState::StepOpen => "The newest answer was cut off",
        InterruptedState::ContinuationDue => "The newest answer was not continued",
    }
}
