//! Servers of the Model Context Protocol.

use opencode_schema::mcp::{McpResourceInfo, McpServerInfo};

use crate::input::{LocationSelection, McpAddPayload, McpServerParams};
use crate::operation::operations;
use crate::output::Located;

operations! {
    /// Lists the servers of the Model Context Protocol in a Location. Starts none of them.
    McpList = "v2.mcp.list" => "mcp.list" {
        Get "/api/mcp",
        query: LocationSelection,
        success: whole(Located<Vec<McpServerInfo>>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Lists the resources of the servers in a Location. Starts the servers, and waits up to five seconds for them.
    McpResources = "v2.mcp.resources" => "mcp.resources" {
        Get "/api/mcp/resource",
        query: LocationSelection,
        success: whole(Located<Vec<McpResourceInfo>>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Adds a server to a Location until the host closes, and starts it. Returns it after its start has succeeded or
    /// failed. It replaces a server with the same name.
    McpAdd = "v2.mcp.add" => "mcp.add" {
        Post "/api/mcp",
        query: LocationSelection,
        payload: McpAddPayload,
        success: whole(Located<McpServerInfo>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Removes a server that a client added. A server of the configuration with the same name takes effect again. An
    /// unknown name has no effect.
    McpRemove = "v2.mcp.remove" => "mcp.remove" {
        Delete "/api/mcp/{name}",
        params: McpServerParams,
        query: LocationSelection,
        success: void,
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }

    /// Ends the connection to a server and connects again. Returns the server after that has succeeded or failed.
    McpReconnect = "v2.mcp.reconnect" => "mcp.reconnect" {
        Post "/api/mcp/{name}/reconnect",
        params: McpServerParams,
        query: LocationSelection,
        success: whole(Located<McpServerInfo>),
        errors: [],
        middleware: [Authorization, Location],
        extension: true,
    }
}
