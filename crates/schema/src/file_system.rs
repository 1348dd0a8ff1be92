//! Files and directories of a Location, and changes to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file or a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystemEntry {
    /// Path relative to the Location. The path of a directory ends in a slash.
    pub path: String,
    /// Kind of the entry.
    pub r#type: FileSystemEntryType,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileSystemEntryType {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// A change to a watched file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FileWatcherUpdated {
    /// Absolute path of the file.
    pub file: String,
    /// Kind of the change.
    pub event: FileChange,
}

/// The kind of a change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// The file was created.
    Add,
    /// The content of the file changed.
    Change,
    /// The file was deleted.
    Unlink,
}
