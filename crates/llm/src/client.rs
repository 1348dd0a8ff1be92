//! The seam between the runner and whatever answers a model request.

use std::pin::Pin;

use futures::Stream;

use crate::canonical::error::LlmError;
use crate::canonical::event::LlmEvent;
use crate::canonical::request::LlmRequest;

/// One reply. Each item is what one piece of network input produced and is never empty; the last
/// item is either a batch whose last event is terminal or an error, and nothing follows it.
pub type EventStream = Pin<Box<dyn Stream<Item = Result<Vec<LlmEvent>, LlmError>> + Send>>;

/// Something that can answer a model request: the HTTP client, a model written in JavaScript, a
/// script in a test.
pub trait ModelClient: Send + Sync {
    /// Starts a request when the stream is first polled. Dropping the stream aborts it; nothing is
    /// emitted then.
    fn stream(&self, request: LlmRequest) -> EventStream;
}
