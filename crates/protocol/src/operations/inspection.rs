//! Looking at how requests come about.

use opencode_schema::inspection::{ContextMetrics, ProviderRequestView};

use crate::input::{LocationSelection, SessionParams};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// The request that the next Provider Turn of the session would send, complete.
    ///
    /// It is made as a turn makes it, with the inputs that would be promoted and with what would be
    /// told of the surroundings; nothing is sent, and nothing is stored. Whether the history would be
    /// compacted first, the estimate says. While the session runs, it is the turn after the one under
    /// way, as if that ended now: calls that have not settled have no result yet. Where no turn could
    /// begin, because the model or the System Context cannot be had, the failure says why.
    SessionRequest = "v2.session.request" => "sessions.request" {
        Get "/api/session/{sessionID}/request",
        params: SessionParams,
        success: value(ProviderRequestView),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Returns metrics of the System Context of a Location since the host was opened: the duration of observations,
    /// sources
    /// that were unavailable, repeated observations, and the size of the text for models.
    DebugContext = "v2.debug.context" => "debug.context" {
        Get "/api/debug/context",
        query: LocationSelection,
        success: whole(Located<ContextMetrics>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }
}
