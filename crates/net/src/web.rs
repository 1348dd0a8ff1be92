//! The access to web servers, as its users see it.

use futures::FutureExt;
use futures::future::BoxFuture;
use url::Url;

use super::download::{DownloadError, HttpDownloads, HttpRequest, HttpResponse};

/// Sends requests over HTTP.
pub trait Web: Send + Sync + 'static {
    /// Sends one request and returns its answer with any status. Does not follow redirects: the caller decides about
    /// them. There is no time limit; dropping the future closes the connection.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, does not speak HTTP, closes the connection early, or sends a body over the
    /// limit of the request.
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, DownloadError>>;
}

/// Downloads the contents of addresses in the configuration.
pub trait Fetch: Send + Sync + 'static {
    /// Returns the body of an `http` or `https` address. Reads at most `limit` bytes: a larger body is an error, whatever
    /// its announced length. A redirect is also an error, because it leads to an address that is not configured. The
    /// caller limits the time by dropping the future.
    fn fetch(
        &self,
        address: Url,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<u8>, DownloadError>>;
}

impl Web for HttpDownloads {
    fn send(&self, request: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, DownloadError>> {
        self.request(request).boxed()
    }
}

impl Fetch for HttpDownloads {
    fn fetch(
        &self,
        address: Url,
        limit: usize,
    ) -> BoxFuture<'static, Result<Vec<u8>, DownloadError>> {
        let downloads = self.clone();
        async move { downloads.get(&address, limit).await }.boxed()
    }
}
