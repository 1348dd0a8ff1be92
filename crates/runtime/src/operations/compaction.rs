//! Compaction on request: the operation of a host.

use std::sync::Arc;

use opencode_schema::id::SessionID;

use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// Compacts the Session History once no drain runs any more, and keeps drains from beginning
    /// meanwhile. Does nothing where there is nothing to compact.
    ///
    /// # Errors
    ///
    /// `Unavailable` has the reason why there is no summary. Then the history is unchanged.
    pub async fn compact(&self, id: &SessionID) -> Result<(), RuntimeError> {
        let (services, coordinator, id) = (
            Arc::clone(&self.drains),
            self.coordinator.clone(),
            id.clone(),
        );
        let compacting = self.tasks.track_future(async move {
            services.journal.session(&id).await?;
            let held = loop {
                coordinator.wait(&id).await;
                // Another task may have taken the session in the meantime.
                if let Some(held) = coordinator.hold(&id) {
                    break held;
                }
            };
            services.compact_now(&id, held.stopped()).await
        });
        // A separate task continues if the caller drops the future, and lets other tasks run in between.
        opencode_log::spawn(compacting).await?
    }
}
