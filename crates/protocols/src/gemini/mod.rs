//! Gemini: `generateContent` of Google, as a stream.
//!
//! - `style`, `messages`: the conversation, as `contents` of the user and the model in turn.
//! - `body`: the rest of the request.
//! - `frame`, `decoder`, `grounding`, `usage`: response to events.
//!
//! A model signs its thoughts. Each signature goes back on the part that it came with, in the metadata of the part.

mod body;
mod decoder;
mod frame;
mod grounding;
mod messages;
mod style;
mod usage;

use opencode_llm::canonical::error::LlmError;
use opencode_llm::canonical::event::ProviderMetadata;
use opencode_llm::canonical::prefix::{Prefix, PrefixReport};
use opencode_llm::canonical::request::{JsonMap, LlmRequest};
use opencode_llm::sources::Sources;

use super::framed::Framed;
use super::metadata::{member, within};
use super::protocol::{Decoder, Protocol, WireRequest};
use style::Style;

/// The namespace of this protocol's options and metadata.
const NAMESPACE: &str = "google";

/// Another name of the namespace of options.
const OTHER_NAMESPACE: &str = "gemini";

/// The metadata member with the signature of a part.
const SIGNATURE: &str = "thoughtSignature";

/// The metadata member with the identifier that the provider gave a call.
const CALL_ID: &str = "callId";

/// The name of the tool with which the provider runs code.
const CODE_EXECUTION: &str = "code_execution";

/// The adapter.
pub(super) struct Gemini;

impl Protocol for Gemini {
    fn encode(&self, request: &LlmRequest) -> Result<WireRequest, LlmError> {
        Ok(WireRequest {
            path: format!(
                "/{}:streamGenerateContent?alt=sse",
                place(&request.model.id)
            ),
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
        let frames = decoder::ContentFrames::new(sources.clone());
        Box::new(Framed::new(&request.model, sources, frames))
    }
}

/// Returns the path of a model. A tuned model has a path of its own.
fn place(model: &str) -> String {
    match model.contains('/') {
        true => model.to_owned(),
        false => format!("models/{model}"),
    }
}

/// Returns metadata in the namespace of this protocol, or `None` without members.
fn metadata(members: JsonMap) -> Option<ProviderMetadata> {
    within(NAMESPACE, members)
}

/// Returns a text member of metadata in the namespace of this protocol.
fn text_member<'a>(metadata: Option<&'a ProviderMetadata>, name: &str) -> Option<&'a str> {
    member(metadata, NAMESPACE, name)?.as_str()
}
