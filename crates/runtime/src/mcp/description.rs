//! Conversions between the configuration, the client of servers, and the wire.

use std::collections::BTreeMap;
use std::path::Path;

use opencode_location::config::{McpAddress, McpConnection, McpOAuth, McpProgram, McpTimeouts};
use opencode_location::definitions::mcp::McpServer;
use opencode_mcp::{
    Connection, LocalServer, OAuthOptions, RemoteServer, ServerConfig, State, Timeouts,
};
use opencode_schema::mcp::{McpServerKind, McpServerStatus};

/// Returns a server in the form for the client. `variables` are the environment variables of processes of the Location.
pub(super) fn configured(
    server: &McpServer,
    directory: &Path,
    variables: &BTreeMap<String, String>,
) -> ServerConfig {
    let connection = match &server.connection {
        McpConnection::Local(program) => {
            let directory = server.working_directory(directory);
            Connection::Local(LocalServer {
                command: program.command.clone(),
                directory,
                environment: environment(program, variables),
            })
        }
        McpConnection::Remote(address) => Connection::Remote(remote(&server.name, address)),
    };
    ServerConfig {
        connection,
        enabled: server.enabled,
        timeouts: timeouts(server.timeouts),
    }
}

fn environment(
    program: &McpProgram,
    variables: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut environment = variables.clone();
    environment.extend(program.environment.iter().cloned());
    environment
}

/// Returns a server behind an address in the form for the client.
pub(super) fn remote(name: &str, address: &McpAddress) -> RemoteServer {
    RemoteServer {
        name: name.to_owned(),
        url: address.url.clone(),
        headers: address.headers.clone(),
        oauth: address.oauth.as_ref().map(oauth),
    }
}

fn oauth(options: &McpOAuth) -> OAuthOptions {
    OAuthOptions {
        client_id: options.client_id.clone(),
        client_secret: options.client_secret.clone(),
        scope: options.scope.clone(),
        callback_port: options.callback_port,
        redirect_uri: options.redirect_uri.clone(),
    }
}

fn timeouts(timeouts: McpTimeouts) -> Timeouts {
    let default = Timeouts::default();
    Timeouts {
        startup: timeouts.startup.unwrap_or(default.startup),
        request: timeouts.request.unwrap_or(default.request),
    }
}

/// Returns the way to reach a server in the form of the wire.
pub(super) fn kind(connection: &Connection) -> McpServerKind {
    match connection {
        Connection::Local(_) => McpServerKind::Local,
        Connection::Remote(_) => McpServerKind::Remote,
    }
}

/// Returns the state of a server in the form of the wire.
pub(super) fn status(state: State) -> McpServerStatus {
    match state {
        State::NotStarted => McpServerStatus::Stopped,
        State::Connecting => McpServerStatus::Connecting,
        State::Connected => McpServerStatus::Connected,
        State::Disabled => McpServerStatus::Disabled,
        State::Failed(error) => McpServerStatus::Failed { error },
        State::NeedsAuth => McpServerStatus::NeedsAuth,
        State::NeedsClientRegistration(error) => McpServerStatus::NeedsClientRegistration { error },
    }
}
