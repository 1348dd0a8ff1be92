//! Inspection of requests and of the System Context.

use opencode_schema::inspection::{ContextMetrics, ProviderRequestView};

use crate::input::{LocationSelection, SessionParams};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// Returns the complete request that the next Provider Turn of the session would send.
    ///
    /// The host builds it as a turn does, with the prompts that it would promote and the changes of the System Context. It
    /// sends and stores nothing. The estimate states if the history would be compacted first. While the session runs, the
    /// result is the turn after the current one, as if the current one ended now: open calls have no result yet. If no
    /// turn can begin, because the model or the System Context is not available, the failure has the reason.
    SessionRequest = "v2.session.request" => "sessions.request" {
        Get "/api/session/{sessionID}/request",
        params: SessionParams,
        success: value(ProviderRequestView),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Returns metrics of the System Context of a Location since the host was opened: the duration of observations,
    /// sources that were unavailable, repeated observations, and the size of the text for models.
    DebugContext = "v2.debug.context" => "debug.context" {
        Get "/api/debug/context",
        query: LocationSelection,
        success: whole(Located<ContextMetrics>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }
}
