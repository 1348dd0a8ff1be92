//! The intended differences about servers of the Model Context Protocol.

use super::differences::Differences;

pub(crate) const DIFFERENCES: &[Differences] = &[
    Differences {
        why: "Operations on MCP servers that are additions.",
        what: &[
            "DELETE /api/mcp/{name}: an extension",
            "GET /api/mcp/resource: an extension",
            "GET /api/mcp: an extension",
            "POST /api/mcp/{name}/reconnect: an extension",
            "POST /api/mcp: an extension",
        ],
    },
    Differences {
        why: "Events about MCP servers that are additions.",
        what: &[
            "McpRemoved: an extension",
            "McpUpdated: an extension",
            "V2Event | mcp.removed: an extension",
            "V2Event | mcp.updated: an extension",
        ],
    },
    Differences {
        why: "Components of operations on MCP servers.",
        what: &[
            "McpResourceInfo: is added",
            "McpServerDescription: is added",
            "McpServerDescriptionLocal: is added",
            "McpServerDescriptionRemote: is added",
            "McpServerInfo: is added",
            "McpServerKind: is added",
            "McpServerOAuth: is added",
            "McpServerOAuthSettings: is added",
            "McpServerStatus: is added",
            "McpServerStatusConnected: is added",
            "McpServerStatusConnecting: is added",
            "McpServerStatusDisabled: is added",
            "McpServerStatusFailed: is added",
            "McpServerStatusNeedsAuth: is added",
            "McpServerStatusNeedsClientRegistration: is added",
            "McpServerStatusStopped: is added",
            "McpServerTimeouts: is added",
        ],
    },
];
