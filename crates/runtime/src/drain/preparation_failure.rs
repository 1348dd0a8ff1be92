//! The reason why a turn cannot be prepared.

use std::sync::Arc;

use opencode_schema::message::{ErrorKind, SessionErrorUnknown};
use opencode_store::SessionRow;

use super::publisher::Publisher;
use super::sample::Sampled;
use super::{Continuation, DrainStop, Runner};
use crate::error::DrainError;

/// The reason why a turn cannot be prepared.
pub(super) enum PreparationFailure {
    /// The drain ends or starts again.
    Stopped(DrainStop),
    /// The agent or the model cannot be resolved.
    Unresolved {
        session: Box<SessionRow>,
        sampled: Box<Sampled>,
        error: DrainError,
    },
}

impl<E: Into<DrainStop>> From<E> for PreparationFailure {
    fn from(stop: E) -> Self {
        Self::Stopped(stop.into())
    }
}

impl Runner {
    /// Records that an owed turn could not run. Without this record, results that wait for a model
    /// would wait without any sign of the failure. Inputs stay pending.
    pub(super) async fn record_failed_turn(
        &self,
        session: SessionRow,
        sampled: Sampled,
        error: DrainError,
        continuation: &Continuation,
    ) -> Result<DrainStop, DrainError> {
        let model = sampled.model.unwrap_or_else(|| continuation.to.clone());
        let journal = Arc::clone(&self.services.journal);
        let secrets = sampled.location.secrets.clone();
        let mut publisher = Publisher::new(journal, session, sampled.id, model, secrets);
        publisher.fail_step(SessionErrorUnknown::of(
            ErrorKind::InvalidRequest,
            error.to_string(),
        ));
        self.stopper.turn_failed();
        publisher.flush().await?;
        Ok(DrainStop::Failed(error))
    }
}
