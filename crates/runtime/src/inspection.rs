//! The operations that look at how requests come about.

use opencode_location::location::Location;
use opencode_schema::id::SessionID;
use opencode_schema::inspection::{ContextMetrics, ProviderRequestView};

use crate::error::RuntimeError;
use crate::runner::next_request;
use crate::runtime::Runtime;

impl Runtime {
    /// The request that the next Provider Turn of the session would send: with the inputs that it
    /// would promote and with what it would tell of the surroundings. Nothing is sent, and nothing is
    /// stored. While the session runs, calls that have not settled have no result yet.
    ///
    /// # Errors
    ///
    /// `Unavailable` where no turn could begin now.
    pub async fn next_request(&self, id: &SessionID) -> Result<ProviderRequestView, RuntimeError> {
        next_request(&self.core, &self.shared, &self.coordinator, id).await
    }

    /// How the System Context of a Location has fared since this host was opened.
    pub fn context_metrics(&self, location: &Location) -> ContextMetrics {
        self.core.metrics.of(&location.directory)
    }
}
