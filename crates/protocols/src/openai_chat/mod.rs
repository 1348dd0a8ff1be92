//! OpenAI Chat Completions and the many servers with a similar protocol.
//!
//! - `dialect`: the deviations of one server, derived once from the model.
//! - `body`, `messages`, `user`: request to JSON.
//! - `cache`: cache marks for models of Anthropic at OpenRouter.
//! - `sealed`: reasoning that a server wants back in its own form.
//! - `chunk`, `content`, `decoder`, `calls`, `cited`, `usage`, `failure`: response to events, tolerant of known deviations.

mod body;
mod cache;
mod calls;
mod chunk;
mod cited;
mod content;
mod decoder;
mod dialect;
mod failure;
mod messages;
mod sealed;
mod usage;
mod user;

use std::sync::Arc;

pub(super) use dialect::Dialect;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::LlmRequest;
use opencode_llm::sources::Sources;

use super::copilot;
use super::framed::Framed;
use super::openai::NAMESPACE;
use super::protocol::{Decoder, Protocol, WireRequest};

/// The adapter.
pub(super) struct OpenAiChat;

impl Protocol for OpenAiChat {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: "/chat/completions".to_owned(),
            headers: copilot::headers(request),
            lists: Vec::new(),
            body: body::encode(request)?,
        })
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        super::body::prefix(request, Dialect::of(&request.model), former)
    }

    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder> {
        let server = request.model.compatibility.compatible_server;
        let tools = Arc::clone(&request.tools);
        let frames = decoder::ChatFrames::new(sources.clone(), server, tools);
        Box::new(Framed::new(&request.model, sources, frames))
    }
}
