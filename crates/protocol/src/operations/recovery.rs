//! Sessions whose activity was cut, and sessions that go from one host to another.

use crate::input::SessionParams;
use crate::operation::operations;
use crate::output::{ImportedSession, InterruptedSession};

operations! {
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
}
