//! How a call ended.

use opencode_location::secret::Redactor;
use opencode_schema::{
    Record,
    message::{ErrorKind, ToolContent},
};
use serde_json::Value;

use crate::contract::tool::ToolOutput;
use crate::failure::ToolFailure;

/// What the model is told of a call that did not get to its end.
pub const INTERRUPTED: &str = "Tool execution interrupted";

/// The one outcome of one call, already bounded.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// The call succeeded.
    Success {
        /// The value programs read, whole.
        structured: Record,
        /// What the model reads, bounded; empty means the structured value.
        content: Vec<ToolContent>,
        /// Files that hold what was cut, and files the tool keeps itself.
        output_paths: Vec<String>,
        /// Directories below the Location in which the call read a file, relative to it with `/`
        /// between the names.
        explored: Vec<String>,
    },
    /// The call failed and the turn goes on.
    Failed {
        /// What the model is told, bounded.
        message: String,
        /// What kind of failure this is for programs.
        kind: ErrorKind,
    },
    /// A person declined: the turn's other calls are to be interrupted and the Session Drain ends.
    /// The model is told [`INTERRUPTED`].
    Declined,
    /// The call was interrupted. The model is told [`INTERRUPTED`].
    Interrupted,
}

impl Settlement {
    /// Removes secrets from what programs and the model are told.
    pub(crate) fn clean(&mut self, secrets: &Redactor) {
        match self {
            Self::Success {
                structured,
                content,
                ..
            } => {
                secrets.clean_members(structured);
                for part in content {
                    if let ToolContent::Text { text } = part {
                        secrets.clean(text);
                    }
                }
            }
            Self::Failed { message, .. } => secrets.clean(message),
            Self::Declined | Self::Interrupted => {}
        }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        ToolFailure::new(message).into()
    }
}

impl From<ToolOutput> for Settlement {
    fn from(output: ToolOutput) -> Self {
        let structured = match output.structured {
            Value::Object(record) => record,
            value => Record::from_iter([("value".to_owned(), value)]),
        };
        Self::Success {
            structured,
            content: output.content,
            output_paths: output.output_paths,
            explored: output.explored,
        }
    }
}

impl From<ToolFailure> for Settlement {
    fn from(failure: ToolFailure) -> Self {
        match failure {
            ToolFailure::Failed { message, kind } => Self::Failed { message, kind },
            ToolFailure::Declined => Self::Declined,
            ToolFailure::Interrupted => Self::Interrupted,
        }
    }
}
