//! The HTTP clients of the host, for requests to authorization servers.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use opencode_llm::HttpClients;
use url::Url;

/// The clients that also call models. They have the certificates and the proxies of the host.
pub(super) struct LlmClients(pub(super) Arc<HttpClients>);

impl opencode_oauth::HttpClients for LlmClients {
    fn client<'a>(&'a self, address: &'a Url) -> BoxFuture<'a, Result<reqwest::Client, String>> {
        self.0.get(address).boxed()
    }
}
