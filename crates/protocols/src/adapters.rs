//! The adapter of each protocol.

use opencode_llm::canonical::model::ProtocolId;

use super::protocol::Protocol;
use super::restored::Restored;
use super::{anthropic, bedrock, gemini, openai_chat, openai_responses, program};

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
