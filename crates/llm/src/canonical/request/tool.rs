//! Tools as the model sees them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool on offer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it is for, in words for the model.
    pub description: String,
    /// JSON Schema of its input.
    pub input_schema: Value,
}

/// Whether and which tool must be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No tool.
    None,
    /// Some tool.
    Required,
    /// This tool.
    Tool(String),
}

/// What a tool call came to, as the model will read it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "lowercase")]
pub enum ToolResultValue {
    /// Text.
    Text(String),
    /// A JSON value.
    Json(Value),
    /// A failure; text, or a value that describes it.
    Error(Value),
    /// Text and files.
    Content(Vec<ToolContent>),
}

impl ToolResultValue {
    /// The result as text, or its pieces where it has some.
    pub(crate) fn as_text(&self) -> Result<Cow<'_, str>, &[ToolContent]> {
        match self {
            Self::Text(text) | Self::Error(Value::String(text)) => Ok(Cow::Borrowed(text)),
            Self::Json(value) | Self::Error(value) => Ok(Cow::Owned(value.to_string())),
            Self::Content(pieces) => Err(pieces),
        }
    }
}

/// One piece of a tool's output.
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
        /// A `data:` URL when a local tool produced it.
        uri: String,
        /// Its MIME type.
        mime: String,
        /// What it is called.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
}
