//! What can go wrong in the session runtime, as data.

use std::sync::Arc;

use opencode_location::location::LocationError;
use opencode_pty::TerminalError;
use opencode_schema::id::{MessageID, PermissionID, QuestionID, SessionID};
use opencode_schema::message::{ErrorCause, ErrorKind};
use opencode_snapshots::SnapshotError;
use opencode_store::StoreError;

use crate::transfer::ImportError;

/// Why an operation was refused. Nothing of it was stored.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RuntimeError {
    /// No such session.
    #[error("Session not found: {0}")]
    SessionNotFound(SessionID),
    /// No such message in that session.
    #[error("Message not found: {message_id}")]
    MessageNotFound {
        /// The session.
        session_id: SessionID,
        /// The message.
        message_id: MessageID,
    },
    /// No such part in that message.
    #[error("The message {message_id} has no part {part_id:?}; give the id of one of its parts")]
    PartNotFound {
        /// The message.
        message_id: MessageID,
        /// The part.
        part_id: String,
    },
    /// The files of a revert cannot be had.
    #[error("the files cannot be reverted: {0}")]
    Snapshot(Arc<SnapshotError>),
    /// The id is taken by a different input, or by another message.
    #[error("Prompt message ID conflicts with an existing durable record: {0}")]
    PromptConflict(MessageID),
    /// Nothing of that id waits in the inbox of that session: it never did, or it was withdrawn.
    #[error("No input {message_id} waits in the inbox of the session {session_id}")]
    InputNotFound {
        /// The session.
        session_id: SessionID,
        /// The input.
        message_id: MessageID,
    },
    /// The input has become a visible message, which cannot be taken back.
    #[error("The input {0} is promoted already; interrupt the session, or prompt it again")]
    InputPromoted(MessageID),
    /// As many inputs wait as may wait.
    #[error(
        "{pending} inputs wait in the inbox of the session {session_id}, and {limit} may; try again once the session has taken some"
    )]
    Backlog {
        /// The session.
        session_id: SessionID,
        /// Inputs that wait.
        pending: u64,
        /// Inputs that may wait.
        limit: u64,
    },
    /// A prompt that its own event could not carry to a client.
    #[error(
        "The prompt has {bytes} bytes as JSON, and at most {limit} are accepted; attach large files by their path"
    )]
    PromptTooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// A run of a session in which nothing has been said.
    #[error("The session {0} has no history and no pending input to run with; prompt it first")]
    NothingToRun(SessionID),
    /// A name that every event which tells of it would have to carry.
    #[error(
        "A name of {bytes} bytes is longer than any agent or model has; at most {limit} are accepted"
    )]
    NameTooLong {
        /// What is named: `agent` or `model`.
        field: &'static str,
        /// Its length.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// No such permission request waits in that session: it never did, or it has had its end.
    #[error("Permission request not found: {0}")]
    PermissionNotFound(PermissionID),
    /// A permission request of this id waits already.
    #[error("A permission request with the ID {0} is waiting already; give another ID, or none")]
    PermissionConflict(PermissionID),
    /// No such questions wait in that session: they never did, or they have had their end.
    #[error("Question request not found: {0}")]
    QuestionNotFound(QuestionID),
    /// A text of a caller that everybody would have to be told.
    #[error("The request has {bytes} bytes as JSON, and at most {limit} are accepted")]
    RequestTooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// A Session Drain works on the session, which must be idle for what was asked.
    #[error("The session {0} is running; wait for it, or interrupt it, and try again")]
    SessionBusy(SessionID),
    /// A session moves within its project only.
    #[error(
        "The directory {directory} belongs to the project {found}, and the session to {project}; a session moves only within its project"
    )]
    OtherProject {
        /// Where it was to move, in normal form.
        directory: String,
        /// The project of that directory.
        found: String,
        /// The session's project.
        project: String,
    },
    /// A session cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A caller's id that no new record may have.
    #[error("The id {0:?} holds a slash or a control character; choose another one")]
    UnfitId(String),
    /// The Location cannot be used.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// An operation on a terminal was refused.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// Something the operation needs cannot be had now.
    #[error("{message}")]
    Unavailable {
        /// The operation, or the part of it.
        service: &'static str,
        /// What is missing.
        message: String,
    },
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug of ours ended the work.
    #[error("a bug in opencode-embedded ended the operation")]
    Panicked,
    /// The host is closing.
    #[error("the host is closed")]
    Closed,
}

/// A task of ours did not come to its end: it panicked, or the runtime that ran it is gone.
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

/// Refuses a caller's id that paths and logs could not carry. Records that exist keep theirs.
pub(crate) fn check_new_id(id: &str) -> Result<(), RuntimeError> {
    if id.contains(|c: char| c == '/' || c.is_control()) {
        return Err(RuntimeError::UnfitId(id.to_owned()));
    }
    Ok(())
}

/// Why a Session Drain ended before its work did.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DrainError {
    /// The session is gone.
    #[error("the session {0} does not exist any more")]
    SessionGone(SessionID),
    /// Its Location cannot be opened.
    #[error("the Location of the session cannot be opened: {0}")]
    Location(LocationError),
    /// It has no agent.
    #[error("{0}")]
    Agent(String),
    /// Its model cannot be resolved.
    #[error("{0}")]
    Model(String),
    /// Its System Context cannot be observed.
    #[error("{0}")]
    Context(String),
    /// The provider failed, as the step says.
    #[error("{message}")]
    Provider {
        /// What went wrong.
        message: String,
        /// What kind of failure.
        cause: Option<ErrorCause>,
    },
    /// Too many Provider Turns without new input.
    #[error(
        "the session {session_id} made {limit} Provider Turns since its last input; prompt it again to go on"
    )]
    StepLimit {
        /// The session.
        session_id: SessionID,
        /// The allowance.
        limit: u32,
    },
    /// Callers moved the session, or switched its agent or model, each time its turn was prepared.
    #[error(
        "the Location, agent or model of the session {session_id} changed {times} times while its Provider Turn was prepared, and nothing was sent; resume the session once it does not change any more"
    )]
    Outdated {
        /// The session.
        session_id: SessionID,
        /// How often.
        times: u32,
    },
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug of ours.
    #[error("internal failure: {0}")]
    Internal(String),
}

impl From<RuntimeError> for DrainError {
    fn from(error: RuntimeError) -> Self {
        match error {
            RuntimeError::SessionNotFound(id) => Self::SessionGone(id),
            RuntimeError::Location(error) => Self::Location(error),
            RuntimeError::Store(error) => Self::Store(error),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl DrainError {
    /// A stable name for log fields.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::SessionGone(_) => "SessionGone",
            Self::Location(_) => "LocationUnavailable",
            Self::Agent(_) => "AgentUnavailable",
            Self::Model(_) => "ModelUnavailable",
            Self::Context(_) => "ContextUnavailable",
            Self::Provider { .. } => "ProviderFailed",
            Self::StepLimit { .. } => "StepLimitExceeded",
            Self::Outdated { .. } => "TurnOutdated",
            Self::Store(_) => "StoreFailed",
            Self::Internal(_) => "Internal",
        }
    }

    /// What connected clients are told; nothing when the step says it durably.
    pub(crate) fn announced(&self) -> Option<ErrorCause> {
        let kind = match self {
            Self::Provider { .. } => return None,
            Self::StepLimit { .. } => ErrorKind::StepLimit,
            Self::Agent(_) | Self::Model(_) => ErrorKind::InvalidRequest,
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
