//! Payloads of events about MCP servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The payload of the event that announces a changed tool list of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct McpToolsChanged {
    /// Name of the server.
    pub server: String,
}

/// The payload of the event that announces a consent page that could not be opened in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct McpBrowserOpenFailed {
    /// Name of the server.
    #[serde(rename = "mcpName")]
    pub mcp_name: String,
    /// URL of the page.
    pub url: String,
}
