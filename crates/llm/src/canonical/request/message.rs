//! Messages and their parts.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::tool::ToolResultValue;
use crate::canonical::error::LlmError;
use crate::canonical::event::ProviderMetadata;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A Mid-Conversation System Message; system text that opens the request is not a message.
    System,
    /// The person, or text that stands in for one.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

/// One message of the conversation.
///
/// The parts are shared, so that repeating a long history in every request costs one reference
/// count per message, and an adapter can tell by identity which messages it has already written.
/// The text inside is plain `String`: nothing takes a part out of its message.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    #[serde(serialize_with = "serialize_parts")]
    pub content: Arc<[Part]>,
    /// The provider paused this answer and goes on with it when it gets it back. Always `false` for
    /// other roles.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_paused: bool,
}

impl Message {
    /// A message of any role.
    #[must_use]
    pub fn new(role: Role, content: impl Into<Arc<[Part]>>) -> Self {
        Self {
            role,
            content: content.into(),
            is_paused: false,
        }
    }

    /// A user message.
    #[must_use]
    pub fn user(content: impl Into<Arc<[Part]>>) -> Self {
        Self::new(Role::User, content)
    }

    /// An assistant message.
    #[must_use]
    pub fn assistant(content: impl Into<Arc<[Part]>>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// An assistant message that the provider paused.
    #[must_use]
    pub fn paused(content: impl Into<Arc<[Part]>>) -> Self {
        Self {
            is_paused: true,
            ..Self::assistant(content)
        }
    }

    /// A message of tool results.
    #[must_use]
    pub fn tool(content: impl Into<Arc<[Part]>>) -> Self {
        Self::new(Role::Tool, content)
    }

    /// A Mid-Conversation System Message.
    #[must_use]
    pub fn system(text: impl Into<String>) -> Self {
        Self::new(Role::System, [Part::text(text)])
    }

    /// Whether this is the very same message, not merely an equal one.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.role == other.role && Arc::ptr_eq(&self.content, &other.content)
    }

    /// Refuses parts that the role cannot carry. Adapters call it on every message they lower.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` naming the role and the kind of part.
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
    /// The role's name.
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
    /// A file the user attached.
    Media(Media),
    /// What the model thought.
    Reasoning(ReasoningPart),
    /// A tool call of the model.
    ToolCall(ToolCallPart),
    /// The result of a tool call.
    ToolResult(ToolResultPart),
}

impl Part {
    /// A text part without metadata.
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

/// Text, with what its provider wants back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TextPart {
    /// The text.
    pub text: String,
    /// What the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A file. What the model cannot read is lowered as a sentence saying so, never as a failed
/// request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Media {
    /// Its MIME type.
    pub media_type: String,
    /// Base64, or a `data:` URL of the same type.
    pub data: String,
    /// What the user called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<String>,
}

/// What a model thought before it answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReasoningPart {
    /// The visible part; may be empty when the provider keeps the rest to itself.
    pub text: String,
    /// What the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCallPart {
    /// Unique within its step.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its input, usually an object.
    pub input: Value,
    /// The provider ran it, so no result of ours will follow.
    pub provider_executed: bool,
    /// What the provider attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<ProviderMetadata>,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResultPart {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What came out.
    pub result: ToolResultValue,
    /// The provider ran the call.
    pub provider_executed: bool,
    /// What the provider attached.
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
    fn roles_carry_only_their_parts() {
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
    fn serialises_in_a_stable_shape() {
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
