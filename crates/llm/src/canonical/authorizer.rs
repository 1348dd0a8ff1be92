//! Credentials that are made for one request: tokens that expire, and signatures.

use std::time::SystemTime;

use futures::future::BoxFuture;
use http::HeaderMap;
use url::Url;

use crate::canonical::error::LlmError;
use opencode_net::HttpClients;
use opencode_secrets::Secret;

/// Makes the credential of a request right before it is sent.
pub trait Authorizer: Send + Sync {
    /// Returns the headers to add to the request. Runs once per attempt; dropping the future cancels it. An
    /// implementation keeps a token until it expires, and renews it once for all requests that wait for it.
    ///
    /// # Errors
    ///
    /// `Authentication` if there is no valid credential, `Transport` if its service cannot be reached. The request is
    /// not sent.
    fn authorize<'a>(
        &'a self,
        request: OutgoingRequest<'a>,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, LlmError>>;

    /// Called after the server refused these headers with status 401. Returns true if the next call of
    /// [`authorize`](Self::authorize) may give other ones: then the request is sent once more. Default: false.
    fn refused(&self, _headers: &[(String, Secret)]) -> bool {
        false
    }
}

/// A request without its credential.
#[derive(Clone, Copy)]
pub struct OutgoingRequest<'a> {
    /// The address with its query. The method is POST.
    pub url: &'a Url,
    /// All other headers.
    pub headers: &'a HeaderMap,
    /// The bytes of the body.
    pub body: &'a [u8],
    /// The current time.
    pub now: SystemTime,
    /// Clients for requests to the service of the credential.
    pub clients: &'a HttpClients,
}
