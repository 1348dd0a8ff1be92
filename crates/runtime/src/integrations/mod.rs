//! Integrations: services that need credentials. These are the providers of models and the remote MCP servers of a
//! Location.
//!
//! `credentials` stores them, `providers` and `servers` describe the services, `sign_ins` are OAuth of providers,
//! `attempts` holds the authorizations that wait for users.

mod announcements;
mod attempts;
mod credentials;
mod provider_keys;
mod providers;
mod servers;
mod sign_ins;

use std::collections::BTreeMap;
use std::sync::Arc;

use opencode_location::catalogue::StoredKey;
use opencode_location::location::{Location, Locations};
use opencode_mcp::RemoteServer;
use opencode_mcp::oauth::{CredentialStore, OAuth, OAuthServices, integration_id};
use opencode_net::HttpClients;
use opencode_oauth::{AuthorizationError, Callbacks, REQUEST_LIMIT};
use opencode_schema::integration::{
    IntegrationAttempt, IntegrationAttemptMode, IntegrationAttemptStatus, IntegrationInfo,
};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::RuntimeError;
use crate::journal::Journal;
use crate::mcp::McpServers;
use crate::timer::Timer;
use announcements::{Announcements, ServerConnections};
use attempts::{Attempts, Begun};
pub use credentials::CredentialValues;
pub(crate) use credentials::Credentials;
use provider_keys::ProviderKeys;
pub use sign_ins::ProviderOAuth;
use sign_ins::SignIns;

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

/// The services that integrations use.
pub(crate) struct IntegrationServices {
    pub(crate) journal: Arc<Journal>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) locations: Arc<Locations>,
    pub(crate) servers: Arc<McpServers>,
    /// The authorizations of the host at MCP servers.
    pub(crate) oauth: OAuth,
    /// OAuth of providers, by provider.
    pub(crate) provider_oauth: BTreeMap<String, ProviderOAuth>,
    pub(crate) clients: HttpClients,
    pub(crate) callbacks: Arc<Callbacks>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) closing: CancellationToken,
}

/// The integrations of a host.
pub(crate) struct Integrations {
    journal: Arc<Journal>,
    oauth: OAuth,
    servers: Arc<McpServers>,
    sign_ins: SignIns,
    keys: ProviderKeys,
    attempts: Arc<Attempts>,
    credentials: Arc<Credentials>,
    locations: Arc<Locations>,
    announcements: Announcements,
}

impl Integrations {
    pub(crate) fn new(services: IntegrationServices) -> Self {
        let IntegrationServices {
            journal,
            credentials,
            locations,
            servers,
            oauth,
            ..
        } = services;
        let announcements = Announcements {
            announcer: Arc::clone(&journal.announcer),
            locations: Arc::clone(&locations),
        };
        let provider_oauth = services.provider_oauth.into_iter();
        let sign_ins = SignIns::new(sign_ins::Services {
            oauth: provider_oauth.map(|(id, it)| (id, Arc::new(it))).collect(),
            journal: Arc::clone(&journal),
            credentials: Arc::clone(&credentials),
            clients: services.clients,
            callbacks: services.callbacks,
            timer: Arc::clone(&services.timer),
            tasks: TaskTracker::new(),
        });
        let load = providers::loader(Arc::clone(&credentials), sign_ins.clone());
        locations.stored_keys().load_with(load);
        let keys = ProviderKeys {
            credentials: Arc::clone(&credentials),
            stored: locations.stored_keys().clone(),
            announcements: announcements.clone(),
        };
        Self {
            journal,
            oauth,
            servers,
            sign_ins,
            keys,
            attempts: Arc::new(Attempts::new(services.timer, services.closing)),
            credentials,
            locations,
            announcements,
        }
    }

    /// Waits for exchanges and renewals of tokens that are under way.
    pub(crate) async fn close(&self) {
        tokio::join!(self.oauth.close(), self.sign_ins.close());
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
            .map(|server| servers::described(server, &of_servers))
            .collect();
        let environment = self.locations.environment();
        let is_set = |name: &str| environment.variable(name).is_some();
        let described = providers::described(location, &of_providers, &self.sign_ins, is_set);
        integrations.extend(described);
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
        if !is_provider(location, id) {
            self.server(location, id)?;
            let message = format!("The integration {} has no method with a key", shown(id));
            return Err(refused("integrationID", message));
        }
        let label = label.unwrap_or(LABEL);
        check_label(label)?;
        providers::check_key(key).map_err(|problem| refused("key", problem))?;
        let value = providers::value_of(key);
        let key = |_: &str| StoredKey::Key(opencode_secrets::Secret::new(key));
        self.keys.set(id, label, value, key).await
    }

    /// Begins an attempt to connect with OAuth.
    pub(crate) async fn connect_oauth(
        &self,
        location: &Location,
        request: ConnectOauth,
    ) -> Result<IntegrationAttempt, RuntimeError> {
        let id = &request.integration_id;
        let label = request.label.as_deref().unwrap_or(LABEL);
        let no_method = || {
            let shown = (shown(id), shown(&request.method_id));
            let message = format!("The integration {} has no method {}", shown.0, shown.1);
            refused("methodID", message)
        };
        let server = match is_provider(location, id) {
            true => None,
            false => Some(self.server(location, id)?),
        };
        check_label(label)?;
        let place = self.attempts.reserve()?;
        let begun = match server {
            None => {
                let sign_ins = &self.sign_ins;
                let begun = sign_ins.begin(id, &request.method_id, label, &self.keys);
                begun.await.ok_or_else(no_method)?
            }
            Some(_) if request.method_id != servers::METHOD => return Err(no_method()),
            Some(server) => servers::begin(&self.oauth, &self.servers, server, label).await,
        };
        let Begun {
            url,
            instructions,
            consent,
        } = begun.map_err(|error| begin_failure(id, error))?;
        let mode = match consent.is_entered() {
            true => IntegrationAttemptMode::Code,
            false => IntegrationAttemptMode::Auto,
        };
        let (attempt_id, now) = (self.journal.ids.next("con", false), self.journal.now());
        let attempts = &self.attempts;
        let time = attempts.begin(place, attempt_id.clone(), now, consent);
        Ok(IntegrationAttempt {
            attempt_id,
            url,
            instructions,
            mode,
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
            self.keys.remove(integration);
        }
        self.announce(changed);
        // The program may be slow. The key is out of use already, also if the caller no longer waits.
        self.credentials.forget(&id).await;
        Ok(())
    }

    fn announce(&self, integration: Option<String>) {
        if let Some(id) = integration {
            self.announcements.connection(&id);
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
    clients: HttpClients,
    callbacks: Arc<Callbacks>,
) -> OAuth {
    OAuth::new(OAuthServices {
        store: Arc::clone(credentials) as Arc<dyn CredentialStore>,
        clients,
        clock: Arc::clone(&journal.clock),
        limit: REQUEST_LIMIT,
        callbacks,
        connections: Arc::new(ServerConnections(Arc::clone(&journal.announcer))),
    })
}

/// True for a provider of models that a Location may use.
fn is_provider(location: &Location, id: &str) -> bool {
    let known = location.catalogue.known_providers();
    known.iter().any(|known| known.id == id)
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
