//! Failures of tool calls.

use opencode_schema::message::ErrorKind;

/// Why a call gives nothing back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolFailure {
    /// The call failed and the turn goes on.
    Failed {
        /// The text for the model.
        message: String,
        /// The kind of the failure, for programs.
        kind: ErrorKind,
    },
    /// A person declined a permission or a question without a word: the turn ends.
    Declined,
    /// The call noticed that it is interrupted, and did nothing more.
    Interrupted,
}

impl ToolFailure {
    /// An ordinary failure with the text the model is told.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            kind: ErrorKind::Tool,
        }
    }
}
