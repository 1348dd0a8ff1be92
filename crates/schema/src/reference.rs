//! References: directories and repositories outside the project that a session may read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceInfo {
    /// Name of the reference.
    pub name: String,
    /// Absolute path of the directory to read.
    pub path: String,
    /// Purpose of the reference. Without it, the model does not receive the reference.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// True if user interfaces omit the reference from name completion.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hidden: Option<bool>,
    /// Origin of the reference.
    pub source: ReferenceSource,
}

/// The origin of a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ReferenceSource {
    /// A directory on this machine.
    Local {
        /// Path of the directory.
        path: String,
        /// Purpose of the reference.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        description: Option<String>,
        /// True if user interfaces omit the reference from name completion.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        hidden: Option<bool>,
    },
    /// A git repository.
    Git {
        /// Address of the repository.
        repository: String,
        /// Branch. Absent means the default branch of the repository.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<String>,
        /// Purpose of the reference.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        description: Option<String>,
        /// True if user interfaces omit the reference from name completion.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        hidden: Option<bool>,
    },
}
