//! Agents: the model, the instructions and the permissions of a session's answers.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::catalogue::RequestSettings;
use crate::model::ModelRef;
use crate::permission::PermissionRule;

/// An agent, as read operations return it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentInfo {
    /// Name of the agent.
    pub id: String,
    /// Model that the agent prefers. Absent means the default model.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// Headers and body members that the host adds to the agent's model requests.
    pub request: RequestSettings,
    /// Instructions of the agent. The model receives them before all other text.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub system: Option<String>,
    /// Purpose of the agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Callers that may choose the agent: users, other agents or both.
    pub mode: AgentMode,
    /// True if lists for users omit the agent.
    pub hidden: bool,
    /// Colour of the agent in user interfaces.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<AgentColor>,
    /// Maximum number of Provider Turns of one activity. Absent means no limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub steps: Option<u32>,
    /// Permission rules of the agent. The last rule that matches an action decides.
    pub permissions: Vec<PermissionRule>,
}

/// The callers that may choose an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// Other agents may choose it to give it a task.
    Subagent,
    /// Users may choose it.
    Primary,
    /// Users and other agents may choose it.
    #[default]
    All,
}

/// Colour names that user interfaces define.
const THEME_COLORS: [&str; 7] = [
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
    "info",
];

/// A colour: `#rrggbb` in hexadecimal digits, or a name that user interfaces define: `primary`,
/// `secondary`, `accent`, `success`, `warning`, `error` or `info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentColor(String);

/// The error for a text that is not a colour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Expected a colour such as #7fa0ff, or one of {}, got {got:?}", THEME_COLORS.join(", "))]
pub struct AgentColorError {
    /// The rejected text, cut to 64 characters.
    pub got: String,
}

impl AgentColor {
    /// Parses a colour. Fails if the text has neither of the two forms.
    pub fn parse(text: &str) -> Result<Self, AgentColorError> {
        let is_hexadecimal = text.strip_prefix('#').is_some_and(|digits| {
            digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
        });
        if is_hexadecimal || THEME_COLORS.contains(&text) {
            return Ok(Self(text.to_owned()));
        }
        Err(AgentColorError {
            got: text.chars().take(64).collect(),
        })
    }

    /// Returns the text of the colour on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentColor {
    type Error = AgentColorError;
    fn try_from(text: String) -> Result<Self, AgentColorError> {
        Self::parse(&text)
    }
}

impl From<AgentColor> for String {
    fn from(color: AgentColor) -> Self {
        color.0
    }
}

impl JsonSchema for AgentColor {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AgentColor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A colour: `#rrggbb` in hexadecimal digits, or a name that user interfaces know.",
            "anyOf": [
                { "type": "string", "pattern": "^#[0-9a-fA-F]{6}$" },
                { "type": "string", "enum": THEME_COLORS },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_hexadecimal_or_named() {
        for text in ["#7fA0ff", "accent"] {
            assert_eq!(AgentColor::parse(text).unwrap().as_str(), text);
        }
        for text in ["", "#fff", "#12345g", "#1234567", "7fa0ff", "Accent", "red"] {
            assert_eq!(
                AgentColor::parse(text).unwrap_err().to_string(),
                format!(
                    "Expected a colour such as #7fa0ff, or one of primary, secondary, accent, \
                     success, warning, error, info, got {text:?}"
                )
            );
        }
    }
}
