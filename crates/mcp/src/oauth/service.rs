//! The access tokens of remote servers, from stored credentials.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_net::HttpClients;
use opencode_oauth::{Callbacks, Http, Reach, TokenRefusal, is_loopback};
use opencode_schema::clock::{Clock, Millis};
use opencode_secrets::Secret;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

use super::challenge::Parameters;
use super::discovery::discover;
use super::ports::{Connections, CredentialStore};
use super::record::Record;
use super::registration::unregistered;
use super::slot::{Held, Joined, Renewal, Slot};
use crate::config::RemoteServer;
use crate::tokens::{Challenge, TokenError, Tokens};

/// A token that is refused within this time after its renewal is not renewed again.
const RENEWED: Millis = 30 * 1000;

/// Maximum time to find out if a server needs a registered client.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Maximum time that closing waits for exchanges and renewals: an authorization server that has answered may have ended
/// the former token.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// The services that OAuth uses.
pub struct OAuthServices {
    /// Stores credentials.
    pub store: Arc<dyn CredentialStore>,
    /// Sends requests.
    pub clients: HttpClients,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Maximum time of a request to an authorization server; [`opencode_oauth::REQUEST_LIMIT`] by default.
    pub limit: Duration,
    /// The redirect addresses on this machine.
    pub callbacks: Arc<Callbacks>,
    /// Observes connections.
    pub connections: Arc<dyn Connections>,
}

/// OAuth for the remote servers of a host. Clones share their state.
#[derive(Clone)]
pub struct OAuth {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) services: OAuthServices,
    /// Exchanges and renewals. They run to their end even if their caller goes away.
    pub(super) tasks: TaskTracker,
    slots: Mutex<HashMap<(String, String), Arc<Slot>>>,
}

/// The refusal of a configured client.
pub(super) const UNKNOWN_CLIENT: &str = "the authorization server does not accept the client; check `oauth.client_id` and `oauth.client_secret`";

/// Returns the id of the integration of a server.
#[must_use]
pub fn integration_id(server: &str) -> String {
    format!("mcp:{server}")
}

impl OAuth {
    /// Creates the service. It reads nothing before the first use of a server.
    #[must_use]
    pub fn new(services: OAuthServices) -> Self {
        Self {
            shared: Arc::new(Shared {
                services,
                tasks: TaskTracker::new(),
                slots: Mutex::default(),
            }),
        }
    }

    /// True if a stored value contains tokens for this server.
    #[must_use]
    pub fn connects(server: &RemoteServer, value: &Secret) -> bool {
        let Some(record) = Record::read(value) else {
            return false;
        };
        let is_for = record.server_url == server.url.as_str();
        let id = String::new();
        is_for && Held { id, record }.tokens(server).is_some()
    }

    /// Reads the credentials again at their next use. Call it after a credential was removed.
    pub fn forget(&self) {
        for slot in self.shared.slots.lock().values() {
            slot.forget();
        }
    }

    /// Waits for exchanges and renewals that are under way.
    pub async fn close(&self) {
        self.shared.tasks.close();
        let ended = tokio::time::timeout(CLOSE_LIMIT, self.shared.tasks.wait());
        if ended.await.is_err() {
            tracing::warn!("an authorization server did not answer before the host closed");
        }
    }
}

impl Shared {
    pub(super) fn now(&self) -> Millis {
        self.services.clock.now()
    }

    pub(super) fn http(&self, server: &RemoteServer) -> Http {
        Http {
            clients: self.services.clients.clone(),
            reach: Reach::of(&server.url),
            limit: self.services.limit,
        }
    }

    pub(super) fn slot(&self, server: &RemoteServer) -> Arc<Slot> {
        let integration = integration_id(&server.name);
        let key = (integration.clone(), server.url.to_string());
        let create = || Arc::new(Slot::new(integration, server.url.clone()));
        Arc::clone(self.slots.lock().entry(key).or_insert_with(create))
    }

    pub(super) async fn held(&self, slot: &Slot) -> Result<Option<Arc<Held>>, TokenError> {
        let held = slot.held(&*self.services.store).await;
        held.map_err(|error| TokenError::Failed(error.to_string()))
    }

    /// Returns the token for a request.
    async fn token(self: &Arc<Self>, server: &RemoteServer) -> Result<Option<Secret>, TokenError> {
        if !is_protected(server) {
            return Ok(None);
        }
        let slot = self.slot(server);
        let Some(held) = self.held(&slot).await? else {
            return Ok(None);
        };
        let Some(grant) = held.tokens(server) else {
            return Ok(None);
        };
        let now = self.now();
        if grant.renew.is_none_or(|time| now < time) {
            return Ok(Some(grant.access.clone()));
        }
        let usable = || {
            let is_valid = grant.expires.is_some_and(|end| now < end);
            is_valid.then(|| grant.access.clone())
        };
        if grant.refresh.is_none() {
            return usable().map(Some).ok_or(TokenError::NeedsAuth);
        }
        let renewed = match slot.rests(now) {
            Some(reason) => Err(reason),
            None => self.renewed(&slot, server, &held).await,
        };
        match renewed {
            Ok(token) => Ok(Some(token)),
            Err(TokenError::NeedsAuth) => Err(TokenError::NeedsAuth),
            // The old token is still valid.
            Err(error) => usable().map(Some).ok_or(error),
        }
    }

    /// Returns the token after a refusal.
    async fn after_refusal(
        self: &Arc<Self>,
        server: &RemoteServer,
        challenge: Challenge,
    ) -> Result<Secret, TokenError> {
        if server.oauth.is_none() {
            return Err(TokenError::NeedsAuth);
        }
        if !is_protected(server) {
            let message = "tokens are sent to https addresses only";
            return Err(TokenError::Failed(message.into()));
        }
        let slot = self.slot(server);
        let header = challenge.www_authenticate.as_deref();
        let parameters = Parameters::read(header.unwrap_or_default());
        let has_few_scopes = parameters.error.as_deref() == Some("insufficient_scope");
        slot.challenge(parameters);
        let held = self.held(&slot).await?;
        let granted = held
            .as_ref()
            .and_then(|held| Some((held, held.tokens(server)?)));
        let Some((held, grant)) = granted else {
            return Err(self.missing(server, held.as_deref()).await);
        };
        let sent = challenge.token.unwrap_or_default();
        if !grant.access.is(&sent) {
            return Ok(grant.access.clone());
        }
        // Renewed tokens have the same scopes: the user must give consent.
        let needs_consent = has_few_scopes || challenge.status == 403 || grant.refresh.is_none();
        if needs_consent || slot.is_renewed_within(self.now(), RENEWED) {
            return Err(TokenError::NeedsAuth);
        }
        self.renewed(&slot, server, held).await
    }

    /// Returns the reason why there is no token.
    async fn missing(&self, server: &RemoteServer, held: Option<&Held>) -> TokenError {
        let configured = server.oauth.as_ref().and_then(|it| it.client_id.as_ref());
        let registered = held.and_then(|held| held.record.client.redirect_uri.as_ref());
        if configured.is_some() || registered.is_some() {
            return TokenError::NeedsAuth;
        }
        let challenge = self.slot(server).challenged();
        let http = self.http(server);
        let found = discover(&http, server, challenge.as_ref());
        match tokio::time::timeout(PROBE_LIMIT, found).await {
            Ok(Ok(found)) if found.registration_endpoint.is_none() => {
                TokenError::NeedsClientRegistration(unregistered(&found))
            }
            Ok(Err(reason)) => {
                tracing::warn!(server = server.name, reason, "no authorization server");
                TokenError::NeedsAuth
            }
            Ok(Ok(_)) | Err(_) => TokenError::NeedsAuth,
        }
    }

    /// Renews the token. Calls at the same time share one request.
    async fn renewed(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        server: &RemoteServer,
        held: &Arc<Held>,
    ) -> Result<Secret, TokenError> {
        let begin = || self.begin_renewal(Arc::clone(slot), server.clone(), Arc::clone(held));
        match slot.renew(held, begin) {
            Joined::Renewed(token) => Ok(token),
            Joined::Waits(renewal) => renewal.await,
        }
    }

    fn begin_renewal(
        self: &Arc<Self>,
        slot: Arc<Slot>,
        server: RemoteServer,
        held: Arc<Held>,
    ) -> Renewal {
        let shared = Arc::clone(self);
        let (answer, renewed) = oneshot::channel();
        opencode_log::spawn_tracked(&self.tasks, async move {
            let ended = EndRenewal(slot);
            let renewed = shared.renew(&ended.0, &server, &held).await;
            if let Err(error) = &renewed {
                tracing::warn!(server = server.name, %error, "the access token was not renewed");
            }
            drop(ended);
            let _ = answer.send(renewed);
        });
        let panicked = || TokenError::Failed("the renewal ended early".into());
        let outcome = renewed.map(move |sent| sent.unwrap_or_else(|_| Err(panicked())));
        outcome.boxed().shared()
    }

    async fn renew(
        &self,
        slot: &Slot,
        server: &RemoteServer,
        held: &Arc<Held>,
    ) -> Result<Secret, TokenError> {
        let grant = held.tokens(server).ok_or(TokenError::NeedsAuth)?;
        let refresh = grant.refresh.as_ref().ok_or(TokenError::NeedsAuth)?;
        let secret = client_secret(server, &held.record);
        let endpoint = held.record.endpoint(secret.as_ref());
        let http = self.http(server);
        let answer = endpoint
            .renew(&http, refresh, &grant.scopes, self.now())
            .await;
        let mut record = held.record.clone();
        let refused = match answer {
            Ok(grant) => {
                record.tokens = Some(grant);
                false
            }
            Err(TokenRefusal::Grant) => {
                record.tokens = None;
                true
            }
            Err(TokenRefusal::Client) if record.client.redirect_uri.is_none() => {
                // The user corrects the configuration, and the tokens stay valid.
                let error = TokenError::Failed(UNKNOWN_CLIENT.into());
                slot.fail(self.now(), error.clone());
                return Err(error);
            }
            Err(TokenRefusal::Client) => {
                record.tokens = None;
                // A later authorization registers a new client.
                record.client.redirect_uri = None;
                true
            }
            Err(TokenRefusal::Other(reason)) => {
                let error = TokenError::Failed(reason);
                slot.fail(self.now(), error.clone());
                return Err(error);
            }
        };
        let failed = |reason: String| TokenError::Failed(reason);
        let value = record.stored().map_err(failed)?;
        // Stored before it is used: the server may have ended the former refresh token.
        let stored = self.services.store.update(&held.id, None, value).await;
        let is_stored = stored.map_err(|error| failed(error.to_string()))?;
        let token = record.tokens.as_ref().map(|grant| grant.access.clone());
        let id = held.id.clone();
        let new = is_stored.then(|| Arc::new(Held { id, record }));
        slot.replace(held, new, (!refused).then(|| self.now()));
        if refused {
            self.services.connections.changed(&slot.integration);
        }
        token.filter(|_| is_stored).ok_or(TokenError::NeedsAuth)
    }
}

/// Ends a renewal, even after a panic.
struct EndRenewal(Arc<Slot>);

impl Drop for EndRenewal {
    fn drop(&mut self) {
        self.0.end_renewal();
    }
}

/// Returns the secret of the client: that of the configuration, else the registered one.
pub(super) fn client_secret(server: &RemoteServer, record: &Record) -> Option<Secret> {
    let options = server.oauth.as_ref()?;
    match &options.client_id {
        Some(_) => options.client_secret.as_deref().map(Secret::new),
        None => record.client.secret.clone(),
    }
}

/// True if tokens may be sent to a server: over TLS, or within this machine.
pub(super) fn is_protected(server: &RemoteServer) -> bool {
    let is_safe = server.url.scheme() == "https" || is_loopback(&server.url);
    server.oauth.is_some() && is_safe
}

impl Tokens for OAuth {
    fn access_token<'a>(
        &'a self,
        server: &'a RemoteServer,
    ) -> BoxFuture<'a, Result<Option<String>, TokenError>> {
        let token = async {
            let token = self.shared.token(server).await?;
            Ok(token.map(|token| token.expose().to_owned()))
        };
        token.boxed()
    }

    fn refused<'a>(
        &'a self,
        server: &'a RemoteServer,
        challenge: Challenge,
    ) -> BoxFuture<'a, Result<String, TokenError>> {
        let token = async {
            let token = self.shared.after_refusal(server, challenge).await?;
            Ok(token.expose().to_owned())
        };
        token.boxed()
    }
}
