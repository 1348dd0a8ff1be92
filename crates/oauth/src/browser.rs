//! The consent of a user in a browser: its page, and the answer to it (RFC 6749, RFC 7636).

use url::Url;

use crate::answer::BrowserAnswer;
use crate::callback::{Arrival, Callbacks};
use crate::error::AuthorizationError;
use crate::proof::{challenge, random};
use crate::redirect::Redirect;
use opencode_secrets::Secret;

/// The way in which a host receives the answer of the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerMode {
    /// The host listens at the redirect address.
    Redirect,
    /// The user enters the code, or the address to which the browser was redirected.
    Entered,
}

/// A consent that waits for the user. Dropping it ends the wait.
pub struct Browser {
    state: Secret,
    arrival: Option<Arrival>,
    proof: CodeProof,
}

/// The values that prove that this host asked for a code.
#[derive(Clone, Debug)]
pub struct CodeProof {
    pub(crate) redirect_uri: String,
    pub(crate) verifier: Secret,
}

/// A code with its proof.
pub struct Code<'a> {
    /// The code of the answer.
    pub code: &'a Secret,
    /// The values of the request for it.
    pub proof: &'a CodeProof,
}

/// The parts of the page that the authorization server knows.
pub struct Page<'a> {
    /// The authorization endpoint.
    pub endpoint: &'a Url,
    /// The id of the client.
    pub client_id: &'a str,
    /// The scopes to request.
    pub scopes: &'a [String],
    /// Other parameters.
    pub parameters: &'a [(&'a str, &'a str)],
}

impl Browser {
    /// Prepares a consent. Listens at the redirect address if it is one of this machine and its port is free.
    ///
    /// # Errors
    ///
    /// Fails if the operating system has no randomness.
    pub async fn begin(
        callbacks: &Callbacks,
        redirect: Redirect,
    ) -> Result<Self, AuthorizationError> {
        let failed = AuthorizationError::Failed;
        let (state, verifier) = (random().map_err(failed)?, random().map_err(failed)?);
        let arrival = match &redirect.local {
            Some((port, path)) => callbacks.expect(*port, path, &state).await,
            None => None,
        };
        Ok(Self {
            state,
            arrival,
            proof: CodeProof {
                redirect_uri: redirect.uri,
                verifier,
            },
        })
    }

    /// Returns the page that the user opens.
    #[must_use]
    pub fn page(&self, page: &Page<'_>) -> Url {
        let mut url = page.endpoint.clone();
        let mut query = url.query_pairs_mut();
        query.append_pair("response_type", "code");
        query.append_pair("client_id", page.client_id);
        query.append_pair("redirect_uri", &self.proof.redirect_uri);
        query.append_pair("state", self.state.expose());
        query.append_pair("code_challenge", &challenge(&self.proof.verifier));
        query.append_pair("code_challenge_method", "S256");
        query.extend_pairs(page.parameters);
        if !page.scopes.is_empty() {
            query.append_pair("scope", &page.scopes.join(" "));
        }
        drop(query);
        url
    }

    /// Returns the values that prove that this host asked for the code.
    #[must_use]
    pub fn proof(&self) -> &CodeProof {
        &self.proof
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
            return answer;
        }
        std::future::pending().await
    }

    /// Reads the input of the user: the code, or the address to which the browser was redirected.
    ///
    /// # Errors
    ///
    /// Fails if the input does not belong to this consent.
    pub fn entered(&self, input: &str) -> Result<BrowserAnswer, AuthorizationError> {
        BrowserAnswer::pasted(input, &self.state)
    }
}
