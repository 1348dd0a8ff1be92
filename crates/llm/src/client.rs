//! The interface between the runner and the source of model replies.

use std::pin::Pin;

use futures::Stream;

use crate::canonical::error::LlmError;
use crate::canonical::event::LlmEvent;
use crate::canonical::prefix::{Prefix, PrefixReport};
use crate::canonical::request::LlmRequest;

/// The stream of one reply. Each item holds the events of one piece of network input and is never
/// empty. The last item is an error or a batch that ends with a terminal event.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Vec<LlmEvent>, LlmError>> + Send>>;

/// A source of model replies: the HTTP client, a model written in JavaScript, or a script in a test.
pub trait ModelClient: Send + Sync {
    /// Starts a request when the stream is first polled. Dropping the stream aborts the request
    /// without further events.
    fn stream(&self, request: LlmRequest) -> EventStream;

    /// Returns the cacheable prefix of a request, and the part that it shares with a former request of the conversation.
    /// Sending the request afterwards reuses the work of this call.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if the protocol of the model cannot express the request.
    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError>;
}
