//! The header with the access token of a user.

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_llm::{Authorizer, LlmError, OutgoingRequest};
use opencode_secrets::Secret;

use super::packages::AUTHORIZATION;
use crate::model::SignIn;

/// The beginning of the header of a token (RFC 6750).
const BEARER: &str = "Bearer ";

/// Adds the token of a sign-in to requests.
pub(super) struct TokenHeader {
    sign_in: SignIn,
    /// The header for the keys of the provider.
    key_header: &'static str,
}

impl TokenHeader {
    pub(super) fn new(sign_in: SignIn, key_header: &'static str) -> Self {
        Self {
            sign_in,
            key_header,
        }
    }
}

impl Authorizer for TokenHeader {
    fn authorize<'a>(
        &'a self,
        _request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>> {
        let headers = async {
            let token = self.sign_in.0.get().await?;
            // Anthropic takes tokens in the header for keys. Elsewhere that header is for keys only.
            let header = match self.key_header {
                "x-api-key" => (self.key_header.to_owned(), token),
                _ => {
                    let bearer = format!("{BEARER}{}", token.expose());
                    (AUTHORIZATION.to_owned(), Secret::new(bearer))
                }
            };
            Ok(vec![header])
        };
        headers.boxed()
    }

    fn refused(&self, headers: &[(String, Secret)]) -> bool {
        let token = headers.first().map(|(_, value)| value.expose());
        let token = token.map(|value| value.strip_prefix(BEARER).unwrap_or(value));
        token.is_some_and(|token| self.sign_in.0.refused(token))
    }
}
