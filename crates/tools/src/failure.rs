//! Failures of tool calls.

use opencode_schema::message::ErrorKind;

/// The failure of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolFailure {
    /// The call failed, and the turn continues.
    Failed {
        /// The text for the model.
        message: String,
        /// The kind of the failure, for programs.
        kind: ErrorKind,
    },
    /// The user declined a permission or a question without feedback, which ends the turn.
    Declined,
    /// The call was interrupted.
    Interrupted,
}

impl ToolFailure {
    /// Returns an ordinary failure with this message for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            kind: ErrorKind::Tool,
        }
    }
}
