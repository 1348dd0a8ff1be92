//! The part with network access: one HTTP request per call.

mod call;
mod reply;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::model::Timeouts;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::LlmRequest;
use opencode_llm::client::{EventStream, ModelClient};
use opencode_llm::sources::Sources;
use opencode_net::{HttpClients, Proxies};

use crate::adapters::adapter;
use crate::protocol::WireRequest;
use call::{Call, Exchange, Opened};
use reply::Reply;

/// Options of the HTTP client.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Maximum time to establish a connection. Does not limit the answer.
    pub connect_timeout: Option<Duration>,
    /// Time limits for models without their own limits. There are none by default.
    pub timeouts: Timeouts,
    /// Proxies for requests to models.
    pub proxies: Proxies,
    /// Clock and randomness.
    pub sources: Sources,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Some(Duration::from_secs(10)),
            timeouts: Timeouts::default(),
            proxies: Proxies::default(),
            sources: Sources::default(),
        }
    }
}

/// Calls models over HTTP. Cheap to create and to clone: the first request that needs connections
/// and TLS sets them up, and clones share them.
#[derive(Clone)]
pub struct HttpModelClient {
    shared: Arc<Shared>,
}

struct Shared {
    options: HttpOptions,
    clients: HttpClients,
}

impl HttpModelClient {
    /// Creates a client with its own connections.
    #[must_use]
    pub fn new(options: HttpOptions) -> Self {
        let clients = HttpClients::new(options.connect_timeout, options.proxies.clone());
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
        // This stream contains the whole exchange and spawns no task, so dropping it closes the connection.
        stream::once(async move { shared.open(request).await })
            .map_ok(|reply| {
                stream::unfold(reply, |mut reply| async move {
                    reply.next().await.map(|item| (item, reply))
                })
            })
            .try_flatten()
            .boxed()
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        adapter(request.model.protocol).prefix(request, former)
    }
}

impl Shared {
    /// Sends the request, and once more if the server refused a credential that its service can replace.
    async fn open(&self, request: LlmRequest) -> Result<Reply, LlmError> {
        let protocol = adapter(request.model.protocol);
        let mut wire = protocol.encode(&request)?;
        let body = Bytes::from(std::mem::take(&mut wire.body));
        let mut call = self.call(&request, &wire, &body).await?;
        let mut response = self.send(&call).await;
        if let Err(error) = &response
            && call.may_repeat(&request.model, error)
        {
            call = self.call(&request, &wire, &body).await?;
            response = self.send(&call).await;
        }
        let response = response?;
        call.target.log_answer();
        let decoder = protocol.decoder(&request, &self.options.sources);
        Ok(Reply::new(call.target, response, decoder))
    }

    async fn call(
        &self,
        request: &LlmRequest,
        wire: &WireRequest,
        body: &Bytes,
    ) -> Result<Call, LlmError> {
        let exchange = Exchange {
            clients: &self.clients,
            now: self.options.sources.now(),
        };
        Call::new(request, wire, body.clone(), self.options.timeouts, exchange).await
    }

    async fn send(&self, call: &Call) -> Result<Opened, LlmError> {
        let client = self.clients.get(&call.target.url).await;
        let client = client.map_err(|problem| call.target.not_set_up(&problem))?;
        let response = call.send(&client, self.options.sources.now()).await;
        response.inspect_err(|error| call.target.log_refusal(error))
    }
}
