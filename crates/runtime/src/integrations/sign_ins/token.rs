//! The access token of a sign-in, and its renewal.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use opencode_llm::error::{AuthenticationKind, TransportKind};
use opencode_llm::{LlmError, LlmErrorReason};
use opencode_location::catalogue::AccessToken;
use opencode_oauth::{Grant, TokenRefusal};
use opencode_schema::clock::Millis;
use opencode_secrets::Secret;
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Services, StoredSignIn, UNKNOWN_CLIENT};
use crate::integrations::providers::sign_in_value;

/// The time after a failed renewal in which no other one begins.
const REST: Millis = 10 * 1000;

/// A token that is refused within this time after its renewal is not renewed again.
const RENEWED: Millis = 30 * 1000;

/// The result of a renewal, for all requests that wait for it.
type Renewal = Shared<BoxFuture<'static, Result<Secret, RenewalError>>>;

/// The reason why a token was not renewed.
#[derive(Clone, Debug, thiserror::Error)]
enum RenewalError {
    /// The user has to sign in again.
    #[error("{0}")]
    Ended(&'static str),
    /// The provider refused the client.
    #[error("{UNKNOWN_CLIENT}")]
    Client,
    /// The reason can pass.
    #[error("{0}")]
    Failed(String),
}

/// The access token of a sign-in.
pub(super) struct SignInToken(Arc<Held>);

struct Held {
    services: Arc<Services>,
    provider: String,
    /// The id of the credential.
    credential: String,
    state: Mutex<State>,
}

struct State {
    stored: StoredSignIn,
    /// True if the provider refused the access token.
    is_refused: bool,
    /// The time of the last renewal.
    renewed: Option<Millis>,
    /// Tokens that the provider granted and that could not be stored. They are not used before they are stored.
    unsaved: Option<Grant>,
    renewal: Option<Renewal>,
    /// The time and the reason of the last failed renewal.
    failed: Option<(Millis, RenewalError)>,
}

/// The way in which a request gets its token.
enum Step {
    Use(Secret),
    Fail(RenewalError),
    Wait(Renewal),
}

impl SignInToken {
    pub(super) fn new(
        services: Arc<Services>,
        provider: &str,
        credential: &str,
        stored: StoredSignIn,
    ) -> Self {
        Self(Arc::new(Held {
            services,
            provider: provider.to_owned(),
            credential: credential.to_owned(),
            state: Mutex::new(State {
                stored,
                is_refused: false,
                renewed: None,
                unsaved: None,
                renewal: None,
                failed: None,
            }),
        }))
    }
}

impl AccessToken for SignInToken {
    fn get(&self) -> BoxFuture<'_, Result<opencode_secrets::Secret, LlmError>> {
        let token = async {
            let token = match self.0.step() {
                Step::Use(token) => Ok(token),
                Step::Fail(error) => Err(error),
                Step::Wait(renewal) => renewal.await,
            };
            match token {
                Ok(token) => Ok(opencode_secrets::Secret::new(token.expose())),
                Err(error) => Err(self.0.failure(&error)),
            }
        };
        token.boxed()
    }

    fn refused(&self, token: &str) -> bool {
        self.0.refused(token)
    }
}

impl Held {
    /// Decides how a request gets its token. Requests at the same time share one renewal.
    fn step(self: &Arc<Self>) -> Step {
        let now = self.services.now();
        let mut state = self.state.lock();
        let grant = &state.stored.grant;
        let has_ended = state.usable(now).is_none();
        let is_early = grant.refresh.is_some() && grant.renew.is_some_and(|renew| renew <= now);
        if !has_ended && !is_early && state.unsaved.is_none() {
            return Step::Use(grant.access.clone());
        }
        if let Some(renewal) = &state.renewal {
            return Step::Wait(renewal.clone());
        }
        if let Some((failed, error)) = &state.failed
            && is_within(*failed, now, REST)
        {
            return match state.usable(now) {
                Some(token) => Step::Use(token),
                None => Step::Fail(error.clone()),
            };
        }
        let renewal = self.begin();
        state.renewal = Some(renewal.clone());
        Step::Wait(renewal)
    }

    /// Notes that the provider refused a token. A provider that also refuses the next one is not asked again at once.
    fn refused(&self, token: &str) -> bool {
        let now = self.services.now();
        let mut state = self.state.lock();
        let grant = &state.stored.grant;
        if !grant.access.is(token) {
            return true;
        }
        let is_new = state.renewed.is_some_and(|it| is_within(it, now, RENEWED));
        let may_renew = grant.refresh.is_some() && !is_new;
        state.is_refused |= may_renew;
        may_renew
    }

    /// Begins a renewal. It runs to its end even if all requests that wait for it go away.
    fn begin(self: &Arc<Self>) -> Renewal {
        let held = Arc::clone(self);
        let (answer, renewed) = oneshot::channel();
        opencode_log::spawn_tracked(&self.services.tasks, async move {
            let ended = EndRenewal(held);
            let renewed = ended.0.renewed().await;
            drop(ended);
            let _ = answer.send(renewed);
        });
        let panicked = |_| RenewalError::Failed("the renewal ended early".into());
        let outcome = renewed.map(move |sent| sent.map_err(panicked)?);
        outcome.boxed().shared()
    }

    /// Renews the token. If that fails, the former token is used until it expires.
    async fn renewed(&self) -> Result<Secret, RenewalError> {
        let error = match self.renew().await {
            Ok(token) => return Ok(token),
            Err(error) => error,
        };
        let provider = self.provider.as_str();
        tracing::warn!(provider, %error, "the access token was not renewed");
        let now = self.services.now();
        let mut state = self.state.lock();
        state.failed = Some((now, error.clone()));
        state.usable(now).ok_or(error)
    }

    async fn renew(&self) -> Result<Secret, RenewalError> {
        let (mut stored, unsaved) = {
            let state = self.state.lock();
            (state.stored.clone(), state.unsaved.clone())
        };
        stored.grant = match unsaved {
            Some(grant) => grant,
            None => self.request(&stored.grant).await?,
        };
        self.state.lock().unsaved = Some(stored.grant.clone());
        // Stored before it is used: the provider may have ended the former refresh token.
        let value = sign_in_value(&stored);
        let credentials = &self.services.credentials;
        let saved = credentials.update(&self.credential, None, value).await;
        if !saved.map_err(|error| RenewalError::Failed(error.to_string()))? {
            return Err(RenewalError::Ended("the credential was removed"));
        }
        let token = stored.grant.access.clone();
        let mut state = self.state.lock();
        state.stored = stored;
        state.is_refused = false;
        state.renewed = Some(self.services.now());
        state.unsaved = None;
        state.failed = None;
        Ok(token)
    }

    /// Requests new tokens.
    async fn request(&self, grant: &Grant) -> Result<Grant, RenewalError> {
        let ended = RenewalError::Ended;
        let oauth = self.services.oauth.get(&self.provider);
        let oauth = oauth.ok_or(ended("the option oauth has no such provider"))?;
        let refresh = grant.refresh.as_ref();
        let refresh = refresh.ok_or(ended("the provider gave no refresh token"))?;
        let (http, now) = (self.services.http(oauth), self.services.now());
        let endpoint = oauth.endpoint();
        let renewed = endpoint.renew(&http, refresh, &grant.scopes, now).await;
        renewed.map_err(|refusal| match refusal {
            TokenRefusal::Grant => ended("the provider refused the refresh token"),
            TokenRefusal::Client => RenewalError::Client,
            TokenRefusal::Other(reason) => RenewalError::Failed(reason),
        })
    }

    /// Returns the failure of a request to a model.
    fn failure(&self, error: &RenewalError) -> LlmError {
        let provider = &self.provider;
        match error {
            RenewalError::Ended(reason) => {
                let kind = AuthenticationKind::Expired;
                let message = format!(
                    "The sign-in at {provider} has ended: {reason}. Sign in again with integrations.connectOauth."
                );
                LlmError::new(LlmErrorReason::Authentication { kind }, message)
            }
            RenewalError::Client => {
                let kind = AuthenticationKind::Invalid;
                let message = format!("The access token of {provider} was not renewed: {error}");
                LlmError::new(LlmErrorReason::Authentication { kind }, message)
            }
            RenewalError::Failed(_) => {
                let message = format!("The access token of {provider} was not renewed: {error}");
                LlmError::transport(TransportKind::Connect, None, message)
            }
        }
    }
}

impl State {
    /// Returns the access token, unless it has expired or was refused.
    fn usable(&self, now: Millis) -> Option<Secret> {
        let grant = &self.stored.grant;
        let is_valid = grant.expires.is_none_or(|expires| now < expires);
        (is_valid && !self.is_refused).then(|| grant.access.clone())
    }
}

/// True if a time is not longer ago than a span. False if the clock was set back.
fn is_within(time: Millis, now: Millis, span: Millis) -> bool {
    (0..span).contains(&now.saturating_sub(time))
}

/// Ends a renewal, even after a panic.
struct EndRenewal(Arc<Held>);

impl Drop for EndRenewal {
    fn drop(&mut self) {
        self.0.state.lock().renewal = None;
    }
}
