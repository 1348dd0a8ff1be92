//! OpenAI Chat Completions and the many servers that speak something close to it.
//!
//! - `dialect`: what is special about one server, derived once from the model.
//! - `body`, `messages`, `user`: request to JSON. `messages` only ever appends, which is what lets
//!   a following request of the same conversation go on from the bytes of the one before.
//! - `chunk`, `decoder`, `calls`, `usage`, `failure`: response to events, tolerant of what occurs
//!   in the wild.

mod body;
mod calls;
mod chunk;
mod decoder;
mod dialect;
mod failure;
mod messages;
mod usage;
mod user;

use super::framed::Framed;
use super::{Decoder, Prefix, PrefixReport, Protocol, WireRequest};
use crate::error::LlmError;
use crate::model::ResolvedModel;
use crate::request::LlmRequest;
use crate::sources::Sources;

/// The namespace of this protocol's options and metadata.
const NAMESPACE: &str = "openai";

/// The adapter.
pub(super) struct OpenAiChat;

impl Protocol for OpenAiChat {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: "/chat/completions".to_owned(),
            headers: Vec::new(),
            body: body::encode(request)?,
        })
    }

    fn prefix(
        &self,
        request: &LlmRequest,
        former: Option<&Prefix>,
    ) -> Result<PrefixReport, LlmError> {
        body::prefix(request, former)
    }

    fn decoder(&self, model: &ResolvedModel, sources: &Sources) -> Box<dyn Decoder> {
        let frames = decoder::ChatFrames::new(sources.clone());
        Box::new(Framed::new(model.route(), frames))
    }
}
