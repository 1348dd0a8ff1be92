//! An authorization: the page for the browser, and the exchange of its answer.

use std::sync::Arc;

use url::Url;

use super::answer::{Answer, Expected};
use super::callback::Arrival;
use super::discovery::{Found, discover};
use super::endpoint::{TokenRefusal, exchange, register};
use super::error::AuthorizationError;
use super::http::{Http, is_loopback};
use super::ports::CredentialError;
use super::proof::{challenge, random};
use super::record::{Client, Record};
use super::secret::Secret;
use super::service::{OAuth, Shared, UNKNOWN_CLIENT, client_secret, is_protected};
use super::slot::{Held, Slot, join};
use crate::config::{OAuthOptions, RemoteServer};

/// The default port of the redirect address.
const PORT: u16 = 19876;

/// The path of the redirect address.
const PATH: &str = "/mcp/oauth/callback";

/// The way in which an authorization receives the answer of the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerMode {
    /// The host listens at the redirect address.
    Redirect,
    /// The user enters the code, or the address to which the browser was redirected.
    Entered,
}

/// An authorization that waits for the user. Dropping it abandons it.
pub struct Authorization {
    shared: Arc<Shared>,
    server: RemoteServer,
    page: Url,
    arrival: Option<Arrival>,
    pending: Pending,
}

/// The values that the exchange of the code needs.
struct Pending {
    slot: Arc<Slot>,
    record: Record,
    label: String,
    names_issuer: bool,
    redirect_uri: String,
    scopes: Vec<String>,
    state: Secret,
    verifier: Secret,
}

/// The answer of a browser, for [`Authorization::finish`].
pub struct BrowserAnswer(Answer);

/// The redirect address.
struct Redirect {
    uri: String,
    /// The port and the path, if it is an address of this machine.
    local: Option<(u16, String)>,
}

impl Redirect {
    fn of(options: &OAuthOptions) -> Result<Self, AuthorizationError> {
        let port = options.callback_port.unwrap_or(PORT);
        let default = || format!("http://127.0.0.1:{port}{PATH}");
        let uri = options.redirect_uri.clone().unwrap_or_else(default);
        let url = Url::parse(&uri).ok().filter(|url| url.fragment().is_none());
        let url = url.ok_or_else(|| {
            AuthorizationError::Failed("`oauth.redirect_uri` is not a redirect address".into())
        })?;
        // The listener has an IPv4 address.
        let is_local = url.scheme() == "http" && is_loopback(&url) && !uri.contains("://[");
        let local = url.port_or_known_default().filter(|_| is_local);
        Ok(Self {
            local: local.map(|port| (port, url.path().to_owned())),
            uri,
        })
    }
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
        let redirect = Redirect::of(options)?;
        let (state, verifier) = (random().map_err(failed)?, random().map_err(failed)?);
        let arrival = match &redirect.local {
            Some((port, path)) => shared.callbacks.expect(*port, path, &state).await,
            None => None,
        };
        let held = slot.held(&*shared.services.store).await;
        let held = held.map_err(|error| failed(error.to_string()))?;
        let needed = refusal.map(|refusal| refusal.scopes).unwrap_or_default();
        let mut pending = Pending {
            scopes: requested(options, &found, held.as_deref(), needed),
            record: record(server, &found, configured(server, &found)),
            label: label.to_owned(),
            names_issuer: found.names_issuer,
            redirect_uri: redirect.uri,
            slot,
            state,
            verifier,
        };
        if options.client_id.is_none() {
            pending.client(shared, &http, held, &found).await?;
        }
        Ok(Authorization {
            shared: Arc::clone(shared),
            server: server.clone(),
            page: pending.page(&found),
            arrival,
            pending,
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
        Some(configured) => super::challenge::scopes(configured),
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
    ) -> Result<(), AuthorizationError> {
        let known = held.as_ref().map(|held| &held.record);
        let known = known.filter(|record| record.issuer == found.issuer);
        if let Some(known) = known
            && shared.is_usable(&known.client, &self.redirect_uri)
        {
            self.record.client = known.client.clone();
            return Ok(());
        }
        self.record.client = register(http, found, &self.redirect_uri, &self.scopes).await?;
        if held.is_none_or(|held| held.record.tokens.is_none()) {
            let record = self.record.clone();
            shared.save(&self.slot, &self.label, record).await?;
        }
        Ok(())
    }

    /// Returns the page for the browser.
    fn page(&self, found: &Found) -> Url {
        let mut page = found.authorization_endpoint.clone();
        let mut query = page.query_pairs_mut();
        query.append_pair("response_type", "code");
        query.append_pair("client_id", &self.record.client.id);
        query.append_pair("redirect_uri", &self.redirect_uri);
        query.append_pair("state", self.state.expose());
        query.append_pair("code_challenge", &challenge(&self.verifier));
        query.append_pair("code_challenge_method", "S256");
        query.append_pair("resource", &self.record.resource);
        if !self.scopes.is_empty() {
            query.append_pair("scope", &self.scopes.join(" "));
        }
        drop(query);
        page
    }

    async fn exchange(
        mut self,
        shared: &Shared,
        server: &RemoteServer,
        answer: Answer,
    ) -> Result<(), AuthorizationError> {
        let code = answer.code(&Expected {
            issuer: &self.record.issuer,
            names_issuer: self.names_issuer,
        })?;
        let http = shared.http(server);
        let secret = client_secret(server, &self.record);
        let code = (&code, &self.verifier, self.redirect_uri.as_str());
        let (record, secret, now) = (&self.record, secret.as_ref(), shared.now());
        let granted = exchange(&http, record, secret, code, &self.scopes, now).await;
        match granted {
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

impl Authorization {
    /// Returns the page that the user opens.
    #[must_use]
    pub fn page(&self) -> &Url {
        &self.page
    }

    /// Returns the way in which the answer of the browser arrives.
    #[must_use]
    pub fn mode(&self) -> AnswerMode {
        match self.arrival {
            Some(_) => AnswerMode::Redirect,
            None => AnswerMode::Entered,
        }
    }

    /// Waits for the answer of the browser. Never completes if the user enters it.
    pub async fn answered(&mut self) -> BrowserAnswer {
        if let Some(arrival) = &mut self.arrival
            && let Some(answer) = arrival.answer().await
        {
            return BrowserAnswer(answer);
        }
        std::future::pending().await
    }

    /// Reads the input of the user: the code, or the address to which the browser was redirected.
    ///
    /// # Errors
    ///
    /// Fails if the input does not belong to this authorization.
    pub fn entered(&self, input: &str) -> Result<BrowserAnswer, AuthorizationError> {
        Answer::pasted(input, &self.pending.state).map(BrowserAnswer)
    }

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
            pending.exchange(&shared, &server, answer.0).await
        });
        let ended = |_| AuthorizationError::Failed("the exchange ended early".into());
        exchange.await.map_err(ended)?
    }
}
