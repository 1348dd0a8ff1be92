//! The last check before a request is sent.

use super::{Runner, Stop};
use crate::provider::Fence;

impl Runner {
    /// Passes the fence, as the last step before a request.
    ///
    /// # Errors
    ///
    /// `Outdated`: the turn must be prepared anew. `Interrupted`: it must not be sent.
    pub(super) async fn pass(&mut self, fence: &Fence) -> Result<(), Stop> {
        let holds = fence.is_current(&self.services.journal).await?;
        if self.stopper.stopped().is_cancelled() {
            return Err(Stop::Interrupted);
        }
        if !holds {
            return Err(Stop::Outdated);
        }
        self.outdated = 0;
        Ok(())
    }
}
