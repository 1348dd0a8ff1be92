//! Skills: instructions that a model reads when it needs them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillInfo {
    /// Name of the skill.
    pub name: String,
    /// Purpose of the skill. Without it, the model does not receive the skill.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// True if user interfaces offer the skill as a command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slash: Option<bool>,
    /// Path of the file that contains the skill.
    pub location: String,
    /// Text of the skill, without the front matter of the file.
    pub content: String,
}
