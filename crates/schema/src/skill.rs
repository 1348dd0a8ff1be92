//! Skills: texts with instructions that a model reads when it needs them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillInfo {
    /// Its name.
    pub name: String,
    /// What it is for. A model is not told of a skill without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Whether user interfaces offer it as a command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slash: Option<bool>,
    /// The file it stands in.
    pub location: String,
    /// Its text, without what stands at the head of the file.
    pub content: String,
}
