//! Operations that show the next request and the metrics of the System Context.

use opencode_location::location::Location;
use opencode_schema::id::SessionID;
use opencode_schema::inspection::{ContextMetrics, ProviderRequestView};

use crate::drain::next_request;
use crate::error::RuntimeError;
use crate::runtime::Runtime;

impl Runtime {
    /// Returns the request that the next Provider Turn of the session would send, with the inputs that it would promote
    /// and the changes of the System Context that it would announce. Sends and stores nothing. While the session runs,
    /// calls that have not settled have no result yet.
    ///
    /// # Errors
    ///
    /// `Unavailable` if no turn can begin now.
    pub async fn next_request(&self, id: &SessionID) -> Result<ProviderRequestView, RuntimeError> {
        let asked = next_request(&self.drains, &self.shared, &self.coordinator, id);
        Box::pin(asked).await
    }

    /// Returns the metrics of the System Context of a Location since this host was opened.
    pub fn context_metrics(&self, location: &Location) -> ContextMetrics {
        self.drains.metrics.of(&location.directory)
    }
}
