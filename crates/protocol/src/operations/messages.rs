//! The messages and events of a session.

use opencode_schema::message::SessionMessage;

use crate::event::SessionDurableEvent;
use crate::input::{EventsQuery, HistoryQuery, MessageParams, MessagesQuery, SessionParams};
use crate::operation::operations;
use crate::output::{MessagesResponse, SessionHistory};

operations! {
    /// Lists every message of the session, newest first unless told otherwise.
    SessionMessages = "v2.session.messages" => "sessions.messages" {
        Get "/api/session/{sessionID}/message",
        params: SessionParams,
        query: MessagesQuery,
        success: page(MessagesResponse),
        errors: [InvalidCursor, SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// One message of the session. A prompt that is not promoted yet is none.
    SessionMessageGet = "v2.session.message" => "sessions.message" {
        Get "/api/session/{sessionID}/message/{messageID}",
        params: MessageParams,
        success: value(SessionMessage),
        errors: [SessionNotFound, MessageNotFound],
        middleware: [Authorization, Session],
    }

    /// The messages since the last compaction, oldest first.
    SessionContext = "v2.session.context" => "sessions.context" {
        Get "/api/session/{sessionID}/context",
        params: SessionParams,
        success: value(Vec<SessionMessage>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Durable events after a sequence, in order.
    ///
    /// When `hasMore`, the next call continues after the `durable.seq` of the last event.
    SessionHistoryGet = "v2.session.history" => "sessions.history" {
        Get "/api/session/{sessionID}/history",
        params: SessionParams,
        query: HistoryQuery,
        success: whole(SessionHistory),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Durable events after a sequence, in order and without gaps, then every one that follows.
    ///
    /// It never ends by itself. To go on after a break, start after the `durable.seq` of the last
    /// event that arrived.
    SessionEvents = "v2.session.events" => "sessions.events" {
        Get "/api/session/{sessionID}/event",
        params: SessionParams,
        query: EventsQuery,
        success: stream(SessionDurableEvent, ends: false),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }
}
