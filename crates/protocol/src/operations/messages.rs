//! The messages and events of a session.

use opencode_schema::message::SessionMessage;

use crate::event::SessionDurableEvent;
use crate::input::{EventsQuery, HistoryQuery, MessageParams, MessagesQuery, SessionParams};
use crate::operation::operations;
use crate::output::{MessagesResponse, SessionHistory};

operations! {
    /// Lists all messages of the session, by default newest first.
    SessionMessages = "v2.session.messages" => "sessions.messages" {
        Get "/api/session/{sessionID}/message",
        params: SessionParams,
        query: MessagesQuery,
        success: page(MessagesResponse),
        errors: [InvalidCursor, SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Returns a message of the session. A pending prompt is not a message yet.
    SessionMessageGet = "v2.session.message" => "sessions.message" {
        Get "/api/session/{sessionID}/message/{messageID}",
        params: MessageParams,
        success: value(SessionMessage),
        errors: [SessionNotFound, MessageNotFound],
        middleware: [Authorization, Session],
    }

    /// Lists the messages since the last compaction, oldest first.
    SessionContext = "v2.session.context" => "sessions.context" {
        Get "/api/session/{sessionID}/context",
        params: SessionParams,
        success: value(Vec<SessionMessage>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Lists durable events after a sequence, in order.
    ///
    /// If `hasMore` is true, the next call continues after the `durable.seq` of the last event.
    SessionHistoryGet = "v2.session.history" => "sessions.history" {
        Get "/api/session/{sessionID}/history",
        params: SessionParams,
        query: HistoryQuery,
        success: whole(SessionHistory),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Streams the durable events after a sequence, in order and without gaps, then each new event.
    ///
    /// The stream does not end by itself. To continue after a broken connection, start after the `durable.seq` of the last
    /// received event.
    SessionEvents = "v2.session.events" => "sessions.events" {
        Get "/api/session/{sessionID}/event",
        params: SessionParams,
        query: EventsQuery,
        success: stream(SessionDurableEvent, ends: false),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }
}
