//! Locations of sessions, and the projects that contain them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::WorkspaceID;

/// Selects a Location: an absolute directory and, in a future version, a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct LocationRef {
    /// Absolute path of the directory.
    pub directory: String,
    /// Reserved. Absent means the local machine.
    #[serde(
        rename = "workspaceID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub workspace_id: Option<WorkspaceID>,
}

/// The project that contains a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRef {
    /// Stable identity of the repository, or `global` outside a repository.
    pub id: String,
    /// Root directory of the worktree, or `/`.
    pub directory: String,
}

/// The result of `location.get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocationInfo {
    /// Normalised path of the directory.
    pub directory: String,
    /// Workspace of the selector, unchanged.
    #[serde(
        rename = "workspaceID",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub workspace_id: Option<WorkspaceID>,
    /// Project that contains the directory.
    pub project: ProjectRef,
}
