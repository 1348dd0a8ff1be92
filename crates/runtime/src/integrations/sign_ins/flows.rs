//! The two ways to sign in: in a browser, and with a code on any device.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use opencode_oauth::{
    AuthorizationError, Browser, BrowserAnswer, Code, CodeProof, DeviceCode, DevicePoll, Grant,
    Page, TokenRefusal,
};
use tokio_util::task::TaskTracker;
use url::Url;

use super::{Method, ProviderOAuth, SignIns, StoredSignIn, UNKNOWN_CLIENT};
use crate::integrations::attempts::{Begun, Consent, Outcome};
use crate::integrations::provider_keys::ProviderKeys;
use crate::integrations::providers::sign_in_value;

/// The additional wait after a provider asks for fewer questions (RFC 8628).
const SLOWER: Duration = Duration::from_secs(5);

/// The provider and the name of a sign-in that is under way.
struct Pending {
    sign_ins: SignIns,
    keys: ProviderKeys,
    oauth: Arc<ProviderOAuth>,
    provider: String,
    label: String,
}

impl SignIns {
    /// Begins a sign-in; `None` if the provider has no such method.
    pub(in crate::integrations) async fn begin(
        &self,
        provider: &str,
        method_id: &str,
        label: &str,
        keys: &ProviderKeys,
    ) -> Option<Result<Begun, AuthorizationError>> {
        let oauth = self.0.oauth.get(provider)?;
        let pending = Pending {
            sign_ins: self.clone(),
            keys: keys.clone(),
            oauth: Arc::clone(oauth),
            provider: provider.to_owned(),
            label: label.to_owned(),
        };
        Some(match Method::of(method_id)? {
            Method::Browser => pending.browser(oauth.authorization_url.as_ref()?).await,
            Method::Device => pending.device(oauth.device_url.as_ref()?).await,
        })
    }
}

impl Pending {
    async fn browser(self, endpoint: &Url) -> Result<Begun, AuthorizationError> {
        let oauth = &self.oauth;
        let callbacks = &self.sign_ins.0.callbacks;
        let browser = Browser::begin(callbacks, oauth.redirect.clone()).await?;
        let page = browser.page(&Page {
            endpoint,
            client_id: &oauth.client_id,
            scopes: &oauth.scopes,
            parameters: &parameters(oauth),
        });
        let proof = browser.proof().clone();
        let finish = move |answer| self.finish(proof, answer).boxed();
        let finish = Box::new(finish);
        Ok(Begun::in_browser(page, browser, finish))
    }

    /// Exchanges the answer of the browser. The exchange runs to its end even if the caller drops the future.
    async fn finish(self, proof: CodeProof, answer: BrowserAnswer) -> Outcome {
        let services = Arc::clone(&self.sign_ins.0);
        let tasks = services.tasks.clone();
        let exchange = async move {
            let oauth = &self.oauth;
            let code = answer.code(None)?;
            let code = Code {
                code: &code,
                proof: &proof,
            };
            let (http, now) = (services.http(oauth), services.now());
            let endpoint = oauth.endpoint();
            let granted = endpoint.exchange(&http, code, &oauth.scopes, now);
            let grant = granted.await.map_err(refusal)?;
            self.connect(Method::Browser, grant).await
        };
        completed(&tasks, exchange).await
    }

    async fn device(self, address: &Url) -> Result<Begun, AuthorizationError> {
        let oauth = &self.oauth;
        let http = self.sign_ins.0.http(oauth);
        let (endpoint, parameters) = (oauth.endpoint(), parameters(oauth));
        let code = endpoint.device_code(&http, address, &oauth.scopes, &parameters);
        let code = code.await?;
        let (page, user_code, life) = (code.page.clone(), code.user_code.clone(), code.life);
        let granted = self.poll(code).boxed();
        Ok(Begun {
            url: page.into(),
            instructions: format!("Open the page and enter the code {user_code} there."),
            consent: Consent::Device { granted, life },
        })
    }

    /// Asks for the tokens until the user has answered.
    async fn poll(self, code: DeviceCode) -> Outcome {
        let services = Arc::clone(&self.sign_ins.0);
        let oauth = Arc::clone(&self.oauth);
        let http = services.http(&oauth);
        let mut wait = code.interval;
        loop {
            services.timer.after(wait).await;
            let endpoint = oauth.endpoint();
            let poll = endpoint.device_tokens(&http, &code, &oauth.scopes, services.now());
            match poll.await? {
                DevicePoll::Granted(grant) => {
                    // Stored and in use, even if the user cancels the attempt now.
                    let connected = async move { self.connect(Method::Device, grant).await };
                    return completed(&services.tasks, connected).await;
                }
                DevicePoll::Pending => {}
                DevicePoll::SlowDown => wait += SLOWER,
            }
        }
    }

    async fn connect(&self, method: Method, grant: Grant) -> Outcome {
        let stored = StoredSignIn {
            method,
            client_id: self.oauth.client_id.clone(),
            token_url: self.oauth.token_url.to_string(),
            grant,
        };
        let value = sign_in_value(&stored);
        let key = |id: &str| self.sign_ins.key(&self.provider, id, stored);
        let connected = self.keys.set(&self.provider, &self.label, value, key);
        let connected = connected.await;
        connected.map_err(|error| AuthorizationError::Failed(error.to_string()))
    }
}

/// Runs work to its end, even if the caller drops the future.
async fn completed(
    tasks: &TaskTracker,
    work: impl Future<Output = Outcome> + Send + 'static,
) -> Outcome {
    let ended = |_| AuthorizationError::Failed("the exchange ended early".into());
    let work = opencode_log::spawn_tracked(tasks, work);
    work.await.map_err(ended)?
}

fn parameters(oauth: &ProviderOAuth) -> Vec<(&str, &str)> {
    let pairs = oauth.parameters.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect()
}

fn refusal(refusal: TokenRefusal) -> AuthorizationError {
    match refusal {
        TokenRefusal::Grant => {
            AuthorizationError::Refused("the code has expired, or was used already".into())
        }
        TokenRefusal::Client => AuthorizationError::Failed(UNKNOWN_CLIENT.into()),
        TokenRefusal::Other(reason) => AuthorizationError::Failed(reason),
    }
}
