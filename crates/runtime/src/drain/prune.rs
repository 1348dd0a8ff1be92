//! Pruning at the end of an activity: `crate::history::pruning` says what, and here it is recorded.

use opencode_schema::event::Pruned;
use opencode_store::Abort;

use super::{DrainStop, Runner};
use crate::error::DrainError;
use crate::journal::append;

impl Runner {
    /// Prunes old tool output in one batch, unless the Location is configured not to. What is to be
    /// pruned follows from the history that the last request was made of.
    pub(super) async fn prune(&self) -> Result<(), DrainStop> {
        let calls = self.conversation.transcript.to_prune();
        if calls.is_empty() || !self.is_to_prune().await {
            return Ok(());
        }
        tracing::debug!(calls = calls.len(), "old tool output is pruned");
        let (id, now) = (self.session.clone(), self.services.journal.now());
        let pruned = self.services.journal.store.write(move |transaction| {
            if let Some(session) = transaction.reader().session(&id)? {
                append(transaction, &session, now, Pruned { calls })?;
            }
            Ok::<(), Abort<DrainError>>(())
        });
        Ok(pruned.await?)
    }

    /// A Location that cannot be opened any more prunes nothing.
    async fn is_to_prune(&self) -> bool {
        let Some(location) = &self.location else {
            return false;
        };
        let location = self.services.locations.get(&location.directory).await;
        location.is_ok_and(|location| location.configuration.settings.compaction.prune)
    }
}
