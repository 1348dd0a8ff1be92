//! Servers of the Model Context Protocol, and the payloads of events about them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server of the Model Context Protocol in a Location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerInfo {
    /// Name of the server.
    pub name: String,
    /// The way to reach the server.
    #[serde(rename = "type")]
    pub kind: McpServerKind,
    /// State of the server.
    pub status: McpServerStatus,
    /// Full names of the tools that the server offers to models.
    pub tools: Vec<String>,
    /// Problems of the server that do not stop it, for example a tool whose name is taken.
    pub problems: Vec<String>,
}

/// The way to reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpServerKind {
    /// A child process of the host.
    Local,
    /// A server behind an address.
    Remote,
}

/// The state of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum McpServerStatus {
    /// The host has not started the server yet. It starts the server at its first use.
    Stopped,
    /// The host connects to the server.
    Connecting,
    /// The server is ready.
    Connected,
    /// The configuration turns the server off.
    Disabled,
    /// The connection failed or ended.
    Failed {
        /// Reason of the failure.
        error: String,
    },
    /// The user must give consent: connect the integration `mcp:<name>`.
    NeedsAuth,
    /// The authorization server registers no clients. The configuration must contain the id of a registered client.
    NeedsClientRegistration {
        /// Reason of the failure.
        error: String,
    },
}

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpResourceInfo {
    /// Name of the server.
    pub server: String,
    /// URI of the resource at its server.
    pub uri: String,
    /// Name of the resource.
    pub name: String,
    /// Description of the resource.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub description: Option<String>,
    /// Media type of its content.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none", default)]
    pub mime_type: Option<String>,
    /// URI of the resource in the files of a prompt.
    pub attachment: String,
}

/// The description of a server that a client adds. It has the form of the configuration key `mcp`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum McpServerDescription {
    /// A child process of the host.
    Local {
        /// The program and its arguments.
        command: Vec<String>,
        /// Additional variables of its environment.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        environment: Option<BTreeMap<String, String>>,
        /// Working directory, relative to the Location. Default: the directory of the Location.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cwd: Option<String>,
        /// False if the host must not start the server. Default: true.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        enabled: Option<bool>,
        /// Time limits.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        timeout: Option<McpServerTimeouts>,
    },
    /// A server behind an address.
    Remote {
        /// Address of the endpoint.
        url: String,
        /// Headers of every request.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        headers: Option<BTreeMap<String, String>>,
        /// Settings of OAuth. Default: the host discovers them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        oauth: Option<McpServerOAuth>,
        /// False if the host must not connect to the server. Default: true.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        enabled: Option<bool>,
        /// Time limits.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        timeout: Option<McpServerTimeouts>,
    },
}

/// Time limits of a server, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct McpServerTimeouts {
    /// For the connection, the initialisation and the first listing. Default: 30,000.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "u64")]
    pub startup: Option<u64>,
    /// For each request. Default: 30,000.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[schemars(with = "u64")]
    pub request: Option<u64>,
}

/// OAuth of a remote server: `false` turns it off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum McpServerOAuth {
    /// `false` if the server must not use OAuth.
    Switch(bool),
    /// Settings of OAuth.
    Settings(McpServerOAuthSettings),
}

/// Settings of OAuth for one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpServerOAuthSettings {
    /// Id of a registered client. Default: the host registers one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client_id: Option<String>,
    /// Secret of that client.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub client_secret: Option<String>,
    /// Scopes to request, separated by spaces. Default: those that the server names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub scope: Option<String>,
    /// Port of the redirect address on this machine. Default: 19876.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub callback_port: Option<u16>,
    /// The whole redirect address.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub redirect_uri: Option<String>,
}

/// The payload of the event that announces the changed state of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct McpUpdated {
    /// The server, in its new state.
    pub server: McpServerInfo,
}

/// The payload of the event that announces the end of an MCP server that a client removed, or that the configuration
/// does not contain any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct McpRemoved {
    /// Name of the server.
    pub server: String,
}

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
