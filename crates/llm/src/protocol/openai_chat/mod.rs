//! OpenAI Chat Completions and the many servers with a similar protocol.
//!
//! - `dialect`: the deviations of one server, derived once from the model.
//! - `body`, `messages`, `user`: request to JSON.
//! - `copilot`: headers of requests to GitHub Copilot.
//! - `sealed`: reasoning that a server wants back in its own form.
//! - `chunk`, `decoder`, `calls`, `usage`, `failure`: response to events, tolerant of known deviations.

mod body;
mod calls;
mod chunk;
mod copilot;
mod decoder;
mod dialect;
mod failure;
mod messages;
mod sealed;
mod usage;
mod user;

pub(super) use dialect::Dialect;

use super::framed::Framed;
use super::openai::NAMESPACE;
use super::{Decoder, Prefix, PrefixReport, Protocol, WireRequest};
use crate::canonical::error::LlmError;
use crate::canonical::model::ChatServer;
use crate::canonical::request::LlmRequest;
use crate::sources::Sources;

/// The adapter.
pub(super) struct OpenAiChat;

impl Protocol for OpenAiChat {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: "/chat/completions".to_owned(),
            headers: match dialect::server(&request.model) {
                Some(ChatServer::Copilot) => copilot::headers(request),
                _ => Vec::new(),
            },
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
        let server = dialect::server(&request.model);
        let frames = decoder::ChatFrames::new(sources.clone(), server);
        Box::new(Framed::new(request.model.route(), frames))
    }
}
