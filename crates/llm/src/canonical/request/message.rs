//! Messages and their parts.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::tool::ToolResultValue;
use crate::canonical::error::LlmError;
use crate::canonical::event::ProviderMetadata;

/// The author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A Mid-Conversation System Message. The system text at the start of a request is not a message.
    System,
    /// The user, or text that is sent in the role of the user.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

/// One message of the conversation.
///
/// The parts are shared. Repeating a long history in every request therefore costs one reference
/// count per message, and an adapter recognizes by identity the messages that it has already
/// written. The text inside is a plain `String`, because no code moves a part out of its message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The parts.
    #[serde(serialize_with = "serialize_parts")]
    pub content: Arc<[Part]>,
    /// The provider paused this answer, and continues it after a request that repeats it. Always
    /// `false` for other roles.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_paused: bool,
}

impl Message {
    /// Creates a message of any role.
    #[must_use]
    pub fn new(role: Role, content: impl Into<Arc<[Part]>>) -> Self {
        Self {
            role,
            content: content.into(),
            is_paused: false,
        }
    }

    /// Creates a user message.
    #[must_use]
    pub fn user(content: impl Into<Arc<[Part]>>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates an assistant message.
    #[must_use]
    pub fn assistant(content: impl Into<Arc<[Part]>>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// Creates an assistant message that the provider paused.
    #[must_use]
    pub fn paused(content: impl Into<Arc<[Part]>>) -> Self {
        Self {
            is_paused: true,
            ..Self::assistant(content)
        }
    }

    /// Creates a message of tool results.
    #[must_use]
    pub fn tool(content: impl Into<Arc<[Part]>>) -> Self {
        Self::new(Role::Tool, content)
    }

    /// Creates a Mid-Conversation System Message.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, [Part::text(text)])
    }

    /// True if both messages share the same parts in memory. Equal copies do not count.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.role == other.role && Arc::ptr_eq(&self.content, &other.content)
    }

    /// Checks that the role may carry all parts. Adapters call it for every message that they write.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` with the role and the kind of the refused part.
    pub fn check(&self) -> Result<(), LlmError> {
        match self.content.iter().find(|part| !self.role.allows(part)) {
            None => Ok(()),
            Some(part) => Err(LlmError::invalid_request(format!(
                "{} messages cannot contain {} parts",
                self.role.as_str(),
                part.kind()
            ))),
        }
    }
}

impl Role {
    /// Returns the name of the role.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    fn allows(self, part: &Part) -> bool {
        match self {
            Self::System => matches!(part, Part::Text(_)),
            Self::User => matches!(part, Part::Text(_) | Part::Media(_)),
            Self::Assistant => match part {
                Part::Text(_) | Part::Reasoning(_) | Part::ToolCall(_) => true,
                Part::ToolResult(result) => result.provider_executed,
                Part::Media(_) => false,
            },
            Self::Tool => matches!(part, Part::ToolResult(_)),
        }
    }
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Part {
    /// Text.
    Text(TextPart),
    /// A file that the user attached.
    Media(Media),
    /// The reasoning of the model.
    Reasoning(ReasoningPart),
    /// A tool call of the model.
    ToolCall(ToolCallPart),
    /// The result of a tool call.
    ToolResult(ToolResultPart),
}

impl Part {
    /// Creates a text part without metadata.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextPart {
            text: text.into(),
            provider_metadata: None,
        })
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Media(_) => "media",
            Self::Reasoning(_) => "reasoning",
            Self::ToolCall(_) => "tool-call",
            Self::ToolResult(_) => "tool-result",
        }
    }
}

/// Text, with metadata that its provider expects back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// Metadata that the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A file. If the model cannot read it, the adapter sends a sentence that says so; the request does not fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// Its MIME type.
    pub media_type: String,
    /// Base64, or a `data:` URL of the same type.
    pub data: String,
    /// The file name that the user sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// The reasoning of a model before its answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningPart {
    /// The visible part. May be empty if the provider does not show the reasoning.
    pub text: String,
    /// Metadata that the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallPart {
    /// Identifier, unique within its step.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// Its input, usually an object.
    pub input: Value,
    /// The provider ran the call, so no local result follows.
    pub provider_executed: bool,
    /// Metadata that the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultPart {
    /// The identifier of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The result.
    pub result: ToolResultValue,
    /// The provider ran the call.
    pub provider_executed: bool,
    /// Metadata that the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

fn serialize_parts<S: Serializer>(parts: &Arc<[Part]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(parts.iter())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(provider_executed: bool) -> Part {
        Part::ToolResult(ToolResultPart {
            id: "call_1".into(),
            name: "read".into(),
            result: ToolResultValue::Text("ok".into()),
            provider_executed,
            provider_metadata: None,
        })
    }

    #[test]
    fn each_role_accepts_only_its_parts() {
        let media = Part::Media(Media {
            media_type: "image/png".into(),
            data: String::new(),
            filename: None,
        });
        let rows = [
            (Message::user([Part::text("a"), media.clone()]), None),
            (
                Message::user([result(true)]),
                Some("user messages cannot contain tool-result parts"),
            ),
            (Message::assistant([result(true)]), None),
            (
                Message::assistant([result(false)]),
                Some("assistant messages cannot contain tool-result parts"),
            ),
            (
                Message::assistant([media]),
                Some("assistant messages cannot contain media parts"),
            ),
            (Message::tool([result(false)]), None),
            (
                Message::tool([Part::text("a")]),
                Some("tool messages cannot contain text parts"),
            ),
            (Message::system("a"), None),
            (
                Message::new(Role::System, [result(false)]),
                Some("system messages cannot contain tool-result parts"),
            ),
        ];
        for (message, expected) in rows {
            let outcome = message.check().err().map(|error| error.to_string());
            assert_eq!(outcome.as_deref(), expected);
        }
    }

    #[test]
    fn a_message_serialises_in_a_stable_shape() {
        let message = Message::tool([result(false)]);
        assert_eq!(
            serde_json::to_value(&message).unwrap(),
            json!({"role": "tool", "content": [{
                "type": "tool-result", "id": "call_1", "name": "read",
                "result": {"type": "text", "value": "ok"}, "providerExecuted": false
            }]})
        );
    }
}
