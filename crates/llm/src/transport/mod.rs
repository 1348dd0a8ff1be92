//! The part with a network: one HTTP request per provider turn, retried only while nothing was
//! produced.

mod call;
mod connect;
mod download;
mod proxies;
mod reply;
mod retry;

use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};

pub use download::{DownloadError, HttpDownloads, HttpRequest, HttpResponse};
pub use proxies::Proxies;
pub use retry::RetryPolicy;

use crate::client::{EventStream, ModelClient};
use crate::error::LlmError;
use crate::protocol;
use crate::request::LlmRequest;
use crate::sources::Sources;
use call::Call;
use connect::Clients;
use reply::Reply;

/// How the HTTP client behaves.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// When and how long to wait before asking again.
    pub retry: RetryPolicy,
    /// How long a connection may take to come up. This is no limit on the answer, which has none by
    /// default.
    pub connect_timeout: Option<Duration>,
    /// Proxies on the way to a model.
    pub proxies: Proxies,
    /// Clock and randomness.
    pub sources: Sources,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::default(),
            connect_timeout: Some(Duration::from_secs(10)),
            proxies: Proxies::default(),
            sources: Sources::default(),
        }
    }
}

/// Calls models over HTTP. Cheap to create and to clone: connections and TLS are set up by the
/// first request that needs them, and clones share them.
#[derive(Clone)]
pub struct HttpModelClient {
    shared: Arc<Shared>,
}

struct Shared {
    options: HttpOptions,
    clients: Clients,
}

impl HttpModelClient {
    /// A client with its own connections.
    #[must_use]
    pub fn new(options: HttpOptions) -> Self {
        let clients = Clients::new(options.connect_timeout, options.proxies.clone());
        Self {
            shared: Arc::new(Shared { options, clients }),
        }
    }
}

impl Default for HttpModelClient {
    fn default() -> Self {
        Self::new(HttpOptions::default())
    }
}

impl ModelClient for HttpModelClient {
    fn stream(&self, request: LlmRequest) -> EventStream {
        let shared = Arc::clone(&self.shared);
        // The whole exchange lives in this stream and nothing is spawned, so dropping it closes the
        // connection.
        stream::once(async move { shared.open(request).await })
            .map_ok(|reply| {
                stream::unfold(reply, |mut reply| async move {
                    reply.next().await.map(|item| (item, reply))
                })
            })
            .try_flatten()
            .boxed()
    }
}

impl Shared {
    /// Sends the request until there is an answer to read.
    async fn open(&self, request: LlmRequest) -> Result<Reply, LlmError> {
        let protocol = protocol::adapter(request.model.protocol);
        let call = Call::new(&request, protocol.encode(&request)?)?;
        let client = self.clients.get(&call.target.url).await;
        let client = client.map_err(|problem| call.target.not_set_up(&problem))?;
        let mut retries = 0;
        loop {
            let error = match call.send(&client, self.options.sources.now()).await {
                Ok(response) => {
                    let decoder = protocol.decoder(&request, &self.options.sources);
                    return Ok(Reply::new(call.target, response, decoder));
                }
                Err(error) => error,
            };
            let wait = self
                .options
                .retry
                .wait(&error, retries, &self.options.sources);
            let Some(wait) = wait else { return Err(error) };
            tracing::debug!(
                route = call.target.route,
                kind = error.kind().as_str(),
                wait_ms = wait.as_millis(),
                "asking the provider again"
            );
            tokio::time::sleep(wait).await;
            retries += 1;
        }
    }
}
