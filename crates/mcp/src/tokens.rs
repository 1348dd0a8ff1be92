//! The port to the access tokens of remote servers.

use futures::future::BoxFuture;

use crate::config::RemoteServer;

/// Supplies the access tokens of remote servers.
pub trait Tokens: Send + Sync + 'static {
    /// Returns the access token for requests to a server, or `None` if requests go without one. Refreshes a token that
    /// is about to expire.
    fn access_token<'a>(
        &'a self,
        server: &'a RemoteServer,
    ) -> BoxFuture<'a, Result<Option<String>, TokenError>>;

    /// Called after a server refused a request because of its token, or because it had none. Returns the token with
    /// which the request is repeated once.
    fn refused<'a>(
        &'a self,
        server: &'a RemoteServer,
        challenge: Challenge,
    ) -> BoxFuture<'a, Result<String, TokenError>>;
}

/// The refusal of a request by a server.
#[derive(Clone)]
pub struct Challenge {
    /// `401`, or `403` for a token with too few scopes.
    pub status: u16,
    /// The header `WWW-Authenticate`.
    pub www_authenticate: Option<String>,
    /// The token of the refused request.
    pub token: Option<String>,
}

/// The reason why there is no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The user must give consent.
    #[error("the user must authorize the host at the server")]
    NeedsAuth,
    /// The authorization server registers no clients by itself.
    #[error("the server needs a registered client: {0}")]
    NeedsClientRegistration(String),
    /// The authorization server cannot be used.
    #[error("{0}")]
    Failed(String),
}

/// Supplies no tokens.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoTokens;

impl Tokens for NoTokens {
    fn access_token<'a>(
        &'a self,
        _server: &'a RemoteServer,
    ) -> BoxFuture<'a, Result<Option<String>, TokenError>> {
        Box::pin(async { Ok(None) })
    }

    fn refused<'a>(
        &'a self,
        _server: &'a RemoteServer,
        _challenge: Challenge,
    ) -> BoxFuture<'a, Result<String, TokenError>> {
        Box::pin(async { Err(TokenError::NeedsAuth) })
    }
}
