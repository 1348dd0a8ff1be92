//! What can go wrong in the session runtime, as data.

use opencode_location::location::LocationError;
use opencode_schema::id::{MessageID, SessionID};
use opencode_schema::message::{ErrorCause, ErrorKind};
use opencode_store::StoreError;

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
    /// The id is taken by a different input, or by another message.
    #[error("Prompt message ID conflicts with an existing durable record: {0}")]
    PromptConflict(MessageID),
    /// A caller's id that no new record may have.
    #[error("The id {0:?} holds a slash or a control character; choose another one")]
    UnfitId(String),
    /// The Location cannot be used.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The host is closing.
    #[error("the host is closed")]
    Closed,
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
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bug of ours.
    #[error("internal failure: {0}")]
    Internal(String),
}

impl DrainError {
    /// A stable name for log fields.
    pub fn tag(&self) -> &'static str {
        match self {
            Self::SessionGone(_) => "SessionGone",
            Self::Location(_) => "LocationUnavailable",
            Self::Model(_) => "ModelUnavailable",
            Self::Context(_) => "ContextUnavailable",
            Self::Provider { .. } => "ProviderFailed",
            Self::StepLimit { .. } => "StepLimitExceeded",
            Self::Store(_) => "StoreFailed",
            Self::Internal(_) => "Internal",
        }
    }

    /// What connected clients are told; nothing when the step says it durably.
    pub(crate) fn announced(&self) -> Option<ErrorCause> {
        let kind = match self {
            Self::Provider { .. } => return None,
            Self::StepLimit { .. } => ErrorKind::StepLimit,
            Self::Model(_) => ErrorKind::InvalidRequest,
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
