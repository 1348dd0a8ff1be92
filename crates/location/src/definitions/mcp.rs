//! The servers of the Model Context Protocol of one directory, merged from its documents.

use std::path::{Path, PathBuf};

use opencode_secrets::Secrets;

use crate::config::{
    Configuration, Diagnostic, DiagnosticKind, McpConnection, McpServerPatch, McpTimeouts,
};

/// The servers of one directory, in the order of the first declaration of their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct McpServers {
    servers: Vec<McpServer>,
    timeouts: McpTimeouts,
}

/// A server of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// The way to reach it.
    pub connection: McpConnection,
    /// False if it must not be started. Default: true.
    pub enabled: bool,
    /// Its time limits.
    pub timeouts: McpTimeouts,
}

impl McpServers {
    /// Merges the servers of the documents. A description replaces a weaker one with the same name. An entry without a
    /// description only turns the weaker one on or off, and changes its time limits.
    pub(crate) fn build(configuration: &Configuration, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut merged = Self::default();
        for document in configuration.documents() {
            merged.timeouts = document.mcp.timeouts.or(merged.timeouts);
            for (name, patch) in &document.mcp.servers {
                if let Err(message) = merged.apply(name, &patch.value) {
                    let (origin, kind) = (&document.origin, DiagnosticKind::Ignored);
                    diagnostics.push(Diagnostic::new(origin, kind, message, patch.position));
                }
            }
        }
        merged
    }

    fn apply(&mut self, name: &str, patch: &McpServerPatch) -> Result<(), String> {
        let known = self.servers.iter_mut().find(|server| server.name == *name);
        match (known, &patch.connection) {
            (Some(known), None) => {
                known.enabled = patch.enabled.unwrap_or(known.enabled);
                known.timeouts = patch.timeouts.or(known.timeouts);
            }
            (None, None) => {
                return Err(format!(
                    "The entry of the MCP server {name:?} has no effect: no document describes this server"
                ));
            }
            (known, Some(connection)) => {
                if name.trim().is_empty() {
                    return Err("An MCP server without a name has no effect".to_owned());
                }
                let server = McpServer::new(name, connection, patch);
                match known {
                    Some(known) => *known = server,
                    None => self.servers.push(server),
                }
            }
        }
        Ok(())
    }

    /// True if there is no server.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Returns the servers, with all time limits that documents set.
    pub fn list(&self) -> impl Iterator<Item = McpServer> {
        self.servers.iter().map(|server| McpServer {
            timeouts: server.timeouts.or(self.timeouts),
            ..server.clone()
        })
    }

    /// Returns a server that a client adds, with the time limits of the documents. `None` if the description does not
    /// say how to reach the server.
    pub fn added(&self, name: &str, patch: &McpServerPatch) -> Option<McpServer> {
        let connection = patch.connection.as_ref()?;
        let server = McpServer::new(name, connection, patch);
        Some(McpServer {
            timeouts: server.timeouts.or(self.timeouts),
            ..server
        })
    }

    /// Returns the paths that the commands of local servers may name: their programs, scripts and settings. Most of them
    /// are no files.
    pub(crate) fn named_files(&self, directory: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for server in &self.servers {
            let McpConnection::Local(program) = &server.connection else {
                continue;
            };
            let at = server.working_directory(directory);
            for word in &program.command {
                let value = word.split_once('=').map(|(_, value)| value);
                let words = [Some(word.as_str()), value].into_iter().flatten();
                files.extend(words.map(|word| at.join(word)));
            }
        }
        files
    }

    /// Adds the secrets of the servers.
    pub(crate) fn learn_secrets(&self, secrets: &mut Secrets) {
        for server in &self.servers {
            server.learn_secrets(secrets);
        }
    }
}

impl McpServer {
    fn new(name: &str, connection: &McpConnection, patch: &McpServerPatch) -> Self {
        Self {
            name: name.to_owned(),
            connection: connection.clone(),
            enabled: patch.enabled.unwrap_or(true),
            timeouts: patch.timeouts,
        }
    }

    /// Returns the working directory of a local server.
    pub fn working_directory(&self, directory: &Path) -> PathBuf {
        match &self.connection {
            McpConnection::Local(program) => match &program.cwd {
                Some(cwd) => directory.join(cwd),
                None => directory.to_owned(),
            },
            McpConnection::Remote(_) => directory.to_owned(),
        }
    }

    /// Adds the secrets of the server: headers, parts of its address, the secret of its client, and variables with
    /// secret names.
    pub fn learn_secrets(&self, secrets: &mut Secrets) {
        match &self.connection {
            McpConnection::Local(program) => {
                let variables = program.environment.iter();
                let variables = variables.map(|(name, value)| (name.clone(), value.clone().into()));
                secrets.learn_members(&variables.collect());
            }
            McpConnection::Remote(remote) => {
                secrets.learn_url(remote.url.as_str());
                secrets.learn_path(remote.url.as_str(), "");
                for (name, value) in &remote.headers {
                    secrets.learn_header(name, value);
                }
                let oauth = remote.oauth.as_ref();
                if let Some(secret) = oauth.and_then(|it| it.client_secret.as_deref()) {
                    secrets.learn_credential(secret);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::config::mcp_server;

    fn patch(value: serde_json::Value) -> McpServerPatch {
        mcp_server(&value).unwrap()
    }

    #[test]
    fn a_stronger_description_replaces_a_weaker_one_and_a_switch_does_not() {
        let mut servers = McpServers::default();
        let local = patch(json!({"type": "local", "command": ["a"], "timeout": 5}));
        let remote = patch(json!({"type": "remote", "url": "https://h"}));
        let off = McpServerPatch {
            connection: None,
            enabled: Some(false),
            timeouts: McpTimeouts::default(),
        };
        servers.apply("one", &local).unwrap();
        servers.apply("two", &local).unwrap();
        servers.apply("two", &remote).unwrap();
        servers.apply("one", &off).unwrap();
        servers.apply("three", &off).unwrap_err();
        servers.timeouts.startup = Some(Duration::from_millis(9));
        let found: Vec<_> = servers.list().collect();
        assert_eq!(found.len(), 2);
        assert!(!found[0].enabled && found[1].enabled);
        assert!(matches!(found[1].connection, McpConnection::Remote(_)));
        let limits = McpTimeouts {
            startup: Some(Duration::from_millis(9)),
            request: Some(Duration::from_millis(5)),
        };
        assert_eq!(found[0].timeouts, limits);
    }

    #[test]
    fn a_working_directory_begins_in_the_location() {
        let mut servers = McpServers::default();
        let inner = patch(json!({"type": "local", "command": ["a"], "cwd": "sub/dir"}));
        servers.apply("inner", &inner).unwrap();
        let server = servers.list().next().unwrap();
        let found = server.working_directory(Path::new("/project"));
        assert_eq!(found, Path::new("/project/sub/dir"));
    }
}
