//! The last check before a request is sent.

use super::{DrainStop, Runner};
use crate::provider::Fence;

impl Runner {
    /// Passes the fence, as the last step before a request.
    ///
    /// # Errors
    ///
    /// `Outdated`: the turn must be prepared anew. `Interrupted`: it must not be sent.
    pub(super) async fn pass(&mut self, fence: &Fence) -> Result<(), DrainStop> {
        let holds = fence.is_current(&self.services.journal).await?;
        if self.stopper.stopped().is_cancelled() {
            return Err(DrainStop::Interrupted);
        }
        if !holds {
            return Err(DrainStop::Outdated);
        }
        self.outdated = 0;
        Ok(())
    }
}
