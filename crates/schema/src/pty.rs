//! Terminals: interactive programs that run in a Location.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::PtyID;

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pty {
    /// Id of the terminal.
    pub id: PtyID,
    /// Title of the terminal.
    pub title: String,
    /// Program that the terminal runs.
    pub command: String,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Initial working directory of the program.
    pub cwd: String,
    /// State of the program.
    pub status: PtyStatus,
    /// Process id of the program.
    pub pid: u32,
    /// Exit status of the program. Absent while it runs.
    #[serde(rename = "exitCode", skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<u32>,
}

/// The state of a terminal's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PtyStatus {
    /// The program runs.
    Running,
    /// The program ended.
    Exited,
}

/// A ticket that opens one connection to a terminal, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PtyConnectToken {
    /// The ticket.
    pub ticket: String,
    /// Validity of the ticket, in seconds.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub expires_in: u32,
}

/// The payload of the events that announce a created or changed terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PtyChanged {
    /// Current state of the terminal.
    pub info: Pty,
}

/// The payload of the event that announces the end of a terminal's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PtyExited {
    /// Id of the terminal.
    pub id: PtyID,
    /// Exit status of the program.
    #[serde(rename = "exitCode")]
    pub exit_code: u32,
}

/// The payload of the event that announces the removal of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PtyDeleted {
    /// Id of the terminal.
    pub id: PtyID,
}
