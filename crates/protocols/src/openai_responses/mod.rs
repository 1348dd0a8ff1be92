//! OpenAI Responses.
//!
//! - `style`, `input`: the conversation as items. If the provider does not store its items,
//!   requests repeat its encrypted reasoning; otherwise they refer to the stored items.
//! - `body`: the rest of the request.
//! - `frame`, `decoder`, `reasoning`, `calls`, `hosted`, `usage`: response to events.

mod body;
mod calls;
mod decoder;
mod frame;
mod hosted;
mod input;
mod reasoning;
mod style;
mod usage;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::LlmRequest;
use opencode_llm::sources::Sources;
use serde_json::Value;

use super::copilot;
use super::framed::Framed;
use super::openai::NAMESPACE;
use super::protocol::{Decoder, Protocol, WireRequest};
use style::Style;

/// The name of this protocol in failures.
const PROTOCOL: &str = "openai-responses";

/// The metadata member with the identifier of an item.
const ITEM_ID: &str = "itemId";

/// The metadata member with reasoning that only the provider can read.
const ENCRYPTED: &str = "reasoningEncryptedContent";

/// The metadata member with the role of a text in the answer.
const PHASE: &str = "phase";
/// The phases that the server accepts in a request.
const PHASES: [&str; 2] = ["commentary", "final_answer"];

/// The adapter.
pub(super) struct OpenAiResponses;

impl Protocol for OpenAiResponses {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: "/responses".to_owned(),
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
        super::body::prefix(request, Style::of(request), former)
    }

    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder> {
        let frames = decoder::ResponseFrames::new(style::stores(request));
        Box::new(Framed::new(&request.model, sources, frames))
    }
}

/// Returns metadata in the namespace of this protocol, or `None` without members.
fn metadata(members: impl IntoIterator<Item = (&'static str, Value)>) -> Option<ProviderMetadata> {
    let members = members.into_iter();
    let members = members.map(|(name, value)| (name.to_owned(), value));
    super::metadata::within(NAMESPACE, members.collect())
}

/// Returns the metadata member with the identifier of an item. Some servers send none.
fn item_id(id: &str) -> Option<(&'static str, Value)> {
    (!id.is_empty()).then(|| (ITEM_ID, id.into()))
}

/// Returns a text from metadata in the namespace of this protocol, unless it is empty.
fn member<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
    let found = super::metadata::member(metadata, NAMESPACE, name)?;
    found.as_str().filter(|text| !text.is_empty())
}
