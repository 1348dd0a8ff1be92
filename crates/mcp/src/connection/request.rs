//! The requests of a connection.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceError;
use rmcp::model::{ClientRequest, CustomRequest, ServerResult};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::Connection;
use super::open::text_of;
use crate::call::{CallContext, CallError};
use crate::in_flight::InFlight;
use crate::limits::{MAX_ERROR, MAX_REQUEST_TIME, cut};
use crate::link::{End, Link};
use crate::transport::whole_result;

/// Maximum time to tell a server that a request is cancelled.
const CANCEL: Duration = Duration::from_secs(5);

/// The failure of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server answered with an error.
    #[error("{0}")]
    Refused(String),
    /// The server did not answer in time.
    #[error("The server did not answer within {} seconds.", .0.as_secs_f64())]
    Timeout(Duration),
    /// The request did not reach the server.
    #[error("The request failed: {0}")]
    Transport(String),
    /// The connection ended.
    #[error("{}", .0.message())]
    Ended(End),
    /// The caller interrupted the request.
    #[error("the request was interrupted")]
    Interrupted,
}

impl From<RequestError> for CallError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Interrupted => Self::Interrupted,
            other => Self::Failed(other.to_string()),
        }
    }
}

impl Connection {
    /// Sends a request and returns its result. `call` is the context of a tool call.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        call: Option<CallContext>,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestError> {
        let slot = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(RequestError::Interrupted),
            end = self.link.ended() => return Err(RequestError::Ended(end)),
            slot = timeout(self.request_timeout, self.slots.acquire()) => slot,
        };
        let Ok(_slot) = slot else {
            return Err(RequestError::Timeout(self.request_timeout));
        };
        let is_call = call.is_some();
        let request = Registered {
            link: &self.link,
            request: InFlight::new(call),
        };
        if is_call {
            self.link.add_call(&request.request);
        }
        let mut message = CustomRequest::new(method, Some(params));
        message.extensions.insert(Arc::clone(&request.request));
        let message = ClientRequest::CustomRequest(message);
        let options = PeerRequestOptions::no_options();
        let sent = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(RequestError::Interrupted),
            end = self.link.ended() => return Err(RequestError::Ended(end)),
            sent = self.peer.send_request_with_option(message, options) => sent,
        };
        let pending = Pending(Some(sent.map_err(|error| self.failure(error))?));
        self.answer(pending, &request.request, cancel).await
    }

    /// Waits for the answer to a request.
    async fn answer(
        &self,
        mut pending: Pending,
        request: &InFlight,
        cancel: &CancellationToken,
    ) -> Result<Value, RequestError> {
        let last = Instant::now() + MAX_REQUEST_TIME;
        let mut deadline = Instant::now() + self.request_timeout;
        loop {
            tokio::select! {
                biased;
                answer = pending.answer() => {
                    let result = answer.map_err(|error| self.failure(error))?;
                    return serde_json::to_value(result)
                        .map(whole_result)
                        .map_err(|error| RequestError::Transport(error.to_string()));
                }
                () = cancel.cancelled() => return Err(RequestError::Interrupted),
                end = self.link.ended() => {
                    pending.0 = None;
                    return Err(RequestError::Ended(end));
                }
                () = request.active.notified() => {
                    deadline = Instant::now() + self.request_timeout;
                }
                () = sleep_until(deadline.min(last)) => {
                    if !request.is_paused() || Instant::now() >= last {
                        return Err(RequestError::Timeout(self.request_timeout));
                    }
                    deadline = Instant::now() + self.request_timeout;
                }
            }
        }
    }

    fn failure(&self, error: ServiceError) -> RequestError {
        match error {
            ServiceError::McpError(error) => {
                RequestError::Refused(cut(error.message.into_owned(), MAX_ERROR))
            }
            _ if self.link.end().is_some() => {
                RequestError::Ended(self.link.end().unwrap_or(End::Closed))
            }
            ServiceError::TransportClosed => RequestError::Ended(End::Closed),
            // The server has closed its input, and the end of its output was not read yet.
            ServiceError::TransportSend(error) if is_closed(&*error.error) => {
                RequestError::Ended(End::Closed)
            }
            ServiceError::TransportSend(error) => {
                RequestError::Transport(cut(text_of(&*error.error), MAX_ERROR))
            }
            other => RequestError::Transport(cut(other.to_string(), MAX_ERROR)),
        }
    }
}

/// A request that the server works on. Dropping it before its answer tells the server to stop.
struct Pending(Option<RequestHandle<RoleClient>>);

impl Pending {
    /// Returns the answer. Must not be called again after it.
    async fn answer(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let answer = (&mut handle.rx).await;
        self.0 = None;
        answer.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let (Some(handle), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            // The server may not read, and the caller must not wait for it.
            let reason = "the host does not wait for the answer".to_owned();
            opencode_log::spawn_on(&runtime, timeout(CANCEL, handle.cancel(Some(reason))));
        }
    }
}

fn is_closed(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A request that the link knows until this value is dropped.
struct Registered<'a> {
    link: &'a Link,
    request: Arc<InFlight>,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.link.remove(&self.request);
    }
}
