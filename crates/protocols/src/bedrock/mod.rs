//! Amazon Bedrock: `ConverseStream`.
//!
//! - `style`, `messages`: the conversation, with the user and the assistant in turn.
//! - `body`: the rest of the request.
//! - `framing`: the binary frames of the answer. `decoder`: their events.

mod body;
mod decoder;
mod event_stream;
mod framing;
mod messages;
mod style;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::{JsonMap, LlmRequest};
use opencode_llm::sources::Sources;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::metadata::{member, within};
use super::protocol::{Decoder, Protocol, WireRequest};
use style::Style;

/// The namespace of this protocol's options and metadata.
const NAMESPACE: &str = "bedrock";

/// The metadata member with the signature of reasoning.
const SIGNATURE: &str = "signature";

/// The metadata member with reasoning that the provider does not show.
const REDACTED: &str = "redactedData";

/// The characters of a model that a path keeps.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The adapter.
pub(super) struct BedrockConverse;

impl Protocol for BedrockConverse {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        let model = utf8_percent_encode(&request.model.id, PATH);
        Ok(WireRequest {
            path: format!("/model/{model}/converse-stream"),
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
        super::body::prefix(request, Style::of(&request.model), former)
    }

    fn decoder(&self, request: &LlmRequest, sources: &Sources) -> Box<dyn Decoder> {
        Box::new(framing::ConverseDecoder::new(&request.model, sources))
    }
}

/// Returns metadata in the namespace of this protocol.
fn metadata(members: JsonMap) -> Option<ProviderMetadata> {
    within(NAMESPACE, members)
}

/// Returns a text member of metadata in the namespace of this protocol.
fn text_member<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
    member(metadata, NAMESPACE, name)?.as_str()
}
