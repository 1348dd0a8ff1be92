//! Models of the embedding program.
//!
//! The program receives the request as JSON and returns JSON arrays of events. Both are public types
//! of the package, so this is a protocol like the others, without a server.
//!
//! - `body`, `messages`: request to JSON.
//! - `decoder`, `event`: JSON to events.

mod body;
mod decoder;
mod event;
mod messages;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::LlmRequest;
use opencode_llm::sources::Sources;

use super::protocol::{Decoder, Protocol, WireRequest};
use messages::ProgramForm;

/// The adapter.
pub(super) struct Program;

impl Protocol for Program {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: String::new(),
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
        super::body::prefix(request, ProgramForm::of(&request.model), former)
    }

    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder> {
        Box::new(decoder::Batches::new(&request.model, sources))
    }
}
