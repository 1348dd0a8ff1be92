//! Operations on servers of the Model Context Protocol.

use std::sync::Arc;

use opencode_location::config::{ConfigurationProblem, mcp_server};
use opencode_location::location::Location;
use opencode_schema::command::CommandInfo;
use opencode_schema::mcp::{McpResourceInfo, McpServerDescription, McpServerInfo};

use crate::error::RuntimeError;
use crate::mcp::{LocationServers, attachment_uri};
use crate::runtime::Runtime;

/// Maximum length of the name of a server, in bytes.
const MAX_NAME: usize = 256;

impl Runtime {
    /// Returns the servers of a Location. Starts none.
    pub fn mcp_servers(&self, location: &Location) -> Vec<McpServerInfo> {
        let servers = self.mcp.of(location);
        servers.map(|servers| servers.list()).unwrap_or_default()
    }

    /// Returns the resources of the servers of a Location. Starts the servers.
    pub async fn mcp_resources(&self, location: &Location) -> Vec<McpResourceInfo> {
        let Some(servers) = self.mcp.prepare(location).await else {
            return Vec::new();
        };
        let resources = servers.resources().await;
        let listed = resources.into_iter().map(|it| McpResourceInfo {
            attachment: attachment_uri(&it.server, &it.uri),
            server: it.server,
            uri: it.uri,
            name: it.name,
            description: it.description,
            mime_type: it.mime,
        });
        listed.collect()
    }

    /// Returns the prompts of the servers of a Location as commands. Starts the servers.
    pub async fn mcp_commands(&self, location: &Location) -> Vec<CommandInfo> {
        match self.mcp.prepare(location).await {
            Some(servers) => servers.commands(),
            None => Vec::new(),
        }
    }

    /// Adds a server to a Location, starts it, and returns it after its start has succeeded or failed.
    ///
    /// # Errors
    ///
    /// `InvalidServer` if the description is wrong.
    pub async fn add_mcp_server(
        &self,
        location: &Location,
        name: &str,
        config: &McpServerDescription,
    ) -> Result<McpServerInfo, RuntimeError> {
        if name.trim().is_empty() || name.len() > MAX_NAME {
            let message = format!("must have 1 to {MAX_NAME} bytes");
            return Err(RuntimeError::InvalidServer(ConfigurationProblem {
                path: "name".to_owned(),
                message,
            }));
        }
        let description = serde_json::to_value(config).unwrap_or_default();
        let patch = mcp_server(&description).map_err(|mut problem| {
            problem.path = format!("config.{}", problem.path);
            RuntimeError::InvalidServer(problem)
        })?;
        let servers = self.mcp_servers_of(location)?;
        let server = location
            .mcp
            .added(name, &patch)
            .ok_or(RuntimeError::Closed)?;
        servers.add(server);
        servers.started(name).await.ok_or(RuntimeError::Closed)
    }

    /// Removes a server that a client added. An unknown name has no effect.
    pub fn remove_mcp_server(&self, location: &Location, name: &str) {
        if let Some(servers) = self.mcp.of(location) {
            servers.remove(name);
        }
    }

    /// Connects to a server anew. Returns it after that has succeeded or failed, or `None` for an unknown name.
    pub async fn reconnect_mcp_server(
        &self,
        location: &Location,
        name: &str,
    ) -> Option<McpServerInfo> {
        self.mcp.of(location)?.reconnect(name).await
    }

    fn mcp_servers_of(&self, location: &Location) -> Result<Arc<LocationServers>, RuntimeError> {
        self.mcp.of_or_new(location).ok_or(RuntimeError::Closed)
    }
}
