//! The wire protocols.
//!
//! Each is a folder with two pure halves: lowering of a canonical request to a body, and a decoder
//! from response bytes to canonical events. Neither touches a network, so both are tested on plain
//! bytes. To add a protocol, add its folder and its arm in [`adapter`].

mod anthropic;
mod body;
mod failure;
mod framed;
mod halves;
mod identifiers;
mod loose;
mod media;
mod mid_conversation;
mod openai;
mod openai_chat;
mod openai_responses;
mod opening;
mod overlay;
mod prefix;
mod surrogates;
mod tool_input;
mod tool_schema;
mod transcript;

pub use mid_conversation::{escape_markup, wrap_system_message};
pub use prefix::{Prefix, PrefixReport, short_hash};

use crate::canonical::error::LlmError;
use crate::canonical::event::LlmEvent;
use crate::canonical::model::ProtocolId;
use crate::canonical::request::LlmRequest;
use crate::sources::Sources;

/// What the user says where a server wants a message of the user and the history has none.
const CONTINUE: &str = "Continue.";

/// A request as the protocol writes it. Address, credentials and configured headers are added by
/// the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireRequest {
    /// Appended to the base address of the model.
    pub path: String,
    /// Headers the protocol requires, beyond the content type. A configured one takes the place of
    /// one of these.
    pub headers: Vec<(String, String)>,
    /// Headers that are lists. What is configured is added to them.
    pub lists: Vec<(String, String)>,
    /// The JSON body.
    pub body: Vec<u8>,
}

/// One wire protocol.
pub trait Protocol: Send + Sync {
    /// Lowers a request.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` when the request cannot be expressed; nothing was sent then.
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError>;

    /// The cacheable prefix of a request, and how much of it a former request of the conversation
    /// said. Writing the request afterwards goes on from what this wrote.
    ///
    /// # Errors
    ///
    /// As [`Protocol::encode`].
    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError>;

    /// A decoder for the response to a request.
    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder>;
}

/// The state machine that reads one response.
///
/// Whatever bytes arrive, it comes to exactly one outcome: a terminal event or an error. After that
/// it ignores input.
pub trait Decoder: Send {
    /// Takes the next bytes of the body and appends what they complete.
    ///
    /// # Errors
    ///
    /// The failure that ends the reply. Events appended before it stand.
    fn push(&mut self, chunk: &[u8], out: &mut Vec<LlmEvent>) -> Result<(), LlmError>;

    /// Takes the regular end of the body.
    ///
    /// # Errors
    ///
    /// As [`Decoder::push`]; in particular when the body ended before the reply was complete.
    fn end(&mut self, out: &mut Vec<LlmEvent>) -> Result<(), LlmError>;

    /// Whether the outcome is reached, so that reading further is pointless.
    fn is_over(&self) -> bool;
}

/// The adapter of a protocol.
#[must_use]
pub fn adapter(protocol: ProtocolId) -> &'static dyn Protocol {
    match protocol {
        ProtocolId::OpenAiChat => &openai_chat::OpenAiChat,
        ProtocolId::AnthropicMessages => &anthropic::AnthropicMessages,
        ProtocolId::OpenAiResponses => &openai_responses::OpenAiResponses,
    }
}
