//! The outcomes of a call.

use opencode_location::config::ImageLimits;
use opencode_location::secret::Redactor;
use opencode_schema::{
    Record,
    message::{ErrorKind, ToolContent},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::contract::tool::ToolOutput;
use crate::failure::ToolFailure;
use crate::media::{CheckedFile, check_file};

/// Message to the model about a call that was interrupted.
pub const INTERRUPTED: &str = "Tool execution interrupted";

/// The outcome of one call, already limited in size.
#[derive(Clone, Debug, PartialEq)]
pub enum Settlement {
    /// The call succeeded.
    Success {
        /// The complete value for programs.
        structured: Record,
        /// The content for the model, limited in size. If it is empty, the model gets the structured
        /// value.
        content: Vec<ToolContent>,
        /// Files with the complete text of cut content, and files that the tool stores itself.
        output_paths: Vec<String>,
        /// Directories below the Location in which the call read a file, relative to the Location, with
        /// `/` between the names.
        explored: Vec<String>,
    },
    /// The call failed and the turn continues.
    Failed {
        /// The message for the model, limited in size.
        message: String,
        /// The kind of failure, for programs.
        kind: ErrorKind,
    },
    /// The user declined: the turn's other calls must be interrupted, and the Session Drain ends. The
    /// model gets [`INTERRUPTED`].
    Declined,
    /// The call was interrupted. The model gets [`INTERRUPTED`].
    Interrupted,
}

impl Settlement {
    /// Checks the files for the model. A file that no provider would accept becomes one line of text, because the result
    /// is a part of every later request.
    pub(crate) async fn check_files(&mut self, limits: ImageLimits, cancel: &CancellationToken) {
        let Self::Success { content, .. } = self else {
            return;
        };
        for part in content {
            let ToolContent::File { uri, mime, name } = part else {
                continue;
            };
            match check_file(uri, mime, limits, cancel.clone()).await {
                CheckedFile::Unchanged => {}
                CheckedFile::Replaced {
                    uri: to,
                    mime: kind,
                } => {
                    *uri = to;
                    *mime = kind.to_owned();
                }
                CheckedFile::Refused(error) => {
                    let named = name.as_ref().map(|name| format!("{name:?} "));
                    let named = named.unwrap_or_default();
                    let text = format!("[The file {named}({mime:?}) is not shown: {error}.]");
                    *part = ToolContent::Text { text };
                }
            }
        }
    }

    /// Removes secrets from the results for programs and the model.
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
