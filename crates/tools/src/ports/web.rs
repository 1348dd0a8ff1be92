//! How a tool reaches servers of the web. On which ways, and with which certificates, is not known
//! here.

use futures::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use url::Url;

/// Sends requests over HTTP.
pub trait Web: Send + Sync + 'static {
    /// One request and its answer, whatever status this has. Redirects are not followed: who asked
    /// decides where to go. It may take as long as the caller waits; dropping the future closes the
    /// connection.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, does not speak HTTP, breaks off, or sends a larger body than
    /// was asked for.
    fn send(&self, request: WebRequest) -> BoxFuture<'_, Result<WebResponse, WebError>>;
}

/// A request. It has no `Debug`, because a credential may be in its headers and its address.
#[derive(Clone)]
pub struct WebRequest {
    /// Where to, by `http` or `https`.
    pub address: Url,
    /// Its headers, besides those that belong to the connection and to the body's length.
    pub headers: HeaderMap,
    /// What is posted; a request without it is a GET.
    pub post: Option<Vec<u8>>,
    /// Bytes of an answer's body, decompressed, beyond which it is an error.
    pub limit: usize,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebResponse {
    /// What became of the request.
    pub status: StatusCode,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, decompressed. That of anything but success is not read, and empty.
    pub body: Vec<u8>,
}

/// Why there is no answer: a part of a sentence, without what may be secret in the address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WebError(pub String);
