//! The operations. One entry is all there is to say about one of them.

use opencode_schema::location::LocationInfo;
use opencode_schema::message::SessionMessage;
use opencode_schema::prompt::SessionInputAdmitted;
use opencode_schema::session::SessionInfo;

use crate::event::{OpenCodeEvent, SessionDurableEvent};
use crate::failure::Tag;
use crate::input::{
    EventsQuery, HistoryQuery, InputParams, LocationSelection, MessageParams, MessagesQuery,
    MovePayload, Nothing, PromptPayload, SessionCreatePayload, SessionParams, SessionsQuery,
    SetDeliveryPayload, SwitchAgentPayload, SwitchModelPayload,
};
use crate::operation::{
    Method, Middleware, Operation, Payload, Spec, Success, operations, schema_of,
};
use crate::output::{
    ActiveSessions, Data, Health, ImportedSession, InterruptedSession, MessagesResponse,
    SessionHistory, SessionsResponse,
};

operations! {
    /// Says that the host is there.
    HealthGet = "v2.health.get" => "health.get" {
        Get "/api/health",
        success: whole(Health),
        errors: [],
        middleware: [Authorization],
    }

    /// Says which Location a request selects, and which project is around it.
    LocationGet = "v2.location.get" => "location.get" {
        Get "/api/location",
        query: LocationSelection,
        success: whole(LocationInfo),
        errors: [],
        middleware: [Authorization, Location],
    }

    /// Creates a session.
    ///
    /// An id that exists already gives back that session as it is, whatever else the input says.
    SessionCreate = "v2.session.create" => "sessions.create" {
        Post "/api/session",
        payload: SessionCreatePayload,
        success: value(SessionInfo),
        errors: [],
        middleware: [Authorization],
    }

    /// Lists sessions by the time of their creation, newest first unless told otherwise.
    SessionList = "v2.session.list" => "sessions.list" {
        Get "/api/session",
        query: SessionsQuery,
        success: page(SessionsResponse),
        errors: [InvalidCursor],
        middleware: [Authorization],
    }

    /// One session.
    SessionGet = "v2.session.get" => "sessions.get" {
        Get "/api/session/{sessionID}",
        params: SessionParams,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// The sessions with a Session Drain under way in this host, by id.
    SessionActive = "v2.session.active" => "sessions.active" {
        Get "/api/session/active",
        success: value(ActiveSessions),
        errors: [],
        middleware: [Authorization],
    }

    /// Admits a prompt and, unless told otherwise, wakes the session.
    ///
    /// It returns once the prompt is durably recorded, which is before it is answered. The same
    /// prompt with the same id may be sent again and gives the first receipt.
    SessionPrompt = "v2.session.prompt" => "sessions.prompt" {
        Post "/api/session/{sessionID}/prompt",
        params: SessionParams,
        payload: PromptPayload,
        success: value(SessionInputAdmitted),
        errors: [SessionNotFound, Conflict, SessionBacklog],
        middleware: [Authorization, Session],
    }

    /// Stops what the session does now. Pending prompts stay pending.
    ///
    /// It returns once everything has settled; an idle session is left as it is.
    SessionInterrupt = "v2.session.interrupt" => "sessions.interrupt" {
        Post "/api/session/{sessionID}/interrupt",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Waits until this host does nothing more for the session. It does not say how that ended.
    SessionWait = "v2.session.wait" => "sessions.wait" {
        Post "/api/session/{sessionID}/wait",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Replaces the older part of the Session History by a summary, in later requests to the model.
    ///
    /// It waits for what the session does now, and returns when the summary stands.
    SessionCompact = "v2.session.compact" => "sessions.compact" {
        Post "/api/session/{sessionID}/compact",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Chooses the agent from the next Provider Turn on.
    SessionSwitchAgent = "v2.session.switchAgent" => "sessions.switchAgent" {
        Post "/api/session/{sessionID}/agent",
        params: SessionParams,
        payload: SwitchAgentPayload,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Chooses the model from the next Provider Turn on.
    SessionSwitchModel = "v2.session.switchModel" => "sessions.switchModel" {
        Post "/api/session/{sessionID}/model",
        params: SessionParams,
        payload: SwitchModelPayload,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

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

    /// The prompts that wait to be promoted, in the order of their admission.
    SessionInboxList = "v2.session.inbox.list" => "sessions.inbox.list" {
        Get "/api/session/{sessionID}/inbox",
        params: SessionParams,
        success: value(Vec<SessionInputAdmitted>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Takes back a prompt that waits: it is never promoted. Its id stays used, so that prompting with
    /// it again is a conflict.
    ///
    /// A prompt that is promoted already cannot be taken back, which is a conflict as well.
    SessionInboxWithdraw = "v2.session.inbox.withdraw" => "sessions.inbox.withdraw" {
        Delete "/api/session/{sessionID}/inbox/{messageID}",
        params: InputParams,
        success: void,
        errors: [SessionNotFound, InputNotFound, Conflict],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Changes how a prompt that waits enters the session, and wakes the session.
    ///
    /// A prompt that is promoted already is a conflict.
    SessionInboxSetDelivery = "v2.session.inbox.setDelivery" => "sessions.inbox.setDelivery" {
        Put "/api/session/{sessionID}/inbox/{messageID}",
        params: InputParams,
        payload: SetDeliveryPayload,
        success: value(SessionInputAdmitted),
        errors: [SessionNotFound, InputNotFound, Conflict],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Takes the session up again, whether or not a prompt waits.
    ///
    /// At least one Provider Turn is made, unless nothing has ever been said in the session. It returns
    /// once the Session Drain is under way, or has been joined; `wait` waits for its end.
    SessionResume = "v2.session.resume" => "sessions.resume" {
        Post "/api/session/{sessionID}/resume",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// The sessions whose last activity was cut and is not under way in this host.
    SessionInterrupted = "v2.session.interrupted" => "sessions.interrupted" {
        Get "/api/session/interrupted",
        success: value(Vec<InterruptedSession>),
        errors: [],
        middleware: [Authorization],
        extension: true,
    }

    /// Moves the session to another directory of its project, which need not exist yet.
    ///
    /// A Provider Turn that is under way settles where it began; the next one has the System Context
    /// of the new place. Files are left alone, and what is pending stays pending.
    SessionMove = "v2.session.move" => "sessions.move" {
        Post "/api/session/{sessionID}/move",
        params: SessionParams,
        payload: MovePayload,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Everything that is recorded of the session, line by line, each line one JSON text.
    ///
    /// The first line says what follows: format, version and session; every other one is an event, in
    /// order. What happens after the beginning of the export is not part of it. An export that ends
    /// without a failure is complete: one that is cut fails.
    SessionExport = "v2.session.export" => "sessions.export" {
        Get "/api/session/{sessionID}/export",
        params: SessionParams,
        success: lines,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Records the session of an export here, under its own id.
    ///
    /// Events that are here already, exactly so, are skipped: an import may be repeated, and a later
    /// export of the same session adds what is new. All lines are recorded or none; what contradicts
    /// the recorded session is a conflict. Nothing runs because of it, and the session must not run
    /// here meanwhile.
    SessionImport = "v2.session.import" => "sessions.import" {
        Post "/api/session/import",
        payload: lines,
        success: value(ImportedSession),
        errors: [Conflict, SessionBusy],
        middleware: [Authorization],
        extension: true,
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
