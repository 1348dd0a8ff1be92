//! Instructions behind addresses, had over HTTP.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_llm::{HttpDownloads, Proxies};
use opencode_runtime::{Fetch, FetchError};
use url::Url;

/// Gets texts over HTTP, through the proxies of the host.
pub(crate) struct HttpFetch {
    downloads: Arc<HttpDownloads>,
}

impl HttpFetch {
    pub(crate) fn new(proxies: Proxies) -> Self {
        Self {
            downloads: Arc::new(HttpDownloads::new(proxies)),
        }
    }
}

impl Fetch for HttpFetch {
    fn fetch(&self, address: Url, limit: usize) -> BoxFuture<'static, Result<Vec<u8>, FetchError>> {
        let downloads = Arc::clone(&self.downloads);
        async move {
            let body = downloads.get(&address, limit).await;
            body.map_err(|error| FetchError(error.to_string()))
        }
        .boxed()
    }
}
