//! The header with the access token of a user.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_llm::{Authorizer, LlmError, OutgoingRequest};
use opencode_secrets::Secret;

use super::platform::AUTHORIZATION;
use crate::model::SignIn;

/// The beginning of the header of a token (RFC 6750).
const BEARER: &str = "Bearer ";

/// Adds the token of a sign-in to requests.
pub(super) struct TokenHeader {
    sign_in: SignIn,
    /// The header for tokens. [`AUTHORIZATION`] carries them as bearer tokens.
    header: &'static str,
}

impl TokenHeader {
    pub(super) fn new(sign_in: SignIn, header: &'static str) -> Self {
        Self { sign_in, header }
    }
}

impl Authorizer for TokenHeader {
    fn authorize<'a>(
        &'a self,
        _request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        let headers = async {
            let token = self.sign_in.0.get().await?;
            let value = match self.header {
                AUTHORIZATION => Secret::new(format!("{BEARER}{}", token.expose())),
                _ => token,
            };
            Ok(vec![(self.header.to_owned(), value)])
        };
        headers.boxed()
    }

    fn refused(&self, headers: &[(String, Secret)]) -> bool {
        let token = headers.first().map(|(_, value)| value.expose());
        let token = token.map(|value| value.strip_prefix(BEARER).unwrap_or(value));
        token.is_some_and(|token| self.sign_in.0.refused(token))
    }
}
