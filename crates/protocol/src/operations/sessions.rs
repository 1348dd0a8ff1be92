//! Sessions: what they are, and what they do.

use opencode_schema::prompt::SessionInputAdmitted;
use opencode_schema::session::SessionInfo;
use opencode_schema::todo::Todo;

use crate::input::{
    MovePayload, PromptPayload, SessionCreatePayload, SessionParams, SessionsQuery,
    SwitchAgentPayload, SwitchModelPayload,
};
use crate::operation::operations;
use crate::output::{ActiveSessions, SessionsResponse};

operations! {
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

    /// The sessions that the session created for the tasks of its agent, oldest first.
    SessionChildren = "v2.session.children" => "sessions.children" {
        Get "/api/session/{sessionID}/children",
        params: SessionParams,
        success: value(Vec<SessionInfo>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// The sessions with a Session Drain, a compaction or a revert under way in this host, by id.
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

    /// Returns the to-do list of a session, in order, as its model last wrote it with the tool `todowrite`.
    SessionTodo = "v2.session.todo" => "sessions.todo" {
        Get "/api/session/{sessionID}/todo",
        params: SessionParams,
        success: value(Vec<Todo>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
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
}
