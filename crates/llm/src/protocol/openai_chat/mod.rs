//! OpenAI Chat Completions and the many servers with a similar protocol.
//!
//! - `dialect`: the deviations of one server, derived once from the model.
//! - `body`, `messages`, `user`: request to JSON.
//! - `chunk`, `decoder`, `calls`, `usage`, `failure`: response to events, tolerant of known deviations.

mod body;
mod calls;
mod chunk;
mod decoder;
mod dialect;
mod failure;
mod messages;
mod usage;
mod user;

pub(super) use dialect::Dialect;

use super::framed::Framed;
use super::openai::NAMESPACE;
use super::{Decoder, Prefix, PrefixReport, Protocol, WireRequest};
use crate::canonical::error::LlmError;
use crate::canonical::request::LlmRequest;
use crate::sources::Sources;

/// The adapter.
pub(super) struct OpenAiChat;

impl Protocol for OpenAiChat {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: "/chat/completions".to_owned(),
            headers: Vec::new(),
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
        let frames = decoder::ChatFrames::new(sources.clone());
        Box::new(Framed::new(request.model.route(), frames))
    }
}
