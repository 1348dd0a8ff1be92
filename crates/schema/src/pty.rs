//! Terminals: programs that run in a Location and are spoken to as a person would.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::PtyID;

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pty {
    /// Its id.
    pub id: PtyID,
    /// Its title.
    pub title: String,
    /// The program.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// The directory it began in.
    pub cwd: String,
    /// Whether the program still runs.
    pub status: PtyStatus,
    /// The program's process.
    pub pid: u32,
    /// The status the program ended with.
    #[serde(rename = "exitCode", skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<u32>,
}

/// Whether the program of a terminal still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PtyStatus {
    /// It runs.
    Running,
    /// It ended.
    Exited,
}

/// What opens one connection to a terminal, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PtyConnectToken {
    /// The ticket.
    pub ticket: String,
    /// How long it is good for, seconds.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub expires_in: u32,
}

/// A terminal that was created or changed, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PtyChanged {
    /// The terminal as it is now.
    pub info: Pty,
}

/// The end of a terminal's program, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PtyExited {
    /// The terminal.
    pub id: PtyID,
    /// The status the program ended with.
    #[serde(rename = "exitCode")]
    pub exit_code: u32,
}

/// The end of a terminal, as everybody is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PtyDeleted {
    /// The terminal.
    pub id: PtyID,
}
