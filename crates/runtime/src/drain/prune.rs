//! Pruning at the end of an activity: `crate::pruning` selects the output, this module records it.

use opencode_schema::event::Pruned;
use opencode_store::Abort;

use super::{DrainStop, Runner};
use crate::error::DrainError;
use crate::journal::append;

impl Runner {
    /// Prunes old tool output in one batch, unless the configuration of the Location switches it off. The history of the
    /// last request determines the output to prune.
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

    /// True if the Location is configured to prune. False if it cannot be opened any more.
    async fn is_to_prune(&self) -> bool {
        let Some(location) = &self.location else {
            return false;
        };
        let location = self.services.locations.get(&location.directory).await;
        location.is_ok_and(|location| location.configuration.settings.compaction.prune)
    }
}
