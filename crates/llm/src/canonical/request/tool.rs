//! Tools from the view of the model.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::input_schema::InputSchema;

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// The name.
    pub name: String,
    /// The purpose, written for the model.
    pub description: String,
    /// JSON Schema of the input.
    pub input_schema: InputSchema,
}

/// The choice of the tool that the model must use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call any tool.
    Required,
    /// The model must call this tool.
    Tool(String),
}

/// The result of a tool call, in the form that the model reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "lowercase")]
pub enum ToolResultValue {
    /// Text.
    Text(String),
    /// A JSON value.
    Json(Value),
    /// A failure: text, or a value that describes it.
    Error(Value),
    /// Text and files.
    Content(Vec<ToolContent>),
}

impl ToolResultValue {
    /// Returns the result as text, or its pieces if it consists of pieces.
    pub fn as_text(&self) -> Result<Cow<'_, str>, &[ToolContent]> {
        match self {
            Self::Text(text) | Self::Error(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Self::Json(value) | Self::Error(value) => Ok(Cow::Owned(value.to_string())),
            Self::Content(pieces) => Err(pieces),
        }
    }
}

/// One piece of the output of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ToolContent {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A file.
    File {
        /// A `data:` URL if a local tool produced the file.
        uri: String,
        /// The MIME type.
        mime: String,
        /// The file name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}
