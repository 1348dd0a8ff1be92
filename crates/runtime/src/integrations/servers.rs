//! Remote MCP servers as integrations.

use std::sync::Arc;

use futures::FutureExt;
use opencode_mcp::RemoteServer;
use opencode_mcp::oauth::{Exchange, OAuth, integration_id};
use opencode_oauth::{AuthorizationError, BrowserAnswer};
use opencode_schema::integration::{IntegrationConnection, IntegrationInfo, IntegrationMethod};
use opencode_secrets::Secret;
use opencode_store::Credential;

use super::attempts::{Begun, Outcome};
use crate::mcp::McpServers;

/// The id of the method of servers.
pub(super) const METHOD: &str = "oauth";

/// Returns the integration of a server. A stored value without tokens for the server is no connection.
pub(super) fn described(server: &RemoteServer, stored: &[Credential]) -> IntegrationInfo {
    let id = integration_id(&server.name);
    let connects = |credential: &&Credential| {
        let value = Secret::new(credential.value.as_str());
        credential.integration_id == id && OAuth::connects(server, &value)
    };
    let connections = stored.iter().filter(connects);
    let connections = connections.map(|credential| IntegrationConnection::Credential {
        id: credential.id.clone(),
        label: credential.label.clone(),
    });
    let connections = connections.collect();
    IntegrationInfo {
        id,
        name: server.name.clone(),
        methods: vec![IntegrationMethod::Oauth {
            id: METHOD.into(),
            label: "Authorize in the browser".into(),
            prompts: None,
        }],
        connections,
    }
}

/// Begins the authorization of the host at a server.
pub(super) async fn begin(
    oauth: &OAuth,
    servers: &Arc<McpServers>,
    server: RemoteServer,
    label: &str,
) -> Result<Begun, AuthorizationError> {
    let authorization = oauth.authorize(&server, label).await?;
    let (servers, exchange) = (Arc::clone(servers), authorization.exchange);
    let finish = move |answer| finish(servers, server, exchange, answer).boxed();
    let finish = Box::new(finish);
    Ok(Begun::in_browser(
        authorization.page,
        authorization.browser,
        finish,
    ))
}

/// Exchanges the answer of a browser, and connects the server with the new tokens.
async fn finish(
    servers: Arc<McpServers>,
    server: RemoteServer,
    exchange: Exchange,
    answer: BrowserAnswer,
) -> Outcome {
    exchange.finish(answer).await?;
    servers.authorized(&server.name, &server.url);
    Ok(())
}
