//! Commands: prompts with a name and places for arguments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ModelRef;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandInfo {
    /// Its name.
    pub name: String,
    /// The prompt, with places for arguments.
    pub template: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// The agent that answers; absent means the session's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The model that answers; absent means the agent's or the session's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<ModelRef>,
    /// Whether it is done by a subagent, apart from the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub subtask: Option<bool>,
}
