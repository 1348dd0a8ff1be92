//! The two pure parts of a wire protocol.

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::LlmEvent;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::LlmRequest;
use opencode_llm::sources::Sources;

/// The text of a user message that a server requires and the history does not contain.
pub(crate) const CONTINUE: &str = "Continue.";

/// A request in the format of its protocol. The transport adds address, credentials and configured headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireRequest {
    /// The path, which is appended to the base address of the model.
    pub path: String,
    /// Headers that the protocol requires, except the content type. Configured headers replace them.
    pub headers: Vec<(String, String)>,
    /// Headers with lists of values. Configured values are added to them.
    pub lists: Vec<(String, String)>,
    /// The JSON body.
    pub body: Vec<u8>,
}

/// One wire protocol.
pub trait Protocol: Send + Sync {
    /// Encodes a request.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if the protocol cannot express the request. Nothing is sent in this case.
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError>;

    /// Returns the cacheable prefix of a request, and the part that it shares with a former request
    /// of the conversation. Encoding the request afterwards reuses the output of this call.
    ///
    /// # Errors
    ///
    /// The same as [`Protocol::encode`].
    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError>;

    /// Returns a decoder for the response to a request.
    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder>;
}

/// The state machine that reads one response.
///
/// For any input it reaches exactly one outcome: a terminal event or an error. It ignores input after that.
pub trait Decoder: Send {
    /// Takes the next bytes of the body and appends the events that they complete.
    ///
    /// # Errors
    ///
    /// The failure that ends the reply. Events that were appended before it stay valid.
    fn push(&mut self, chunk: &[u8], out: &mut Vec<LlmEvent>) -> Result<(), LlmError>;

    /// Takes the regular end of the body.
    ///
    /// # Errors
    ///
    /// The same as [`Decoder::push`]. Fails in particular if the body ended before the reply was complete.
    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError>;

    /// True if the outcome is reached, so that no further input is needed.
    fn is_over(&self) -> bool;

    /// True if the reason of the end is known. Only facts about the reply may follow, such as its usage.
    fn has_reason(&self) -> bool {
        false
    }
}
