//! Getting texts from elsewhere, which is the business of whoever makes the runtime.

use futures::future::BoxFuture;
use url::Url;

/// Gets what addresses of the configuration stand for.
pub trait Fetch: Send + Sync {
    /// The body behind an `http` or `https` address. Reads no more than `limit` bytes: a larger body
    /// is a failure, whatever its announced length. A redirect is one, too, since it leads to where
    /// nobody has configured anything. How long it may take is decided by dropping the future.
    fn fetch(&self, address: Url, limit: usize) -> BoxFuture<'static, Result<Vec<u8>, FetchError>>;
}

/// Why an address gives no text: one sentence part for the user, without secrets of the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);
