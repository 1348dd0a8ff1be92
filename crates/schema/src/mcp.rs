//! Servers of tools, as everybody is told about them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server that offers other tools than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct McpToolsChanged {
    /// The server.
    pub server: String,
}

/// A page for consent that could not be opened in a browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct McpBrowserOpenFailed {
    /// The server.
    #[serde(rename = "mcpName")]
    pub mcp_name: String,
    /// The page.
    pub url: String,
}
