//! The host itself.

use crate::event::OpenCodeEvent;
use crate::input::SubscribeQuery;
use crate::operation::operations;
use crate::output::Health;

operations! {
    /// Confirms that the host is alive.
    HealthGet = "v2.health.get" => "health.get" {
        Get "/api/health",
        success: whole(Health),
        errors: [],
        middleware: [Authorization],
    }

    /// Streams the selected events of this host from now on, by default all, including fragments of running turns.
    ///
    /// The first event is `server.connected`. The stream contains all later events and replays no earlier event. The host
    /// disconnects a reader that falls too far behind. The stream ends when the host closes.
    EventSubscribe = "v2.event.subscribe" => "events.subscribe" {
        Get "/api/event",
        query: SubscribeQuery,
        success: stream(OpenCodeEvent, ends: true),
        errors: [],
        middleware: [Authorization],
    }
}
