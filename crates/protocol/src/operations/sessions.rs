//! Sessions and their work.

use opencode_schema::prompt::SessionInputAdmitted;
use opencode_schema::session::SessionInfo;
use opencode_schema::todo::Todo;

use crate::input::{
    CommandPayload, MovePayload, PromptPayload, SessionCreatePayload, SessionForkPayload,
    SessionParams, SessionRemoveQuery, SessionUpdatePayload, SessionsQuery, SwitchAgentPayload,
    SwitchModelPayload,
};
use crate::operation::operations;
use crate::output::{ActiveSessions, SessionsResponse};

operations! {
    /// Creates a session.
    ///
    /// If the id exists already, the result is the existing session, and the other fields have no effect.
    SessionCreate = "v2.session.create" => "sessions.create" {
        Post "/api/session",
        payload: SessionCreatePayload,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization],
    }

    /// Lists sessions by the time of their creation, by default newest first.
    SessionList = "v2.session.list" => "sessions.list" {
        Get "/api/session",
        query: SessionsQuery,
        success: page(SessionsResponse),
        errors: [InvalidCursor],
        middleware: [Authorization],
    }

    /// Returns a session.
    SessionGet = "v2.session.get" => "sessions.get" {
        Get "/api/session/{sessionID}",
        params: SessionParams,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Changes the title, the archive or the permission rules of a session, also while it works.
    ///
    /// New permission rules apply from the next decision on. A call that changes nothing records nothing.
    SessionUpdate = "v2.session.update" => "sessions.update" {
        Patch "/api/session/{sessionID}",
        params: SessionParams,
        payload: SessionUpdatePayload,
        success: value(SessionInfo),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Removes a session and all its descendants: messages, prompts, events, to-do lists and Managed Tool Output Files.
    ///
    /// Nothing is removed if one of them works, unless `interrupt` is true. Returns when no read finds them any more; the
    /// host deletes their data right afterwards. The live event `session.deleted` announces each removed session. Its
    /// durable streams end. The id may be used again.
    SessionRemove = "v2.session.remove" => "sessions.remove" {
        Delete "/api/session/{sessionID}",
        params: SessionParams,
        query: SessionRemoveQuery,
        success: void,
        errors: [SessionNotFound, SessionBusy],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Copies a session into a new session with the messages before a boundary. The source is its parent.
    ///
    /// The fork has the Location, the permission rules, the agent and the model of the source at the boundary, and costs of
    /// zero. Files and waiting prompts are not copied. Its first request begins with the bytes of the last request of the
    /// source before the boundary, so the prompt cache of the provider serves it. A session that works cannot be forked.
    SessionFork = "v2.session.fork" => "sessions.fork" {
        Post "/api/session/{sessionID}/fork",
        params: SessionParams,
        payload: SessionForkPayload,
        success: value(SessionInfo),
        errors: [SessionNotFound, MessageNotFound, SessionBusy],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Lists the child sessions of a session, oldest first: those of the tasks of its agent, and its forks.
    SessionChildren = "v2.session.children" => "sessions.children" {
        Get "/api/session/{sessionID}/children",
        params: SessionParams,
        success: value(Vec<SessionInfo>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Returns the sessions with a running Session Drain, compaction or revert in this host, by id.
    SessionActive = "v2.session.active" => "sessions.active" {
        Get "/api/session/active",
        success: value(ActiveSessions),
        errors: [],
        middleware: [Authorization],
    }

    /// Admits a prompt and, by default, wakes the session.
    ///
    /// Returns when the prompt is durable, which is before its answer. A repeated call with the same prompt and id returns
    /// the first receipt.
    SessionPrompt = "v2.session.prompt" => "sessions.prompt" {
        Post "/api/session/{sessionID}/prompt",
        params: SessionParams,
        payload: PromptPayload,
        success: value(SessionInputAdmitted),
        errors: [SessionNotFound, Conflict, SessionBacklog],
        middleware: [Authorization, Session],
    }

    /// Runs a command: admits the prompt that its template, or a prompt of an MCP server, makes from the arguments.
    ///
    /// Returns when the prompt is durable, which is before its answer. The shell commands of a template run first; each
    /// asks for the permission `bash`. A repeated call with the same id, command and arguments returns the first receipt
    /// and runs nothing.
    CommandRun = "v2.session.command" => "commands.run" {
        Post "/api/session/{sessionID}/command",
        params: SessionParams,
        payload: CommandPayload,
        success: value(SessionInputAdmitted),
        errors: [SessionNotFound, CommandNotFound, Conflict, SessionBacklog],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Stops the current work of the session. Pending prompts stay pending.
    ///
    /// Returns when everything has settled. It has no effect on an idle session.
    SessionInterrupt = "v2.session.interrupt" => "sessions.interrupt" {
        Post "/api/session/{sessionID}/interrupt",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Waits until this host has no more work for the session. The result does not contain the outcome.
    SessionWait = "v2.session.wait" => "sessions.wait" {
        Post "/api/session/{sessionID}/wait",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Replaces the older part of the Session History by a summary in later requests to the model.
    ///
    /// Waits for the current work of the session, and returns when the summary is stored.
    SessionCompact = "v2.session.compact" => "sessions.compact" {
        Post "/api/session/{sessionID}/compact",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Returns the todo list that the model of the session wrote last with the tool `todowrite`.
    SessionTodo = "v2.session.todo" => "sessions.todo" {
        Get "/api/session/{sessionID}/todo",
        params: SessionParams,
        success: value(Vec<Todo>),
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Selects the agent for the next and later Provider Turns.
    SessionSwitchAgent = "v2.session.switchAgent" => "sessions.switchAgent" {
        Post "/api/session/{sessionID}/agent",
        params: SessionParams,
        payload: SwitchAgentPayload,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
    }

    /// Selects the model for the next and later Provider Turns.
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
    /// A running Provider Turn settles in the old directory. The next one has the System Context of the new directory. Files
    /// do not move, and pending prompts stay pending.
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
