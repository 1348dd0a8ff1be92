//! References: other directories and repositories that may be read beside the project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceInfo {
    /// Its name.
    pub name: String,
    /// The directory it is read from, an absolute path.
    pub path: String,
    /// What it is for. A model is not told of a reference without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Whether user interfaces leave it out when they complete names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hidden: Option<bool>,
    /// Where it comes from.
    pub source: ReferenceSource,
}

/// Where a reference comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ReferenceSource {
    /// A directory of this machine.
    Local {
        /// The directory.
        path: String,
        /// What it is for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        description: Option<String>,
        /// Whether user interfaces leave it out when they complete names.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        hidden: Option<bool>,
    },
    /// A git repository.
    Git {
        /// The repository.
        repository: String,
        /// The branch; absent means the repository's default one.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<String>,
        /// What it is for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        description: Option<String>,
        /// Whether user interfaces leave it out when they complete names.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        hidden: Option<bool>,
    },
}
