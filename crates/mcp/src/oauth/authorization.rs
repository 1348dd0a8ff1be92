//! An authorization: the page for the browser, and the exchange of its answer.

use std::sync::Arc;

use opencode_oauth::{
    AuthorizationError, Browser, BrowserAnswer, Code, CodeProof, Expected, Http, Page, Redirect,
    TokenRefusal, scopes,
};
use url::Url;

use super::discovery::{Found, discover};
use super::ports::CredentialError;
use super::record::{Client, Record};
use super::registration::register;
use super::service::{OAuth, Shared, UNKNOWN_CLIENT, client_secret, is_protected};
use super::slot::{Held, Slot, join};
use crate::config::{OAuthOptions, RemoteServer};

/// The default port of the redirect address.
const PORT: u16 = 19876;

/// The path of the redirect address.
const PATH: &str = "/mcp/oauth/callback";

/// An authorization that waits for the user. Dropping it abandons it.
pub struct Authorization {
    /// The page that the user opens.
    pub page: Url,
    /// The consent of the user.
    pub browser: Browser,
    /// Exchanges the answer of the browser.
    pub exchange: Exchange,
}

/// Exchanges the answer of a browser for tokens.
pub struct Exchange {
    shared: Arc<Shared>,
    server: RemoteServer,
    pending: Pending,
}

/// The values that the exchange of the code needs.
struct Pending {
    slot: Arc<Slot>,
    record: Record,
    label: String,
    names_issuer: bool,
    scopes: Vec<String>,
    proof: CodeProof,
}

/// Returns the redirect address of a server.
fn redirect(options: &OAuthOptions) -> Result<Redirect, AuthorizationError> {
    let port = options.callback_port.unwrap_or(PORT);
    let default = || format!("http://127.0.0.1:{port}{PATH}");
    let uri = options.redirect_uri.clone().unwrap_or_else(default);
    Redirect::parse(uri, "oauth.redirect_uri")
}

impl OAuth {
    /// Begins an authorization. `label` is the name of the new credential.
    ///
    /// # Errors
    ///
    /// Fails with the reason why the authorization server of this server cannot be used.
    pub async fn authorize(
        &self,
        server: &RemoteServer,
        label: &str,
    ) -> Result<Authorization, AuthorizationError> {
        let failed = AuthorizationError::Failed;
        let Some(options) = &server.oauth else {
            return Err(failed("OAuth is switched off for this server".into()));
        };
        if !is_protected(server) {
            return Err(failed("tokens are sent to https addresses only".into()));
        }
        let shared = &self.shared;
        let slot = shared.slot(server);
        let http = shared.http(server);
        let refusal = slot.challenged();
        let found = discover(&http, server, refusal.as_ref()).await;
        let found = found.map_err(failed)?;
        let redirect = redirect(options)?;
        let redirect_uri = redirect.uri().to_owned();
        let browser = Browser::begin(&shared.services.callbacks, redirect).await?;
        let held = slot.held(&*shared.services.store).await;
        let held = held.map_err(|error| failed(error.to_string()))?;
        let needed = refusal.map(|refusal| refusal.scopes).unwrap_or_default();
        let mut pending = Pending {
            scopes: requested(options, &found, held.as_deref(), needed),
            record: record(server, &found, configured(server, &found)),
            label: label.to_owned(),
            names_issuer: found.names_issuer,
            proof: browser.proof().clone(),
            slot,
        };
        if options.client_id.is_none() {
            let client = pending.client(shared, &http, held, &found, &redirect_uri);
            client.await?;
        }
        let page = browser.page(&Page {
            endpoint: &found.authorization_endpoint,
            client_id: &pending.record.client.id,
            scopes: &pending.scopes,
            parameters: &[("resource", &pending.record.resource)],
        });
        Ok(Authorization {
            page,
            browser,
            exchange: Exchange {
                shared: Arc::clone(shared),
                server: server.clone(),
                pending,
            },
        })
    }
}

impl Shared {
    fn is_usable(&self, client: &Client, redirect_uri: &str) -> bool {
        let is_valid = client.secret_expires.is_none_or(|end| self.now() < end);
        is_valid && client.redirect_uri.as_deref() == Some(redirect_uri)
    }

    /// Stores a record in the place of the credential of its server.
    async fn save(
        &self,
        slot: &Slot,
        label: &str,
        record: Record,
    ) -> Result<(), AuthorizationError> {
        let failed = |reason: String| AuthorizationError::Failed(reason);
        let store = &*self.services.store;
        let value = record.stored().map_err(failed)?;
        let stored = async {
            if let Some(held) = slot.held(store).await? {
                let label = record.tokens.as_ref().map(|_| label);
                if store.update(&held.id, label, value.clone()).await? {
                    return Ok(held.id.clone());
                }
            }
            store.insert(&slot.integration, label, value).await
        };
        let id = stored.await;
        let id = id.map_err(|error: CredentialError| failed(error.to_string()))?;
        slot.put(Arc::new(Held { id, record }));
        Ok(())
    }
}

/// Returns the client of the configuration.
fn configured(server: &RemoteServer, found: &Found) -> Client {
    let options = server.oauth.as_ref();
    let id = options.and_then(|options| options.client_id.clone());
    Client {
        id: id.unwrap_or_default(),
        secret: None,
        secret_expires: None,
        redirect_uri: None,
        secret_in_body: found.secret_in_body,
    }
}

fn record(server: &RemoteServer, found: &Found, client: Client) -> Record {
    let (issuer, endpoint) = (found.issuer.clone(), found.token_endpoint.clone());
    Record::new(
        &server.url,
        issuer,
        endpoint,
        found.resource.clone(),
        client,
    )
}

/// Returns the scopes of an authorization: those of the configuration, else those that the server asked for, together
/// with the granted ones, else those that the server lists.
fn requested(
    options: &OAuthOptions,
    found: &Found,
    held: Option<&Held>,
    needed: Vec<String>,
) -> Vec<String> {
    let granted = held.and_then(|held| held.record.tokens.as_ref());
    let granted = granted.map_or(&[][..], |grant| &grant.scopes);
    let mut scopes = match &options.scope {
        Some(configured) => scopes(configured),
        None if needed.is_empty() && granted.is_empty() => found.scopes.clone(),
        None => Vec::new(),
    };
    join(&mut scopes, &needed);
    join(&mut scopes, granted);
    if options.scope.is_none() && !scopes.is_empty() && found.has_offline_access {
        join(&mut scopes, &["offline_access".to_owned()]);
    }
    scopes
}

impl Pending {
    /// Takes the client that this host registered earlier, or registers one. A new client is stored at once, so that a
    /// later authorization uses it too, unless its record would replace tokens.
    async fn client(
        &mut self,
        shared: &Shared,
        http: &Http,
        held: Option<Arc<Held>>,
        found: &Found,
        redirect_uri: &str,
    ) -> Result<(), AuthorizationError> {
        let known = held.as_ref().map(|held| &held.record);
        let known = known.filter(|record| record.issuer == found.issuer);
        if let Some(known) = known
            && shared.is_usable(&known.client, redirect_uri)
        {
            self.record.client = known.client.clone();
            return Ok(());
        }
        self.record.client = register(http, found, redirect_uri, &self.scopes).await?;
        if held.is_none_or(|held| held.record.tokens.is_none()) {
            let record = self.record.clone();
            shared.save(&self.slot, &self.label, record).await?;
        }
        Ok(())
    }

    async fn exchange(
        mut self,
        shared: &Shared,
        server: &RemoteServer,
        answer: BrowserAnswer,
    ) -> Result<(), AuthorizationError> {
        let code = answer.code(Some(&Expected {
            issuer: &self.record.issuer,
            names_issuer: self.names_issuer,
        }))?;
        let http = shared.http(server);
        let secret = client_secret(server, &self.record);
        let endpoint = self.record.endpoint(secret.as_ref());
        let code = Code {
            code: &code,
            proof: &self.proof,
        };
        let granted = endpoint.exchange(&http, code, &self.scopes, shared.now());
        match granted.await {
            Ok(grant) => self.record.tokens = Some(grant),
            Err(TokenRefusal::Grant) => {
                let message = "the code has expired, or was used already";
                return Err(AuthorizationError::Refused(message.into()));
            }
            Err(TokenRefusal::Client) => {
                if self.record.client.redirect_uri.is_none() {
                    return Err(AuthorizationError::Failed(UNKNOWN_CLIENT.into()));
                }
                self.record.client.redirect_uri = None;
                shared.save(&self.slot, &self.label, self.record).await?;
                let message = "the authorization server does not know this client; try again";
                return Err(AuthorizationError::Failed(message.into()));
            }
            Err(TokenRefusal::Other(reason)) => return Err(AuthorizationError::Failed(reason)),
        }
        shared.save(&self.slot, &self.label, self.record).await?;
        self.slot.consent();
        shared.services.connections.changed(&self.slot.integration);
        Ok(())
    }
}

impl Exchange {
    /// Exchanges the answer for tokens and stores them. The exchange runs to its end even if the caller drops the
    /// future.
    ///
    /// # Errors
    ///
    /// Fails if the user or the authorization server refused.
    pub async fn finish(self, answer: BrowserAnswer) -> Result<(), AuthorizationError> {
        let (shared, server, pending) = (self.shared, self.server, self.pending);
        let tasks = shared.tasks.clone();
        let exchange = opencode_log::spawn_tracked(&tasks, async move {
            pending.exchange(&shared, &server, answer).await
        });
        let ended = |_| AuthorizationError::Failed("the exchange ended early".into());
        exchange.await.map_err(ended)?
    }
}
