//! Anthropic Messages.
//!
//! - `style`, `messages`: the conversation, in the order of messages that the server requires.
//! - `body`, `thinking`, `cache`: the rest of the request. Cache marks move from request to
//!   request, so they are not part of the conversation.
//! - `frame`, `decoder`, `blocks`, `citation`, `usage`: response to events.

mod blocks;
mod body;
mod cache;
mod citation;
mod decoder;
mod frame;
mod hosted;
mod messages;
mod style;
mod thinking;
mod usage;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::{JsonMap, LlmRequest};
use opencode_llm::sources::Sources;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::framed::Framed;
use super::metadata::{self, within};
use super::protocol::{Decoder, Protocol, WireRequest};
use style::Style;

/// The name of this protocol in failures.
const PROTOCOL: &str = "anthropic-messages";

/// The namespace of this protocol's options and metadata.
const NAMESPACE: &str = "anthropic";

/// The version of the protocol.
const VERSION: &str = "2023-06-01";

/// The characters that are escaped in an address with the id of a model. Versions of models follow an `@`.
const ID_IN_ADDRESS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@');

/// The beta feature for thinking between tool calls.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";

/// The beta feature for streamed tool input.
const STREAMED_INPUT: &str = "fine-grained-tool-streaming-2025-05-14";

/// The adapter.
pub(super) struct AnthropicMessages;

impl Protocol for AnthropicMessages {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        let model = &request.model;
        let (path, headers) = if model.compatibility.version_in_body.is_some() {
            let id = utf8_percent_encode(&model.id, ID_IN_ADDRESS);
            (format!("/models/{id}:streamRawPredict"), Vec::new())
        } else {
            let version = ("anthropic-version".to_owned(), VERSION.to_owned());
            ("/messages".to_owned(), vec![version])
        };
        Ok(WireRequest {
            path,
            headers,
            lists: vec![("anthropic-beta".to_owned(), features(request))],
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
        let frames = decoder::MessageFrames::default();
        Box::new(Framed::new(&request.model, sources, frames))
    }
}

/// Returns the beta features that the request uses.
fn features(request: &LlmRequest) -> String {
    let options = request.effective_options(NAMESPACE);
    // The servers with the version in the body do not document this feature.
    let streams_input = request.model.compatibility.version_in_body.is_none()
        && options.get("toolStreaming") != Some(&Value::Bool(false));
    if !streams_input {
        INTERLEAVED.to_owned()
    } else {
        format!("{INTERLEAVED},{STREAMED_INPUT}")
    }
}

/// Returns metadata in the namespace of this protocol, or `None` without members.
fn metadata(members: JsonMap) -> Option<ProviderMetadata> {
    within(NAMESPACE, members)
}

/// Returns a member of metadata in the namespace of this protocol.
fn member<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a Value> {
    metadata::member(metadata, NAMESPACE, name)
}

/// Returns a text member of metadata in the namespace of this protocol.
fn text_member<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
    member(metadata, name)?.as_str()
}
