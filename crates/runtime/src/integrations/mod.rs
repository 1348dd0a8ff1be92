//! Integrations: services that need credentials. These are the providers of models and the remote MCP servers of a
//! Location.
//!
//! `credentials` stores them, `providers` describes providers, `attempts` holds the authorizations that wait for users.

mod attempts;
mod clients;
mod credentials;
mod providers;

use std::sync::Arc;

use opencode_llm::HttpClients;
use opencode_location::location::{Location, Locations};
use opencode_mcp::RemoteServer;
use opencode_mcp::oauth::{
    AnswerMode, AuthorizationError, Connections, CredentialStore, OAuth, OAuthServices,
    REQUEST_LIMIT, Secret, integration_id,
};
use opencode_schema::event::{Nothing, Notice};
use opencode_schema::integration::{
    IntegrationAttempt, IntegrationAttemptMode, IntegrationAttemptStatus, IntegrationConnection,
    IntegrationConnectionUpdated, IntegrationInfo, IntegrationMethod,
};
use opencode_schema::location::LocationRef;
use opencode_store::Credential;
use tokio_util::sync::CancellationToken;

use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::live::Announcer;
use crate::mcp::McpServers;
use crate::timer::Timer;

use attempts::Attempts;
use clients::LlmClients;
pub use credentials::CredentialValues;
pub(crate) use credentials::Credentials;

/// The id of the method of MCP servers.
const METHOD: &str = "oauth";

/// The name of a credential without a name of the user.
const LABEL: &str = "default";

/// Maximum length of a name, in characters.
const MAX_LABEL_CHARS: usize = 256;

/// Shows no more than this many characters of an id in a message.
const MAX_SHOWN_CHARS: usize = 64;

/// A request to connect to a service in a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectOauth {
    /// The integration.
    pub integration_id: String,
    /// Its method.
    pub method_id: String,
    /// The name of the new credential for users.
    pub label: Option<String>,
}

/// The integrations of a host.
pub(crate) struct Integrations {
    journal: Arc<Journal>,
    oauth: OAuth,
    servers: Arc<McpServers>,
    attempts: Arc<Attempts>,
    credentials: Arc<Credentials>,
    locations: Arc<Locations>,
}

impl Integrations {
    pub(crate) fn new(
        journal: Arc<Journal>,
        credentials: Arc<Credentials>,
        locations: Arc<Locations>,
        oauth: OAuth,
        servers: Arc<McpServers>,
        timer: Arc<dyn Timer>,
        closing: CancellationToken,
    ) -> Self {
        let keys = providers::loader(Arc::clone(&credentials));
        locations.stored_keys().load_with(keys);
        let attempts = Arc::new(Attempts::new(timer, Arc::clone(&servers), closing));
        Self {
            journal,
            oauth,
            servers,
            attempts,
            credentials,
            locations,
        }
    }

    /// Returns the integrations of a Location: its servers in their order, then the providers.
    pub(crate) async fn list(
        &self,
        location: &Location,
    ) -> Result<Vec<IntegrationInfo>, RuntimeError> {
        let listed = self.credentials.listed().await?.into_iter();
        let (of_servers, of_providers): (Vec<_>, Vec<_>) =
            listed.partition(|it| providers::is_of_server(&it.integration_id));
        // The value decides whether it connects to the server that the configuration has now.
        let of_servers = self.credentials.with_values(of_servers).await?;
        let servers = self.servers.remote_servers(location);
        let mut integrations: Vec<_> = servers
            .iter()
            .map(|server| described(server, &of_servers))
            .collect();
        let environment = self.locations.environment();
        let is_set = |name: &str| environment.variable(name).is_some();
        integrations.extend(providers::described(location, &of_providers, is_set));
        Ok(integrations)
    }

    /// Returns an integration of a Location.
    pub(crate) async fn get(
        &self,
        location: &Location,
        id: &str,
    ) -> Result<Option<IntegrationInfo>, RuntimeError> {
        let found = self.list(location).await?;
        Ok(found.into_iter().find(|integration| integration.id == id))
    }

    /// Stores the key of a provider. It replaces the former one.
    pub(crate) async fn connect_key(
        &self,
        location: &Location,
        id: &str,
        key: &str,
        label: Option<&str>,
    ) -> Result<(), RuntimeError> {
        let known = location.catalogue.known_providers();
        if !known.iter().any(|known| known.id == id) {
            self.server(location, id)?;
            let message = format!("The integration {} has no method with a key", shown(id));
            return Err(refused("integrationID", message));
        }
        let label = label.unwrap_or(LABEL);
        check_label(label)?;
        providers::check_key(key).map_err(|problem| refused("key", problem))?;
        let value = providers::value_of(key);
        self.credentials.insert(id, label, value, true).await?;
        let key = opencode_llm::Secret::new(key);
        self.locations.stored_keys().set(id, Some(key));
        self.announce(Some(id.to_owned()));
        self.announce_models();
        Ok(())
    }

    /// Notifies connected clients that the models of the open Locations may have changed.
    fn announce_models(&self) {
        for directory in self.locations.open_directories() {
            let location = LocationRef {
                directory,
                workspace_id: None,
            };
            let notice = Notice::CatalogUpdated(Nothing {});
            self.journal.announcer.notify(Some(&location), &notice);
        }
    }

    /// Begins an attempt to connect in a browser.
    pub(crate) async fn connect_oauth(
        &self,
        location: &Location,
        request: ConnectOauth,
    ) -> Result<IntegrationAttempt, RuntimeError> {
        let id = &request.integration_id;
        let server = self.server(location, id)?;
        if request.method_id != METHOD {
            let shown = (shown(id), shown(&request.method_id));
            let message = format!("The integration {} has no method {}", shown.0, shown.1);
            return Err(refused("methodID", message));
        }
        let label = request.label.as_deref().unwrap_or(LABEL);
        check_label(label)?;
        let place = self.attempts.reserve()?;
        let authorization = self.oauth.authorize(&server, label).await;
        let authorization = authorization.map_err(|error| begin_failure(id, error))?;
        let (url, mode) = (authorization.page().to_string(), authorization.mode());
        let (attempt_id, now) = (self.journal.ids.next("con", false), self.journal.now());
        let attempts = &self.attempts;
        let time = attempts.begin(place, attempt_id.clone(), now, server, authorization);
        Ok(IntegrationAttempt {
            attempt_id,
            url,
            instructions: instructions(mode).to_owned(),
            mode: match mode {
                AnswerMode::Redirect => IntegrationAttemptMode::Auto,
                AnswerMode::Entered => IntegrationAttemptMode::Code,
            },
            time,
        })
    }

    /// Returns the state of an attempt.
    pub(crate) fn attempt(&self, id: &str) -> Result<IntegrationAttemptStatus, RuntimeError> {
        let status = self.attempts.status(id);
        status.ok_or_else(|| unknown_attempt(id))
    }

    /// Completes an attempt with the input of the user.
    pub(crate) async fn complete(
        &self,
        id: &str,
        code: Option<String>,
    ) -> Result<(), RuntimeError> {
        self.attempts.complete(id, code).await
    }

    /// Cancels an attempt. Ignores an unknown id.
    pub(crate) fn cancel(&self, id: &str) {
        self.attempts.cancel(id);
    }

    /// Renames a credential. Ignores an unknown id.
    pub(crate) async fn rename_credential(
        &self,
        id: String,
        label: String,
    ) -> Result<(), RuntimeError> {
        check_label(&label)?;
        let changed = self.credentials.rename(id, label).await?;
        self.announce(changed);
        Ok(())
    }

    /// Removes a credential. Ignores an unknown id.
    pub(crate) async fn remove_credential(&self, id: String) -> Result<(), RuntimeError> {
        let changed = self.credentials.remove_row(&id).await?;
        self.oauth.forget();
        if let Some(integration) = changed.as_ref().filter(|id| !providers::is_of_server(id)) {
            self.locations.stored_keys().set(integration, None);
            self.announce_models();
        }
        self.announce(changed);
        // The program may be slow. The key is out of use already, also if the caller no longer waits.
        self.credentials.forget(&id).await;
        Ok(())
    }

    fn announce(&self, integration: Option<String>) {
        if let Some(id) = integration {
            announce(&self.journal.announcer, &id);
        }
    }

    /// Returns the server of an integration.
    fn server(&self, location: &Location, id: &str) -> Result<RemoteServer, RuntimeError> {
        let servers = self.servers.remote_servers(location);
        let is_wanted = |server: &RemoteServer| integration_id(&server.name) == id;
        servers.into_iter().find(is_wanted).ok_or_else(|| {
            let message = format!("Unknown integration: {}", shown(id));
            refused("integrationID", message)
        })
    }
}

/// Creates the access to MCP servers with OAuth for a host.
pub(crate) fn oauth(
    journal: &Arc<Journal>,
    credentials: &Arc<Credentials>,
    clients: Arc<HttpClients>,
) -> OAuth {
    OAuth::new(OAuthServices {
        store: Arc::clone(credentials) as Arc<dyn CredentialStore>,
        clients: Arc::new(LlmClients(clients)),
        clock: Arc::clone(&journal.clock),
        limit: REQUEST_LIMIT,
        connections: Arc::new(Announced(Arc::clone(&journal.announcer))),
    })
}

/// Notifies connected clients of changed connections.
struct Announced(Arc<Announcer>);

impl Connections for Announced {
    fn changed(&self, integration: &str) {
        announce(&self.0, integration);
    }
}

fn announce(announcer: &Announcer, integration: &str) {
    let integration_id = integration.to_owned();
    let updated = IntegrationConnectionUpdated { integration_id };
    announcer.notify(None, &Notice::IntegrationConnectionUpdated(updated));
}

/// Returns the integration of a server. A stored value without tokens for the server is no connection.
fn described(server: &RemoteServer, stored: &[Credential]) -> IntegrationInfo {
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

fn instructions(mode: AnswerMode) -> &'static str {
    match mode {
        AnswerMode::Redirect => "Open the page and give your consent there.",
        AnswerMode::Entered => {
            "Open the page and give your consent there. Then enter the code, or the address to which the browser was redirected."
        }
    }
}

fn begin_failure(id: &str, error: AuthorizationError) -> RuntimeError {
    let message = format!("{} cannot be authorized: {error}", shown(id));
    match error {
        AuthorizationError::NeedsClientRegistration(_) => refused("integrationID", message),
        _ => RuntimeError::Unavailable {
            service: "integration.connect.oauth",
            message,
        },
    }
}

fn check_label(label: &str) -> Result<(), RuntimeError> {
    match label.chars().nth(MAX_LABEL_CHARS) {
        None => Ok(()),
        Some(_) => {
            let message = format!("A label has at most {MAX_LABEL_CHARS} characters");
            Err(refused("label", message))
        }
    }
}

fn unknown_attempt(id: &str) -> RuntimeError {
    refused("attemptID", format!("Unknown attempt: {}", shown(id)))
}

fn refused(field: &'static str, message: String) -> RuntimeError {
    RuntimeError::Integration { field, message }
}

/// An id as a message repeats it.
fn shown(id: &str) -> String {
    id.chars().take(MAX_SHOWN_CHARS).collect()
}
