//! Where a session lives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::WorkspaceID;

/// Names a Location: an absolute directory, and a workspace once placement is designed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct LocationRef {
    /// Absolute path of the directory.
    pub directory: String,
    /// Reserved; absent means the local machine.
    #[serde(
        rename = "workspaceID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub workspace_id: Option<WorkspaceID>,
}

/// The project a directory belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRef {
    /// Stable identity of the repository, or `global` outside any.
    pub id: String,
    /// Its worktree root, or `/`.
    pub directory: String,
}

/// What `location.get` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocationInfo {
    /// The directory, normalised.
    pub directory: String,
    /// Echo of the selector.
    #[serde(
        rename = "workspaceID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub workspace_id: Option<WorkspaceID>,
    /// The project around the directory.
    pub project: ProjectRef,
}
