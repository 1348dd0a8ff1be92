//! Agents: who answers in a session, with which model, instructions and permissions.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::catalogue::RequestSettings;
use crate::model::ModelRef;
use crate::permission::PermissionRule;

/// An agent as reads show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentInfo {
    /// Its name.
    pub id: String,
    /// The model it prefers; absent means the default one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// What is added to its model requests.
    pub request: RequestSettings,
    /// Its instructions, which stand before everything else the model is told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub system: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Who may choose it.
    pub mode: AgentMode,
    /// Whether lists made for people leave it out.
    pub hidden: bool,
    /// Its colour in user interfaces.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub color: Option<AgentColor>,
    /// Provider Turns of one activity at most; absent means any number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub steps: Option<u32>,
    /// What it may do. Of the rules that match an action, the last one counts.
    pub permissions: Vec<PermissionRule>,
}

/// Who may choose an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentMode {
    /// Other agents, which give it a task.
    Subagent,
    /// People.
    Primary,
    /// Both.
    #[default]
    All,
}

/// Colours that user interfaces have names for.
const THEME_COLORS: [&str; 7] = [
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
    "info",
];

/// A colour: `#rrggbb` in hexadecimal digits, or one of the names that user interfaces know:
/// `primary`, `secondary`, `accent`, `success`, `warning`, `error`, `info`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AgentColor(String);

/// Why a text is no colour.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Expected a colour such as #7fa0ff, or one of {}, got {got:?}", THEME_COLORS.join(", "))]
pub struct AgentColorError {
    /// What it was, cut to a length fit for a message.
    pub got: String,
}

impl AgentColor {
    /// Checks the form of a colour.
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

    /// The text on the wire.
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
