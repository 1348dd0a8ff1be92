//! Operations on servers of the Model Context Protocol.

use opencode_protocol::failure::Failure;
use opencode_protocol::operations as op;
use opencode_protocol::output::Located;
use opencode_schema::mcp::{McpResourceInfo, McpServerInfo};

use crate::router::answer::Answered;
use crate::router::operation::Call;
use crate::router::selector::Opened;

pub(crate) async fn list(call: Call<op::McpList>) -> Answered<Located<Vec<McpServerInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let servers = call.runtime.mcp_servers(&opened.location);
    Ok(opened.with(servers))
}

pub(crate) async fn resources(
    call: Call<op::McpResources>,
) -> Answered<Located<Vec<McpResourceInfo>>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let resources = call.runtime.mcp_resources(&opened.location).await;
    Ok(opened.with(resources))
}

pub(crate) async fn add(call: Call<op::McpAdd>) -> Answered<Located<McpServerInfo>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let (name, config) = (&call.payload.name, &call.payload.config);
    let server = call.runtime.add_mcp_server(&opened.location, name, config);
    let server = server.await?;
    Ok(opened.with(server))
}

pub(crate) async fn remove(call: Call<op::McpRemove>) -> Answered<()> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let name = &call.params.name;
    call.runtime.remove_mcp_server(&opened.location, name);
    Ok(())
}

pub(crate) async fn reconnect(call: Call<op::McpReconnect>) -> Answered<Located<McpServerInfo>> {
    let opened = Opened::of(&call.runtime, call.selector).await?;
    let name = &call.params.name;
    let reconnecting = call.runtime.reconnect_mcp_server(&opened.location, name);
    match reconnecting.await {
        Some(server) => Ok(opened.with(server)),
        None => {
            let shown: String = name.chars().take(64).collect();
            let message = format!("Unknown MCP server: {shown}. mcp.list lists the servers");
            Err(Failure::invalid_field("name", message).into())
        }
    }
}
