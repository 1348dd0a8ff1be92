//! Continuing interrupted sessions, and moving sessions between hosts.

use crate::input::{ImportQuery, SessionDocumentPayload, SessionParams};
use crate::operation::operations;
use crate::output::{ImportedDocument, ImportedSession, InterruptedSession};

operations! {
    /// Resumes the session, with or without a pending prompt.
    ///
    /// The host makes at least one Provider Turn. A session that paused because its budget is used up pauses again, unless
    /// `sessions.update` gave it a larger one. A session without history and without a pending prompt is refused. Returns
    /// when a Session Drain runs. `wait` waits for its end.
    SessionResume = "v2.session.resume" => "sessions.resume" {
        Post "/api/session/{sessionID}/resume",
        params: SessionParams,
        success: void,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Lists the sessions whose last activity was interrupted by a crash and does not run in this host.
    SessionInterrupted = "v2.session.interrupted" => "sessions.interrupted" {
        Get "/api/session/interrupted",
        success: value(Vec<InterruptedSession>),
        errors: [],
        middleware: [Authorization],
        extension: true,
    }

    /// Exports the whole record of the session as lines. Each line is one JSON text.
    ///
    /// The first line contains format, version and session. Each other line is an event, in order. The export contains the
    /// events until its beginning. An export that ends without a failure is complete. An interrupted export fails.
    SessionExport = "v2.session.export" => "sessions.export" {
        Get "/api/session/{sessionID}/export",
        params: SessionParams,
        success: lines,
        errors: [SessionNotFound],
        middleware: [Authorization, Session],
        extension: true,
    }

    /// Imports the session of an export under its own id.
    ///
    /// The import skips equal events that exist already, so it can be repeated, and a later export of the same session adds
    /// the new events. It records all lines or none. A line that contradicts the recorded session is a conflict. The
    /// session must not run in this host at the same time.
    ///
    /// An import starts no work: it withdraws waiting prompts, and open calls and steps fail. Its permission rules can only
    /// restrict. The session does not work in a directory, with an agent or with a model that only the import names, until
    /// the options or a later call confirm them; `session.imported.unconfirmed` lists them.
    SessionImport = "v2.session.import" => "sessions.import" {
        Post "/api/session/import",
        query: ImportQuery,
        payload: lines,
        success: value(ImportedSession),
        errors: [Conflict, SessionBusy],
        middleware: [Authorization],
        extension: true,
    }

    /// Imports a session in the older form: the document that `opencode export` prints.
    ///
    /// The session keeps its id and the ids of its messages. The result lists each value that was not carried over.
    /// Equal documents give equal events, so the import can be repeated. A document that differs from the imported one is a
    /// conflict. An import records the whole document or nothing. The rest is as for `sessions.import`.
    SessionImportDocument = "v2.session.importDocument" => "sessions.importDocument" {
        Post "/api/session/import/document",
        payload: SessionDocumentPayload,
        success: value(ImportedDocument),
        errors: [Conflict, SessionBusy],
        middleware: [Authorization],
        extension: true,
    }
}
