//! Files and directories of a Location, and what happens to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file or a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileSystemEntry {
    /// Path relative to the Location. That of a directory ends in a slash.
    pub path: String,
    /// What it is.
    pub r#type: FileSystemEntryType,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileSystemEntryType {
    /// A file.
    File,
    /// A directory.
    Directory,
}

/// Something that happened to a watched file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct FileWatcherUpdated {
    /// Its absolute path.
    pub file: String,
    /// What happened.
    pub event: FileChange,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It came to be.
    Add,
    /// Its content changed.
    Change,
    /// It is gone.
    Unlink,
}
