//! Errors of the session runtime, as data.

use std::sync::Arc;

use opencode_location::config::ConfigurationProblem;
use opencode_location::location::LocationError;
use opencode_pty::TerminalError;
use opencode_schema::id::{MessageID, PermissionID, QuestionID, SessionID};
use opencode_schema::message::{ErrorCause, ErrorKind};
use opencode_snapshots::SnapshotError;
use opencode_store::{Abort, ReplayConflict, StoreError};

/// The reason why an operation was refused. The operation stored nothing.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RuntimeError {
    /// The session does not exist.
    #[error("Session not found: {0}")]
    SessionNotFound(SessionID),
    /// The message does not exist in that session.
    #[error("Message not found: {message_id}")]
    MessageNotFound {
        /// The session.
        session_id: SessionID,
        /// The message.
        message_id: MessageID,
    },
    /// The part does not exist in that message.
    #[error("The message {message_id} has no part {part_id:?}; give the id of one of its parts")]
    PartNotFound {
        /// The message.
        message_id: MessageID,
        /// The part.
        part_id: String,
    },
    /// The files of a revert are not available.
    #[error("the files cannot be reverted: {0}")]
    Snapshot(Arc<SnapshotError>),
    /// The id belongs to a different input, or to another message.
    #[error("Prompt message ID conflicts with an existing durable record: {0}")]
    PromptConflict(MessageID),
    /// No input with this id waits in the inbox of that session: it never waited there, or it was withdrawn.
    #[error("No input {message_id} waits in the inbox of the session {session_id}")]
    InputNotFound {
        /// The session.
        session_id: SessionID,
        /// The input.
        message_id: MessageID,
    },
    /// The input has become a visible message and cannot be withdrawn.
    #[error("The input {0} is promoted already; interrupt the session, or prompt it again")]
    InputPromoted(MessageID),
    /// The inbox has reached its maximum number of waiting inputs.
    #[error(
        "{pending} inputs wait in the inbox of the session {session_id}, and {limit} may; try again once the session has taken some"
    )]
    Backlog {
        /// The session.
        session_id: SessionID,
        /// Number of inputs that wait.
        pending: u64,
        /// Maximum number of inputs that may wait.
        limit: u64,
    },
    /// The prompt is too large for the event that carries it to clients.
    #[error(
        "The prompt has {bytes} bytes as JSON, and at most {limit} are accepted; attach large files by their path"
    )]
    PromptTooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        limit: usize,
    },
    /// No command of this name exists in the Location of the session.
    #[error(
        "Command not found: {name}{}",
        meant.as_ref().map_or(". List the commands with commands.list".to_owned(), |meant| format!(". Did you mean {meant}?"))
    )]
    CommandNotFound {
        /// The requested name.
        name: String,
        /// An existing command with a similar name.
        meant: Option<String>,
    },
    /// A setting of the prompt is out of its limits.
    #[error("{message}")]
    InvalidSettings {
        /// The field of the request that is wrong.
        field: &'static str,
        /// The problem.
        message: String,
    },
    /// The session has neither history nor pending input to run with.
    #[error("The session {0} has no history and no pending input to run with; prompt it first")]
    NothingToRun(SessionID),
    /// The name is too long for the events that carry it.
    #[error(
        "A name of {bytes} bytes is longer than any agent or model has; at most {limit} are accepted"
    )]
    NameTooLong {
        /// The kind of name: `agent` or `model`.
        field: &'static str,
        /// Its length in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// A field of the request has a value that cannot be used.
    #[error("{message}")]
    InvalidField {
        /// The field.
        field: &'static str,
        /// The problem, and the solution.
        message: String,
    },
    /// No permission request with this id waits in that session: it never waited there, or it has ended.
    #[error("Permission request not found: {0}")]
    PermissionNotFound(PermissionID),
    /// A permission request with this id already waits.
    #[error("A permission request with the ID {0} is waiting already; give another ID, or none")]
    PermissionConflict(PermissionID),
    /// No questions with this id wait in that session: they never waited there, or they have ended.
    #[error("Question request not found: {0}")]
    QuestionNotFound(QuestionID),
    /// The text of a caller is too large for the event that carries it to clients.
    #[error("The request has {bytes} bytes as JSON, and at most {limit} are accepted")]
    RequestTooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The maximum size in bytes.
        limit: usize,
    },
    /// A Session Drain works on the session, but the operation needs an idle session.
    #[error("The session {0} is running; wait for it, or interrupt it, and try again")]
    SessionBusy(SessionID),
    /// The destination is in another project. A session moves only within its project.
    #[error(
        "The directory {directory} belongs to the project {found}, and the session to {project}; a session moves only within its project"
    )]
    OtherProject {
        /// The destination, in normal form.
        directory: String,
        /// The project of that directory.
        found: String,
        /// The session's project.
        project: String,
    },
    /// A session cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A choice of the session comes from an import, and no caller has confirmed it.
    #[error("{message}")]
    Unconfirmed {
        /// The session.
        session_id: SessionID,
        /// The choice, and the way to confirm it.
        message: String,
    },
    /// The newest prompt of the session came with an import.
    #[error(
        "The newest prompt of the session {0} came with an import, and an import starts no work; send a prompt instead"
    )]
    ImportedPrompt(SessionID),
    /// The id contains characters that no new record may have in its id.
    #[error("The id {0:?} holds a slash or a control character; choose another one")]
    UnfitId(String),
    /// The Location cannot be used.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// The description of an MCP server is wrong.
    #[error("{} {}", .0.path, .0.message)]
    InvalidServer(ConfigurationProblem),
    /// An operation on a terminal was refused.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// An integration, an attempt to connect or a credential cannot be used in this way.
    #[error("{message}")]
    Integration {
        /// The field of the request that is wrong.
        field: &'static str,
        /// The problem.
        message: String,
    },
    /// Something that the operation needs is not available now.
    #[error("{message}")]
    Unavailable {
        /// The operation, or a part of it.
        service: &'static str,
        /// The missing item.
        message: String,
    },
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug in this runtime ended the work.
    #[error("a bug in opencode-embedded ended the operation")]
    Panicked,
    /// The host is closing.
    #[error("the host is closed")]
    Closed,
}

impl From<Abort<Self>> for RuntimeError {
    fn from(abort: Abort<Self>) -> Self {
        match abort {
            Abort::Refused(error) => error,
            Abort::Failed(error) => error.into(),
        }
    }
}

/// A task of the runtime did not complete: it panicked, or the async runtime that ran it has shut down.
impl From<tokio::task::JoinError> for RuntimeError {
    fn from(error: tokio::task::JoinError) -> Self {
        if error.is_panic() {
            return Self::Panicked;
        }
        Self::Closed
    }
}

impl From<SnapshotError> for RuntimeError {
    fn from(error: SnapshotError) -> Self {
        Self::Snapshot(Arc::new(error))
    }
}

/// Refuses a new id that paths and logs cannot carry. Existing records keep their ids.
pub(crate) fn check_new_id(id: &str) -> Result<(), RuntimeError> {
    if id.contains(|c: char| c == '/' || c.is_control()) {
        return Err(RuntimeError::UnfitId(id.to_owned()));
    }
    Ok(())
}

/// The reason why a Session Drain ended before it completed its work.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DrainError {
    /// The session was deleted.
    #[error("the session {0} does not exist any more")]
    SessionGone(SessionID),
    /// Its Location cannot be opened.
    #[error("the Location of the session cannot be opened: {0}")]
    Location(LocationError),
    /// A choice of the session comes from an import, and no caller has confirmed it.
    #[error("{0}")]
    Unconfirmed(String),
    /// Its agent is not available.
    #[error("{0}")]
    Agent(String),
    /// Its model cannot be resolved.
    #[error("{0}")]
    Model(String),
    /// Its System Context cannot be observed.
    #[error("{0}")]
    Context(String),
    /// The provider failed; the failure is recorded in the step.
    #[error("{message}")]
    Provider {
        /// The failure.
        message: String,
        /// The kind of failure.
        cause: Option<ErrorCause>,
    },
    /// The session made too many Provider Turns without new input.
    #[error(
        "the session {session_id} made {limit} Provider Turns since its last input; prompt it again to go on"
    )]
    StepLimit {
        /// The session.
        session_id: SessionID,
        /// The maximum number of Provider Turns.
        limit: u32,
    },
    /// A budget is used up. The log records the pause.
    #[error("{0}")]
    Budget(String),
    /// Callers moved the session, or switched its agent or model, on each attempt to prepare its turn.
    #[error(
        "the Location, agent or model of the session {session_id} changed {times} times while its Provider Turn was prepared, and nothing was sent; resume the session once it does not change any more"
    )]
    Outdated {
        /// The session.
        session_id: SessionID,
        /// Number of attempts.
        times: u32,
    },
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug in this runtime.
    #[error("internal failure: {0}")]
    Internal(String),
}

impl From<Abort<Self>> for DrainError {
    fn from(abort: Abort<Self>) -> Self {
        match abort {
            Abort::Refused(error) => error,
            Abort::Failed(error) => error.into(),
        }
    }
}

impl From<RuntimeError> for DrainError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::SessionNotFound(id) => Self::SessionGone(id),
            RuntimeError::Location(error) => Self::Location(error),
            RuntimeError::Store(error) => Self::Store(error),
            RuntimeError::Unconfirmed { message, .. } => Self::Unconfirmed(message),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl DrainError {
    /// Returns a stable name for log fields.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::SessionGone(_) => "SessionGone",
            Self::Location(_) => "LocationUnavailable",
            Self::Unconfirmed(_) => "Unconfirmed",
            Self::Agent(_) => "AgentUnavailable",
            Self::Model(_) => "ModelUnavailable",
            Self::Context(_) => "ContextUnavailable",
            Self::Provider { .. } => "ProviderFailed",
            Self::StepLimit { .. } => "StepLimitExceeded",
            Self::Budget(_) => "BudgetUsedUp",
            Self::Outdated { .. } => "TurnOutdated",
            Self::Store(_) => "StoreFailed",
            Self::Internal(_) => "Internal",
        }
    }

    /// Returns the cause that connected clients receive. `None` for a removed session, whose removal is announced.
    pub(crate) fn announced(&self) -> Option<ErrorCause> {
        let kind = match self {
            Self::SessionGone(_) => return None,
            Self::Provider {
                cause: Some(cause), ..
            } => return Some(cause.clone()),
            Self::StepLimit { .. } => ErrorKind::StepLimit,
            Self::Budget(_) => ErrorKind::Budget,
            Self::Unconfirmed(_) | Self::Agent(_) | Self::Model(_) => ErrorKind::InvalidRequest,
            _ => ErrorKind::Unknown,
        };
        Some(ErrorCause {
            kind,
            status: None,
            retryable: false,
            retry_after_ms: None,
            provider_id: None,
        })
    }
}

/// Bytes of one line at most: as much as clients accept as one event.
pub const MAX_IMPORT_LINE_BYTES: usize = 256 * 1024 * 1024;

/// Bytes that all imports under way in one host may hold. A session is applied as a whole, so all
/// of its lines are held until the last one has come.
pub(crate) const MAX_HELD_BYTES: usize = 1024 * 1024 * 1024;

/// The reason that a session was not imported. Nothing of it was stored. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// A line does not have the form of the format.
    #[error("line {line}: {reason}")]
    Unreadable {
        /// The line.
        line: u64,
        /// The problem.
        reason: String,
    },
    /// A document is not a session of the older form.
    #[error("the document is not a session: {0}")]
    Document(String),
    /// A line is longer than any entry.
    #[error("line {line} is longer than {MAX_IMPORT_LINE_BYTES} bytes")]
    LineTooLong {
        /// The line.
        line: u64,
    },
    /// The session is larger than the limit of a host.
    #[error(
        "the imports under way are larger than {MAX_HELD_BYTES} bytes; import fewer sessions at a time"
    )]
    TooLarge,
    /// The lines stopped before their end.
    #[error("the lines broke off after line {line}: {reason}")]
    BrokenOff {
        /// The last line that came.
        line: u64,
        /// Why.
        reason: String,
    },
    /// A line contradicts the stored data.
    #[error("line {line}: {conflict}")]
    Conflict {
        /// The line.
        line: u64,
        /// The contradiction.
        conflict: ReplayConflict,
    },
}
