//! How a tool asks before it acts. Who answers, and by which rules, is not known here.

use futures::future::BoxFuture;
use opencode_schema::{
    Record,
    id::{MessageID, SessionID},
    message::ErrorKind,
};

use crate::failure::ToolFailure;

/// Decides what calls may do.
pub trait Permissions: Send + Sync + 'static {
    /// Returns once the request is allowed; waits for a person without a time limit if need be.
    /// Dropping the future withdraws the request.
    fn assert(&self, request: PermissionRequest) -> BoxFuture<'_, Result<(), PermissionError>>;
}

/// One question: may this call do `action` to all of `resources`?
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionRequest {
    /// The session of the call.
    pub session_id: SessionID,
    /// The agent whose rules apply.
    pub agent: String,
    /// The call that asks.
    pub source: PermissionSource,
    /// The action, for example `read`.
    pub action: String,
    /// What the action would touch. Nothing at all is always allowed.
    pub resources: Vec<String>,
    /// The patterns that "always" would store for the project.
    pub save: Vec<String>,
    /// More for the person who decides.
    pub metadata: Record,
}

/// Where in the session a request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionSource {
    /// The assistant message of the call.
    pub message_id: MessageID,
    /// The call within that message.
    pub call_id: String,
}

/// Why a request was not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PermissionError {
    /// A rule denies it, or nobody is there to decide.
    #[error("a rule denies this, or nobody is there to decide")]
    Blocked,
    /// A person refused and said why; the model is told and may try something else.
    #[error("the user refused: {feedback}")]
    Corrected {
        /// The words of the person.
        feedback: String,
    },
    /// A person refused without a word; this ends the turn.
    #[error("the user declined")]
    Declined,
}

impl PermissionError {
    /// The failure of a call that was refused, where `refused` is the tool's generic text.
    #[must_use]
    pub fn into_failure(self, refused: &str) -> ToolFailure {
        let message = match self {
            Self::Blocked => refused.to_owned(),
            Self::Corrected { feedback } => format!("{refused}: {feedback}"),
            Self::Declined => return ToolFailure::Declined,
        };
        ToolFailure::Failed {
            message,
            kind: ErrorKind::Permission,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_carries_the_words_of_the_person() {
        let failed = |message: &str| ToolFailure::Failed {
            message: message.to_owned(),
            kind: ErrorKind::Permission,
        };
        let corrected = PermissionError::Corrected {
            feedback: "use b.txt".to_owned(),
        };
        for (error, expected) in [
            (PermissionError::Blocked, failed("Unable to edit a.txt")),
            (corrected, failed("Unable to edit a.txt: use b.txt")),
            (PermissionError::Declined, ToolFailure::Declined),
        ] {
            assert_eq!(error.into_failure("Unable to edit a.txt"), expected);
        }
    }
}
