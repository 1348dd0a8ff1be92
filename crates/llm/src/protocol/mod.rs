//! The wire protocols.
//!
//! Each protocol is a folder with two pure parts: an encoder from a canonical request to a body,
//! and a decoder from response bytes to canonical events. Neither uses a network, so tests use
//! plain bytes. To add a protocol, add its folder and its arm in [`adapter`].

mod alternating;
mod anthropic;
mod bedrock;
mod blank;
mod body;
mod body_start;
mod call_ids;
mod copilot;
mod deviations;
mod ends;
mod failure;
mod framed;
mod gemini;
mod generated_file;
mod hosted_results;
mod identifiers;
mod loose;
mod loose_objects;
mod media;
mod metadata;
mod mid_conversation;
mod open_call;
mod openai;
mod openai_annotations;
mod openai_chat;
mod openai_responses;
mod overlay;
mod pending_surrogates;
mod prefix;
mod program;
mod published;
mod repaired_input;
mod restored;
mod stream_data;
mod tool_input;
mod tool_schema;
mod transcript;
mod waiting_calls;

pub use hosted_results::HostedResults;
pub use mid_conversation::{escape_markup, wrap_system_message};
pub use prefix::{Prefix, PrefixReport, short_hash};
pub use program::NAMESPACE as PROGRAM_OPTIONS;
pub use tool_schema::NormalSchema;

use self::restored::Restored;
use crate::canonical::error::LlmError;
use crate::canonical::event::LlmEvent;
use crate::canonical::model::{ProtocolId, ResolvedModel};
use crate::canonical::request::LlmRequest;
use crate::sources::Sources;

/// The text of a user message that a server requires and the history does not contain.
const CONTINUE: &str = "Continue.";

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

/// True if a request to this model may have an [output format](crate::OutputFormat). The catalogue decides if it says
/// something about the model. Otherwise the API of OpenAI itself has formats, and compatible servers may have none.
#[must_use]
pub fn has_output_format(model: &ResolvedModel) -> bool {
    let known = model.capabilities.structured_output;
    match model.protocol {
        ProtocolId::OpenAiResponses => known.unwrap_or(true),
        ProtocolId::OpenAiChat => known.unwrap_or_else(|| openai::is_own_endpoint(model)),
        ProtocolId::Gemini => known.unwrap_or(true),
        ProtocolId::AnthropicMessages | ProtocolId::BedrockConverse | ProtocolId::Program(_) => {
            false
        }
    }
}

/// Returns the adapter of a protocol.
#[must_use]
pub fn adapter(protocol: ProtocolId) -> &'static dyn Protocol {
    match protocol {
        ProtocolId::OpenAiChat => &Restored(openai_chat::OpenAiChat),
        ProtocolId::AnthropicMessages => &Restored(anthropic::AnthropicMessages),
        ProtocolId::OpenAiResponses => &Restored(openai_responses::OpenAiResponses),
        ProtocolId::Gemini => &Restored(gemini::Gemini),
        ProtocolId::BedrockConverse => &Restored(bedrock::BedrockConverse),
        ProtocolId::Program(_) => &Restored(program::Program),
    }
}
