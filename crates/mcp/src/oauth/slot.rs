//! The credential of one server in memory, and its renewal.

use std::sync::Arc;

use futures::future::{BoxFuture, Shared};
use opencode_oauth::{Grant, MAX_SCOPES};
use opencode_schema::clock::Millis;
use opencode_secrets::Secret;
use parking_lot::Mutex;
use url::Url;

use super::challenge::Parameters;
use super::ports::{CredentialError, CredentialStore};
use super::record::Record;
use crate::config::RemoteServer;
use crate::tokens::TokenError;

/// The time after a failed renewal in which no other one begins.
const REST: Millis = 10 * 1000;

/// The result of a renewal, for all calls that wait for it.
pub(super) type Renewal = Shared<BoxFuture<'static, Result<Secret, TokenError>>>;

/// A stored credential.
pub(super) struct Held {
    pub(super) id: String,
    pub(super) record: Record,
}

impl Held {
    /// Returns the tokens, unless the configuration names another client than the one that received them.
    pub(super) fn tokens(&self, server: &RemoteServer) -> Option<&Grant> {
        let client = &self.record.client;
        let options = server.oauth.as_ref()?;
        let is_same = match &options.client_id {
            Some(id) => *id == client.id,
            None => client.redirect_uri.is_some(),
        };
        self.record.tokens.as_ref().filter(|_| is_same)
    }
}

/// One server: its name in the configuration, and its address.
pub(super) struct Slot {
    pub(super) integration: String,
    pub(super) url: Url,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The credential; `None` if it was not read yet.
    held: Option<Option<Arc<Held>>>,
    /// Increased at each change, so that a read from before the change is not kept.
    generation: u64,
    renewal: Option<Renewal>,
    /// The last refusal of the server.
    challenge: Option<Parameters>,
    /// The time of the last renewal.
    renewed: Option<Millis>,
    /// The time and the reason of the last failed renewal.
    failed: Option<(Millis, TokenError)>,
}

impl Slot {
    pub(super) fn new(integration: String, url: Url) -> Self {
        Self {
            integration,
            url,
            state: Mutex::default(),
        }
    }

    /// Returns the credential of this server. The first call reads it.
    pub(super) async fn held(
        &self,
        store: &dyn CredentialStore,
    ) -> Result<Option<Arc<Held>>, CredentialError> {
        loop {
            let generation = {
                let state = self.state.lock();
                if let Some(held) = &state.held {
                    return Ok(held.clone());
                }
                state.generation
            };
            let stored = store.load(&self.integration).await?;
            let records = stored.into_iter().filter_map(|credential| {
                let record = Record::read(&credential.value)?;
                let id = credential.id;
                // A token must reach no other server than the one that it is for.
                let is_for = record.server_url == self.url.as_str();
                is_for.then(|| Arc::new(Held { id, record }))
            });
            let found = records.last();
            let mut state = self.state.lock();
            if state.generation == generation {
                state.held = Some(found.clone());
                return Ok(found);
            }
        }
    }

    /// Sets the credential.
    pub(super) fn put(&self, held: Arc<Held>) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.held = Some(Some(held));
        state.failed = None;
    }

    /// Reads the credential again at its next use.
    pub(super) fn forget(&self) {
        let mut state = self.state.lock();
        state.generation += 1;
        state.held = None;
    }

    /// Replaces a credential. If it changed in the meantime, it is read again at its next use.
    pub(super) fn replace(&self, old: &Arc<Held>, new: Option<Arc<Held>>, renewed: Option<Millis>) {
        let mut state = self.state.lock();
        let is_current = matches!(&state.held, Some(Some(held)) if Arc::ptr_eq(held, old));
        state.generation += 1;
        state.held = is_current.then_some(new);
        state.renewed = renewed.or(state.renewed);
        state.failed = None;
    }

    /// Joins the renewal that is under way, or begins one. Returns the current token if the credential was renewed
    /// after the caller read it.
    pub(super) fn renew(&self, held: &Arc<Held>, begin: impl FnOnce() -> Renewal) -> Joined {
        let mut state = self.state.lock();
        if let Some(renewal) = &state.renewal {
            return Joined::Waits(renewal.clone());
        }
        if let Some(Some(current)) = &state.held
            && !Arc::ptr_eq(current, held)
            && let Some(tokens) = &current.record.tokens
        {
            return Joined::Renewed(tokens.access.clone());
        }
        let renewal = begin();
        state.renewal = Some(renewal.clone());
        Joined::Waits(renewal)
    }

    /// Ends the renewal that is under way.
    pub(super) fn end_renewal(&self) {
        self.state.lock().renewal = None;
    }

    /// Notes that a renewal failed for a reason that can pass.
    pub(super) fn fail(&self, now: Millis, reason: TokenError) {
        self.state.lock().failed = Some((now, reason));
    }

    /// Returns the reason of a renewal that failed a moment ago.
    pub(super) fn rests(&self, now: Millis) -> Option<TokenError> {
        let state = self.state.lock();
        let (failed, reason) = state.failed.as_ref()?;
        is_within(*failed, now, REST).then(|| reason.clone())
    }

    /// True if the token was renewed within this time.
    pub(super) fn is_renewed_within(&self, now: Millis, time: Millis) -> bool {
        let renewed = self.state.lock().renewed;
        renewed.is_some_and(|renewed| is_within(renewed, now, time))
    }

    /// Notes the challenge of a refusal. Scopes of earlier refusals stay necessary.
    pub(super) fn challenge(&self, mut challenge: Parameters) {
        let mut state = self.state.lock();
        if let Some(earlier) = state.challenge.take() {
            join(&mut challenge.scopes, &earlier.scopes);
            let address = &mut challenge.resource_metadata;
            *address = address.take().or(earlier.resource_metadata);
        }
        state.challenge = Some(challenge);
    }

    /// Returns the challenge of the last refusal.
    pub(super) fn challenged(&self) -> Option<Parameters> {
        self.state.lock().challenge.clone()
    }

    /// Forgets the refusals, after a consent for what they named.
    pub(super) fn consent(&self) {
        self.state.lock().challenge = None;
    }
}

/// The result of joining a renewal.
pub(super) enum Joined {
    Renewed(Secret),
    Waits(Renewal),
}

/// True if a time is not longer ago than a span. False if the clock was set back.
fn is_within(time: Millis, now: Millis, span: Millis) -> bool {
    (0..span).contains(&now.saturating_sub(time))
}

/// Adds the scopes that are missing.
pub(super) fn join(scopes: &mut Vec<String>, others: &[String]) {
    for scope in others {
        if scopes.len() < MAX_SCOPES && !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
}
