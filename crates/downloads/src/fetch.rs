//! Fetching of remote texts. The creator of the runtime supplies the implementation.

use futures::future::BoxFuture;
use url::Url;

/// Fetches the contents of addresses in the configuration.
pub trait Fetch: Send + Sync {
    /// Returns the body of an `http` or `https` address. Reads at most `limit` bytes: a larger body
    /// is an error, whatever its announced length. A redirect is also an error, because it leads to an
    /// address that is not configured. The caller limits the time by dropping the future.
    fn fetch(&self, address: Url, limit: usize) -> BoxFuture<'static, Result<Vec<u8>, FetchError>>;
}

/// The reason that an address gives no text: part of a sentence for the user, without secrets of the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);
