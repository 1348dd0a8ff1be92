//! The host itself.

use crate::event::OpenCodeEvent;
use crate::operation::operations;
use crate::output::Health;

operations! {
    /// Says that the host is there.
    HealthGet = "v2.health.get" => "health.get" {
        Get "/api/health",
        success: whole(Health),
        errors: [],
        middleware: [Authorization],
    }

    /// Everything that happens in this host from now on, fragments of running turns included.
    ///
    /// The first event is `server.connected`; nothing that happens after it is missed. Nothing is
    /// replayed, and a reader that falls too far behind is cut off. It ends when the host closes.
    EventSubscribe = "v2.event.subscribe" => "events.subscribe" {
        Get "/api/event",
        success: stream(OpenCodeEvent, ends: true),
        errors: [],
        middleware: [Authorization],
    }
}
