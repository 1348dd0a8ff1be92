//! Commands: named prompt templates with placeholders for arguments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ModelRef;

/// A command: a named prompt template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInfo {
    /// Name of the command.
    pub name: String,
    /// Prompt template, with placeholders for arguments.
    pub template: String,
    /// Description of the command.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Agent that answers. Absent means the agent of the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Model that answers. Absent means the model of the agent or of the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// True if a subagent runs the command in a session of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subtask: Option<bool>,
}
