//! Access of tools to web servers. The implementation of the trait chooses connections and
//! certificates.

use futures::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use url::Url;

/// Sends requests over HTTP.
pub trait Web: Send + Sync + 'static {
    /// Sends one request and returns its answer with any status. Does not follow redirects: the caller
    /// decides about them. There is no time limit; dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, does not speak HTTP, closes the connection early, or
    /// sends a body over the limit of the request.
    fn send(&self, request: WebRequest) -> BoxFuture<'_, Result<WebResponse, WebError>>;
}

/// A request. It has no `Debug`, because a credential may be in its headers and its address.
#[derive(Clone)]
pub struct WebRequest {
    /// The address, with `http` or `https`.
    pub address: Url,
    /// The headers, except those for the connection and for the length of the body.
    pub headers: HeaderMap,
    /// The body of a POST request; `None` makes it a GET request.
    pub post: Option<Vec<u8>>,
    /// Maximum size of the decompressed body of the answer in bytes. A larger body is an error.
    pub limit: usize,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The decompressed body. Only the body of a success is read; otherwise this is empty.
    pub body: Vec<u8>,
}

/// Reason why there is no answer, as a part of a sentence. It contains no secret parts of the address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WebError(pub String);
