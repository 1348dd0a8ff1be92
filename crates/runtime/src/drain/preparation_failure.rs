//! The reason why a turn cannot be prepared.

use opencode_store::SessionRow;

use super::DrainStop;
use super::sample::Sampled;
use crate::error::DrainError;

/// The reason why a turn cannot be prepared.
pub(super) enum PreparationFailure {
    /// The drain ends or starts again.
    Stopped(DrainStop),
    /// The agent or the model cannot be resolved.
    Unresolved {
        session: Box<SessionRow>,
        sampled: Sampled,
        error: DrainError,
    },
}

impl<E: Into<DrainStop>> From<E> for PreparationFailure {
    fn from(stop: E) -> Self {
        Self::Stopped(stop.into())
    }
}
