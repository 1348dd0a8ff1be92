//! Sign-ins of users at providers of models.
//!
//! `flows` are the two ways to sign in. `token` renews the access token of a sign-in.

mod flows;
mod token;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use opencode_location::catalogue::{SignIn, StoredKey};
use opencode_net::HttpClients;
use opencode_oauth::{Callbacks, Grant, Http, REQUEST_LIMIT, Reach, Redirect, TokenEndpoint};
use opencode_schema::clock::Millis;
use opencode_schema::integration::IntegrationMethod;
use opencode_secrets::Secret;
use serde::{Deserialize, Serialize};
use tokio_util::task::TaskTracker;
use url::Url;

use super::credentials::Credentials;
use crate::journal::Journal;
use crate::timer::Timer;

use token::SignInToken;

/// Maximum time that closing waits for exchanges and renewals: a provider that has answered may have ended the former
/// token.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

/// The refusal of the client of the program.
const UNKNOWN_CLIENT: &str = "the provider does not accept the client; check `clientId` and `clientSecret` of the option `oauth`";

/// OAuth of a provider of models, for the application of the program.
#[derive(Debug, Clone)]
pub struct ProviderOAuth {
    /// The id of the application at the provider.
    pub client_id: String,
    /// Its secret, if it has one.
    pub client_secret: Option<Secret>,
    /// The token endpoint.
    pub token_url: Url,
    /// The authorization endpoint. Without it users cannot sign in in a browser.
    pub authorization_url: Option<Url>,
    /// The device endpoint. Without it users cannot sign in with a code.
    pub device_url: Option<Url>,
    /// The redirect address.
    pub redirect: Redirect,
    /// The scopes to request.
    pub scopes: Vec<String>,
    /// Other parameters of the request for a consent.
    pub parameters: Vec<(String, String)>,
}

/// A way to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Method {
    /// The user gives consent in a browser on this machine.
    Browser,
    /// The user enters a code on a page on any device.
    Device,
}

impl Method {
    const ALL: [Self; 2] = [Self::Browser, Self::Device];

    fn id(self) -> &'static str {
        match self {
            Self::Browser => "browser",
            Self::Device => "device",
        }
    }

    fn of(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.id() == id)
    }

    fn label(self) -> &'static str {
        match self {
            Self::Browser => "Sign in in the browser",
            Self::Device => "Sign in with a code on any device",
        }
    }
}

impl ProviderOAuth {
    fn endpoint(&self) -> TokenEndpoint<'_> {
        TokenEndpoint {
            address: &self.token_url,
            client_id: &self.client_id,
            client_secret: self.client_secret.as_ref(),
            // Not each provider reads the header.
            secret_in_body: true,
            resource: None,
        }
    }

    fn offers(&self, method: Method) -> bool {
        match method {
            Method::Browser => self.authorization_url.is_some(),
            Method::Device => self.device_url.is_some(),
        }
    }
}

/// The stored form of a sign-in.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StoredSignIn {
    #[serde(rename = "methodID")]
    method: Method,
    /// The application that received the tokens.
    client_id: String,
    /// The endpoint that gave the tokens. The refresh token is sent to no other one.
    token_url: String,
    #[serde(flatten)]
    grant: Grant,
}

impl StoredSignIn {
    fn is_of(&self, oauth: &ProviderOAuth) -> bool {
        self.client_id == oauth.client_id && self.token_url == oauth.token_url.as_str()
    }
}

/// The sign-ins of a host.
#[derive(Clone)]
pub(super) struct SignIns(Arc<Services>);

/// The services that sign-ins use. They must not know the stored keys, which own sign-ins.
pub(super) struct Services {
    /// The settings by provider.
    pub(super) oauth: BTreeMap<String, Arc<ProviderOAuth>>,
    pub(super) journal: Arc<Journal>,
    pub(super) credentials: Arc<Credentials>,
    pub(super) clients: HttpClients,
    pub(super) callbacks: Arc<Callbacks>,
    pub(super) timer: Arc<dyn Timer>,
    /// Exchanges and renewals. They run to their end even if their caller goes away.
    pub(super) tasks: TaskTracker,
}

impl SignIns {
    pub(super) fn new(services: Services) -> Self {
        Self(Arc::new(services))
    }

    /// Returns the ways to sign in at a provider.
    pub(super) fn methods(&self, provider: &str) -> impl Iterator<Item = IntegrationMethod> {
        let oauth = self.0.oauth.get(provider);
        let offered = move |method: &Method| oauth.is_some_and(|oauth| oauth.offers(*method));
        let methods = Method::ALL.into_iter().filter(offered);
        methods.map(|method| IntegrationMethod::Oauth {
            id: method.id().to_owned(),
            label: method.label().to_owned(),
            prompts: None,
        })
    }

    /// Returns a stored sign-in; `None` if it does not belong to the settings of its provider.
    pub(super) fn read(
        &self,
        provider: &str,
        credential: &str,
        stored: StoredSignIn,
    ) -> Option<StoredKey> {
        let oauth = self.0.oauth.get(provider)?;
        let is_usable = stored.is_of(oauth);
        is_usable.then(|| self.key(provider, credential, stored))
    }

    fn key(&self, provider: &str, credential: &str, stored: StoredSignIn) -> StoredKey {
        let services = Arc::clone(&self.0);
        let token = SignInToken::new(services, provider, credential, stored);
        StoredKey::SignIn(SignIn(Arc::new(token)))
    }

    /// Waits for exchanges and renewals that are under way.
    pub(super) async fn close(&self) {
        self.0.tasks.close();
        let ended = tokio::time::timeout(CLOSE_LIMIT, self.0.tasks.wait());
        if ended.await.is_err() {
            tracing::warn!("a provider did not answer a sign-in before the host closed");
        }
    }
}

impl Services {
    fn now(&self) -> Millis {
        self.journal.now()
    }

    fn http(&self, oauth: &ProviderOAuth) -> Http {
        Http {
            clients: self.clients.clone(),
            reach: Reach::of(&oauth.token_url),
            limit: REQUEST_LIMIT,
        }
    }
}
